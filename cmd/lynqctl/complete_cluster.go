package main

import (
	"cmp"
	"strings"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// access is the cluster that the line means.
func (c *completer) access() kube.Access {
	var access kube.Access
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	access.Register(flags)
	flags.VisitAll(func(f *pflag.Flag) {
		for _, value := range c.values(f.Name) {
			_ = flags.Set(f.Name, value) // it was parsed once already
		}
	})
	return access
}

func (c *completer) client() *kube.Client {
	client, err := c.access().Client(kube.Options{})
	if err != nil {
		return nil
	}
	return client
}

// recorded are names that the records in the cluster have. One list of metadata
// tells all of them.
func (c *completer) recorded(namespace string, nameOf func(*metav1.PartialObjectMetadata) string) []string {
	kind := lynq.APIResource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true}
	return c.listed(kind, namespace, lynq.LabelRecord, nameOf)
}

// recordedKeys are the names of hubs or forms that records say and, where several
// have one name, NAMESPACE/NAME too.
func (c *completer) recordedKeys(keyOf func(*metav1.PartialObjectMetadata) lynq.HubKey) []string {
	seen := lynq.ShortNames{}
	names := c.recorded(c.namespaceFlag(), func(m *metav1.PartialObjectMetadata) string {
		key := keyOf(m)
		if key.Name != "" {
			seen.See(key.Namespace, key.Name)
		}
		return key.Name
	})
	if c.onlyNames() {
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

// onlyNames tells whether the command knows hubs by their names alone.
func (c *completer) onlyNames() bool { return c.flags.Lookup("older-than") != nil }

// hubOfRecord is the hub that a record is of, or says it is of.
func hubOfRecord(m *metav1.PartialObjectMetadata) lynq.HubKey {
	return lynq.HubKey{Namespace: cmp.Or(m.Labels[lynq.LabelHubNamespace], m.Annotations[lynq.LabelHubNamespace], m.Namespace), Name: m.Labels[lynq.LabelHub]}
}

// formOfRecord is the form that a node's record says it is of.
func formOfRecord(m *metav1.PartialObjectMetadata) lynq.HubKey {
	return lynq.HubKey{Namespace: cmp.Or(m.Annotations[lynq.AnnotationTemplateNamespace], hubOfRecord(m).Namespace), Name: m.Labels[lynq.LabelTemplate]}
}

func (c *completer) listed(kind lynq.APIResource, namespace, selector string, nameOf func(*metav1.PartialObjectMetadata) string) []string {
	client := c.client()
	if client == nil {
		return nil
	}
	var names []string
	err := client.List(c.ctx, kind, namespace, selector, func(m *metav1.PartialObjectMetadata) {
		if name := nameOf(m); name != "" {
			names = append(names, name)
		}
	})
	if err != nil {
		return nil
	}
	return names
}

// aboutOperator tells whether the command is about what the Lynq operator has.
func (c *completer) aboutOperator() bool { return c.flags.Lookup("operator-namespace") != nil }

// operated are the names of what the operator has of a kind.
func (c *completer) operated(kind string) []string {
	r := lynq.APIResource{Group: lynq.Group, Version: "v1", Kind: kind, Plural: strings.ToLower(kind) + "s", Namespaced: true}
	return c.listed(r, c.nodeNamespace(), "", func(m *metav1.PartialObjectMetadata) string { return m.Name })
}

// namespaceFlag is what -n says, "" for all namespaces.
func (c *completer) namespaceFlag() string {
	if values := c.values("namespace"); len(values) == 1 {
		return values[0]
	}
	return ""
}

// nodeNamespace is where nodes are looked for, as commands do: in all namespaces
// with -A, else in that of -n, else in the context's.
func (c *completer) nodeNamespace() string {
	if c.isSet("all-namespaces") {
		return ""
	}
	if ns := c.namespaceFlag(); ns != "" {
		return ns
	}
	ns, err := c.access().Namespace()
	if err != nil {
		return ""
	}
	return cmp.Or(ns, "default")
}

func (c *completer) contexts() []string {
	names, err := c.access().Contexts()
	if err != nil {
		return nil
	}
	return names
}

func (c *completer) namespaces() []string {
	kind := lynq.APIResource{Version: "v1", Kind: "Namespace", Plural: "namespaces"}
	return c.listed(kind, "", "", func(m *metav1.PartialObjectMetadata) string { return m.Name })
}

// orphans are as orphans list -o name has them.
func (c *completer) orphans() []string {
	client := c.client()
	if client == nil {
		return nil
	}
	found, err := orphan.Find(c.ctx, client, orphan.Query{Namespace: c.namespaceFlag(), Now: time.Now()})
	if err != nil {
		return nil
	}
	var names []string
	for i := range found.Orphans {
		names = append(names, found.Orphans[i].Full())
	}
	return names
}
