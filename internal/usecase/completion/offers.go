package completion

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// Options hold what an unfinished command line says so far.
type Options struct {
	load.RenderOptions
	Everywhere bool // search nodes in all namespaces
	// Operated offers the objects of the Lynq operator.
	Operated bool
	// BareHubs offers hubs by their names alone.
	BareHubs bool
	// Tree is the tree that has the nodes, or "".
	Tree string
}

// Offers find names that can continue a command line. They come from the inputs if the line
// names any, else from the cluster. After an error, Offers return nothing, because a shell
// can't show it.
type Offers struct {
	*session.Engine
	o *Options
}

// New returns the Offers for one question of a shell.
func New(e *session.Engine, o *Options) *Offers { return &Offers{e, o} }

// Hubs returns hubs as --hub names them.
func (s *Offers) Hubs(ctx context.Context) []string {
	return s.keys(ctx, wellknown.KindHub, load.CalledHubs, hubOfRecord)
}

// Forms returns forms as --form names them.
func (s *Offers) Forms(ctx context.Context) []string {
	return s.keys(ctx, wellknown.KindForm, load.CalledForms, formOfRecord)
}

// keys returns names of hubs or forms. They come from the operator's objects, the inputs,
// or the hub records.
func (s *Offers) keys(ctx context.Context, kind string, called func(*form.Inputs) []string, keyOf func(*metav1.PartialObjectMetadata) lynq.HubKey) []string {
	if s.o.Operated {
		return s.operated(ctx, kind)
	}
	if inputs := s.inputs(); inputs != nil {
		return called(inputs)
	}
	return s.recordedKeys(ctx, keyOf)
}

// Nodes returns names of nodes.
func (s *Offers) Nodes(ctx context.Context) []string {
	if s.o.Operated {
		return s.operated(ctx, wellknown.KindNode)
	}
	if s.o.Tree != "" {
		return s.inTree()
	}
	if inputs := s.inputs(); inputs != nil {
		return nodeNames(ctx, s.Engine, &s.o.RenderOptions, inputs)
	}
	return s.recorded(ctx, s.nodeNamespace(), func(m *metav1.PartialObjectMetadata) string {
		node, ours := strings.CutPrefix(m.Name, inventory.Name(""))
		if !ours || m.Labels[wellknown.LabelRecord] != wellknown.RecordNode {
			return ""
		}
		return node
	})
}

// inTree returns the nodes of a tree.
func (s *Offers) inTree() []string {
	tree, err := gitops.OpenDir(s.o.Tree)
	if err != nil {
		return nil
	}
	defer func() { _ = tree.Close() }() // nothing was written
	x, err := tree.Existing()
	if err != nil {
		return nil
	}
	var names []string
	for _, k := range x.Nodes() {
		if s.o.Namespace == "" || s.o.Namespace == k.Namespace {
			names = append(names, k.Name)
		}
	}
	return names
}

// Runs returns the names of runs in histories, from the namespace in which the command
// searches nodes.
func (s *Offers) Runs(ctx context.Context) []string {
	client := s.client()
	if client == nil {
		return nil
	}
	all, _, err := store.New(client.ConfigMaps()).Histories(ctx, s.nodeNamespace())
	if err != nil {
		return nil
	}
	var names []string
	for _, h := range all {
		for _, e := range h.Entries {
			names = append(names, e.Run)
		}
	}
	return names
}

// Orphans returns orphans as 'orphans list -o name' prints them.
func (s *Offers) Orphans(ctx context.Context) []string {
	client := s.client()
	if client == nil {
		return nil
	}
	found, err := orphan.Find(ctx, client, orphan.Query{Namespace: s.o.Namespace, Now: time.Now()})
	if err != nil {
		return nil
	}
	var names []string
	for i := range found.Orphans {
		names = append(names, found.Orphans[i].Full())
	}
	return names
}

// Namespaces returns the namespaces of the cluster.
func (s *Offers) Namespaces(ctx context.Context) []string {
	kind := lynq.APIResource{Version: "v1", Kind: "Namespace", Plural: "namespaces"}
	return s.listed(ctx, kind, "", "", func(m *metav1.PartialObjectMetadata) string { return m.Name })
}

