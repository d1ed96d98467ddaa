package handover

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Node is a LynqNode, which the operator has instead of an inventory.
type Node struct {
	Namespace, Name string
	UID             types.UID
	ResourceVersion string
	// Deleting is set if somebody deleted it. Held is set if it has the operator's finalizer,
	// because of which the operator deletes its objects then.
	Deleting, Held bool
	finalizers     []string

	Hub, Form, Row     string
	TemplateGeneration int64
	RolloutStart       time.Time
	Status             inventory.Status

	// Resources are those that it wants. Applied are those that it wanted when the operator
	// last looked, as Kind/Namespace/Name@id without a group.
	Resources []Resource
	Applied   []string
}

// Resource is a resource of a LynqNode. The operator renders templates in names before it
// writes a LynqNode, and templates in namespaces later.
type Resource struct {
	ID               string
	APIVersion, Kind string
	Namespace, Name  string // as in the LynqNode; "" means its namespace
	DependIDs        []string
	lynq.Lifecycle
	order                       int
	namespaceIsOpen, nameIsOpen bool
}

// NodeID returns the node that a LynqNode becomes. It keeps its name, by which apply finds it.
// A LynqNode is in the namespace of its hub.
func (n *Node) NodeID() lynq.NodeID {
	return lynq.NodeID{
		Hub: lynq.HubKey{Namespace: n.Namespace, Name: n.Hub}, Form: lynq.FormKey{Name: n.Form}, UID: n.Row,
		Namespace: n.Namespace, Name: naming.PlainNodeName(n.Row, n.Form),
	}
}

// Key returns the name and namespace of that node.
func (n *Node) Key() lynq.NodeKey { return n.NodeID().Key() }

// String names a LynqNode for people.
func (n *Node) String() string { return "LynqNode " + n.Namespace + "/" + n.Name }

// Leaving reports whether the operator has finished its deletion, and others haven't.
func (n *Node) Leaving() bool { return n.Deleting && !n.Held }

func (n *Node) ref() lynq.Ref {
	return lynq.Ref{Group: wellknown.Group, Kind: wellknown.KindNode, Namespace: n.Namespace, Name: n.Name}
}

// sections returns the names of a LynqNode's lists of resources.
func sections() []string {
	return []string{
		"serviceAccounts", "deployments", "statefulSets", "daemonSets", "services", "ingresses", "configMaps", "secrets",
		"persistentVolumeClaims", "jobs", "cronJobs", "podDisruptionBudgets", "networkPolicies", "horizontalPodAutoscalers",
		"namespaces", "manifests",
	}
}

// wireNode has the fields of a LynqNode that lynqctl reads, without its resources.
type wireNode struct {
	Spec struct {
		UID         string `json:"uid"`
		TemplateRef string `json:"templateRef"`
	} `json:"spec"`
	Status struct {
		Ready      int                `json:"readyResources"`
		Desired    int                `json:"desiredResources"`
		Failed     int                `json:"failedResources"`
		Skipped    int                `json:"skippedResources"`
		Applied    []string           `json:"appliedResources"`
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

type wireResource struct {
	ID   string `json:"id"`
	Spec struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name string `json:"name"`
		} `json:"metadata"`
	} `json:"spec"`
	NameTemplate    string              `json:"nameTemplate"`
	TargetNamespace string              `json:"targetNamespace"`
	DependIDs       []string            `json:"dependIds"`
	Creation        lynq.CreationPolicy `json:"creationPolicy"`
	Deletion        lynq.DeletionPolicy `json:"deletionPolicy"`
	Conflict        lynq.ConflictPolicy `json:"conflictPolicy"`
	Patch           lynq.PatchStrategy  `json:"patchStrategy"`
}

