package observe

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/inmemory"
)

// TestRecordedNames checks that a form with a dash in its name keeps the plain names in its
// inventories, even in old formats and unreadable ones. Records of other hubs, forms, rows
// and namespaces don't count.
func TestRecordedNames(t *testing.T) {
	const plain = "acme-eu-web"
	today := naming.NodeName("acme", "eu-web")
	for name, c := range map[string]struct {
		change func(inv *inventory.Inventory)
		broken func(cm *unstructured.Unstructured)
		also   func(inv *inventory.Inventory) // a second inventory
		want   bool
	}{
		"recorded":          {want: true},
		"in an old format":  {change: func(inv *inventory.Inventory) { inv.Node.Hub.Namespace, inv.Node.Form.Namespace = "", "" }, want: true},
		"in a copy":         {broken: copied, want: true},
		"without a row":     {broken: unlabelled(wellknown.LabelUID), want: true},
		"without a form":    {broken: unlabelled(wellknown.LabelTemplate), want: true},
		"two contradicting": {broken: func(cm *unstructured.Unstructured) { annotate(cm, wellknown.AnnotationUID, "bolt") }, want: true},

		"by today's name":        {change: func(inv *inventory.Inventory) { inv.Node.Name = today }},
		"by both names":          {also: func(inv *inventory.Inventory) { inv.Node.Name = today }},
		"by both, one is old":    {change: func(inv *inventory.Inventory) { inv.Node.Form.Namespace = "" }, also: func(inv *inventory.Inventory) { inv.Node.Name = today }},
		"by today's, elsewhere":  {also: func(inv *inventory.Inventory) { inv.Node.Name, inv.Node.Namespace = today, "far" }, want: true},
		"another hub":            {change: func(inv *inventory.Inventory) { inv.Node.Hub.Name = "erp" }},
		"a hub in a namespace":   {change: func(inv *inventory.Inventory) { inv.Node.Hub.Namespace = "far" }},
		"another form":           {change: func(inv *inventory.Inventory) { inv.Node.Form.Name, inv.Node.UID = "web", "acme-eu" }},
		"a form in a namespace":  {change: func(inv *inventory.Inventory) { inv.Node.Form.Namespace = "far" }},
		"another row":            {change: func(inv *inventory.Inventory) { inv.Node.UID = "bolt" }, want: true}, // unreadable
		"another node namespace": {change: func(inv *inventory.Inventory) { inv.Node.Namespace = "far" }},
		"not an inventory":       {broken: func(cm *unstructured.Unstructured) { cm.SetName("settings") }},
	} {
		t.Run(name, func(t *testing.T) {
			m := inmemory.New()
			inv := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Namespace: "forms", Name: "eu-web"}, UID: "acme", Namespace: "ns", Name: plain}}
			second := *inv
			if c.change != nil {
				c.change(inv)
			}
			first := recordIn(t, inv)
			if c.broken != nil {
				c.broken(first)
			}
			keep(m, first)
			if c.also != nil {
				c.also(&second)
				keep(m, recordIn(t, &second))
			}
			names, err := RecordedNames(t.Context(), m, lynq.HubKey{Namespace: "hubs", Name: "crm"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := names.Has(lynq.NodeKey{Namespace: "ns", Name: plain}, lynq.FormKey{Namespace: "forms", Name: "eu-web"}); got != c.want {
				t.Errorf("%v, of %v", got, names)
			}
		})
	}
}

// TestRecordedNamesOfOthers checks that lynqctl doesn't remember names that are plain by
// today's rule.
func TestRecordedNamesOfOthers(t *testing.T) {
	m := inmemory.New()
	for _, uid := range []string{"acme", "acme-eu", "Acme"} {
		keep(m, recordIn(t, &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Namespace: "forms", Name: "web"}, UID: uid, Namespace: "ns", Name: naming.NodeName(uid, "web")}}))
	}
	names, err := RecordedNames(t.Context(), m, lynq.HubKey{Namespace: "hubs", Name: "crm"}, nil)
	if err != nil || len(names) > 0 {
		t.Error(names, err)
	}
}

func recordIn(t *testing.T, inv *inventory.Inventory) *unstructured.Unstructured {
	t.Helper()
	cm, err := inventory.Encode(inv)
	if err != nil {
		t.Fatal(err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cm)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: content}
}

func keep(m *inmemory.Cluster, cm *unstructured.Unstructured) {
	m.Put(lynq.Ref{Kind: "ConfigMap", Namespace: cm.GetNamespace(), Name: cm.GetName()}, cm)
}

func copied(cm *unstructured.Unstructured) {
	labels := cm.GetLabels()
	labels[wellknown.LabelRecord] = wellknown.RecordCopy
	cm.SetLabels(labels)
	cm.SetName(inventory.CopyName("acme-eu-web"))
}

func unlabelled(key string) func(*unstructured.Unstructured) {
	return func(cm *unstructured.Unstructured) {
		unstructured.RemoveNestedField(cm.Object, "metadata", "labels", key)
	}
}

func annotate(cm *unstructured.Unstructured, key, value string) {
	annotations := cm.GetAnnotations()
	annotations[key] = value
	cm.SetAnnotations(annotations)
}