// Contexts returns the contexts of the kubeconfig.
func (s *Offers) Contexts(context.Context) []string {
	names, err := s.o.Access.Contexts()
	if err != nil {
		return nil
	}
	return names
}

// inputs loads the files that the line names, and returns nil if it names none. It skips
// standard input, which belongs to the command.
func (s *Offers) inputs() *form.Inputs {
	paths := slices.DeleteFunc(slices.Clone(s.o.Inputs.Paths), func(p string) bool { return p == "-" })
	if len(paths) == 0 {
		return nil
	}
	inputs, _ := form.Load(paths, s.o.Inputs.Recursive, strings.NewReader("")) // the command itself reports what is wrong
	return inputs
}

func (s *Offers) client() *kube.Client {
	client, err := s.o.Access.Client(kube.Options{})
	if err != nil {
		return nil
	}
	return client
}

// recorded returns names from the inventories and hub records in the cluster. It lists
// metadata once.
func (s *Offers) recorded(ctx context.Context, namespace string, nameOf func(*metav1.PartialObjectMetadata) string) []string {
	kind := lynq.APIResource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true}
	return s.listed(ctx, kind, namespace, wellknown.LabelRecord, nameOf)
}

// recordedKeys returns the names of recorded hubs or forms. If several have the same name,
// it adds NAMESPACE/NAME.
func (s *Offers) recordedKeys(ctx context.Context, keyOf func(*metav1.PartialObjectMetadata) lynq.HubKey) []string {
	seen := lynq.ShortNames{}
	names := s.recorded(ctx, s.o.Namespace, func(m *metav1.PartialObjectMetadata) string {
		key := keyOf(m)
		if key.Name != "" {
			seen.See(key.Namespace, key.Name)
		}
		return key.Name
	})
	if s.o.BareHubs || names == nil { // after an error, seen may lack names
		return names
	}
	for name, namespaces := range seen {
		for namespace := range namespaces {
			if len(namespaces) > 1 {
				names = append(names, lynq.HubKey{Namespace: namespace, Name: name}.String())
			}
		}
	}
	return names
}

// hubOfRecord returns the hub of a hub record or inventory.
func hubOfRecord(m *metav1.PartialObjectMetadata) lynq.HubKey {
	return lynq.HubKey{Namespace: cmp.Or(m.Labels[wellknown.LabelHubNamespace], m.Namespace), Name: m.Labels[wellknown.LabelHub]}
}

// formOfRecord returns the form that an inventory names.
func formOfRecord(m *metav1.PartialObjectMetadata) lynq.HubKey {
	return lynq.HubKey{Namespace: cmp.Or(m.Annotations[wellknown.AnnotationTemplateNamespace], hubOfRecord(m).Namespace), Name: m.Labels[wellknown.LabelTemplate]}
}

// operated returns the names of the operator's objects of a kind.
func (s *Offers) operated(ctx context.Context, kind string) []string {
	r := lynq.APIResource{Group: wellknown.Group, Version: "v1", Kind: kind, Plural: strings.ToLower(kind) + "s", Namespaced: true}
	return s.listed(ctx, r, s.nodeNamespace(), "", func(m *metav1.PartialObjectMetadata) string { return m.Name })
}

func (s *Offers) listed(ctx context.Context, kind lynq.APIResource, namespace, selector string, nameOf func(*metav1.PartialObjectMetadata) string) []string {
	client := s.client()
	if client == nil {
		return nil
	}
	var names []string
	err := client.List(ctx, kind, namespace, selector, func(m *metav1.PartialObjectMetadata) func() {
		name := nameOf(m)
		if name == "" {
			return nil
		}
		return func() { names = append(names, name) }
	})
	if err != nil {
		return nil
	}
	return names
}

// nodeNamespace returns the namespace in which the command searches nodes, "" for all.
func (s *Offers) nodeNamespace() string {
	namespace, _ := session.NamespaceMeant(&s.o.Access, s.o.Namespace, s.o.Everywhere)
	return namespace
}