// NodeOf reads a LynqNode.
func NodeOf(o *unstructured.Unstructured) (*Node, error) {
	var w wireNode
	if err := convert(o.Object, &w); err != nil {
		return nil, fmt.Errorf("LynqNode %s/%s: %w", o.GetNamespace(), o.GetName(), err)
	}
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	n := &Node{
		Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(),
		Deleting: o.GetDeletionTimestamp() != nil, Held: slices.Contains(o.GetFinalizers(), wellknown.FinalizerNode), finalizers: o.GetFinalizers(),
		Hub:  cmp.Or(labels[wellknown.LabelHub], annotations[wellknown.AnnotationHubID]),
		Form: w.Spec.TemplateRef, Row: w.Spec.UID, Applied: w.Status.Applied, Status: statusOf(&w),
	}
	// Without these two, the next apply only looks at each object once.
	n.TemplateGeneration, _ = strconv.ParseInt(annotations[wellknown.AnnotationTemplateGeneration], 10, 64)
	n.RolloutStart, _ = time.Parse(time.RFC3339, annotations[wellknown.AnnotationRolloutUpdateStart])
	if err := n.check(); err != nil {
		return nil, fmt.Errorf("LynqNode %s/%s: %w", n.Namespace, n.Name, err)
	}
	for _, section := range sections() {
		if err := n.read(o, section); err != nil {
			return nil, fmt.Errorf("LynqNode %s/%s: spec.%s: %w", n.Namespace, n.Name, section, err)
		}
	}
	n.order()
	return n, nil
}

// convert decodes JSON again that is a map already.
func convert(from map[string]any, into any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// check returns an error if the LynqNode lacks what an inventory needs.
func (n *Node) check() error {
	switch {
	case n.Hub == "":
		return errors.New("label " + wellknown.LabelHub + " is missing, so that its hub is unknown (put it on)")
	case !naming.IsLabelValue(n.Hub):
		return fmt.Errorf("a label can't hold the name of its hub, %q", n.Hub)
	case n.Form == "" || !naming.IsLabelValue(n.Form):
		return fmt.Errorf("spec.templateRef %q is no form", n.Form)
	case n.Row == "":
		return errors.New("spec.uid is missing")
	}
	return nil
}

// read reads one list of resources.
func (n *Node) read(o *unstructured.Unstructured, section string) error {
	list, _, err := unstructured.NestedSlice(o.Object, "spec", section)
	if err != nil {
		return err
	}
	for i, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			return fmt.Errorf("entry %d is no resource", i)
		}
		var w wireResource
		if err := convert(m, &w); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		if w.ID == "" || w.Spec.Kind == "" || w.Spec.APIVersion == "" {
			return fmt.Errorf("entry %d has no id, apiVersion or kind", i)
		}
		n.Resources = append(n.Resources, resourceOf(&w))
	}
	return nil
}

func resourceOf(w *wireResource) Resource {
	r := Resource{
		ID: w.ID, APIVersion: w.Spec.APIVersion, Kind: w.Spec.Kind, DependIDs: w.DependIDs,
		Namespace: strings.TrimSpace(w.TargetNamespace), Name: strings.TrimSpace(cmp.Or(w.NameTemplate, w.Spec.Metadata.Name)),
		Lifecycle: lynq.DefaultPolicy().Lifecycle,
	}
	r.Creation, r.Deletion = cmp.Or(w.Creation, r.Creation), cmp.Or(w.Deletion, r.Deletion)
	r.Conflict, r.Patch = cmp.Or(w.Conflict, r.Conflict), cmp.Or(w.Patch, r.Patch)
	r.namespaceIsOpen, r.nameIsOpen = isTemplate(r.Namespace), isTemplate(r.Name) || r.Name == ""
	return r
}

func isTemplate(s string) bool { return strings.Contains(s, "{{") }

// order gives each resource a higher order than those it depends on. The operator refuses
// cycles. Here, a cycle ends after as many rounds as there are resources.
func (n *Node) order() {
	byID := map[string]int{}
	for i := range n.Resources {
		byID[n.Resources[i].ID] = i
	}
	for range n.Resources {
		changed := false
		for i := range n.Resources {
			for _, id := range n.Resources[i].DependIDs {
				if j, known := byID[id]; known && n.Resources[i].order <= n.Resources[j].order {
					n.Resources[i].order, changed = n.Resources[j].order+1, true
				}
			}
		}
		if !changed {
			return
		}
	}
}

// statusOf returns the part of a LynqNode's status that inventories have, too.
func statusOf(w *wireNode) inventory.Status {
	s := inventory.Status{Desired: w.Status.Desired, Ready: w.Status.Ready, Failed: w.Status.Failed, Skipped: w.Status.Skipped}
	for _, c := range w.Status.Conditions {
		switch c.Type {
		case inventory.ConditionReady, inventory.ConditionProgressing, inventory.ConditionDegraded:
			s.Conditions = append(s.Conditions, inventory.Condition{
				Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message, LastTransitionTime: c.LastTransitionTime.UTC(),
			})
		}
	}
	slices.SortFunc(s.Conditions, func(a, b inventory.Condition) int { return strings.Compare(a.Type, b.Type) })
	return s
}
