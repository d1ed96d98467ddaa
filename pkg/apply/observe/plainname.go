package observe

import (
	"context"
	"errors"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// PlainNames are the nodes of a hub with a recorded plain name, which lynqctl would no
// longer choose (see naming.NodeName).
type PlainNames map[plainName]bool

// plainName is a node of a form. The form has no namespace if the inventory lacks it, and
// no name if lynqctl can't read that.
type plainName struct {
	lynq.NodeKey
	form lynq.FormKey
}

// Has reports whether an inventory records the node of a form under this plain name.
func (p PlainNames) Has(key lynq.NodeKey, form lynq.FormKey) bool {
	return p[plainName{key, form}] || p[plainName{key, lynq.FormKey{Name: form.Name}}] || p[plainName{NodeKey: key}]
}

// RecordedNames finds the nodes of a hub with plain names, from one list of metadata. If a
// node has both names, the plain one doesn't count. If an inventory doesn't name its row,
// nobody else gets its name.
// It lists them in within or, without it, in all namespaces.
func RecordedNames(ctx context.Context, c Reader, hub lynq.HubKey, within []string) (PlainNames, error) {
	selector := fmt.Sprintf("%s in (%s,%s),%s=%s", wellknown.LabelRecord, wellknown.RecordNode, wellknown.RecordCopy, wellknown.LabelHub, hub.Name)
	names, renamed := PlainNames{}, PlainNames{}
	err := listIn(ctx, c, configMaps(), "", within, selector, func(m *metav1.PartialObjectMetadata) func() {
		inv, err := inventory.Identify(&m.ObjectMeta)
		if broken := (*inventory.UnreadableError)(nil); errors.As(err, &broken) {
			inv = &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: broken.Node.Hub.Namespace}, Form: lynq.FormKey{Name: broken.Node.Form.Name}, Namespace: broken.Node.Namespace, Name: broken.Node.Name}}
		}
		if inv == nil || inv.Node.Name == "" || inv.Node.Hub.Namespace != "" && inv.Node.Hub.Namespace != hub.Namespace {
			return nil
		}
		is := plainName{inv.Node.Key(), inv.Node.Form}
		switch {
		case inv.Node.UID == "":
		case !naming.Dashed(inv.Node.Form.Name):
			return nil
		case inv.Node.Name == naming.PlainNodeName(inv.Node.UID, inv.Node.Form.Name):
		case inv.Node.Name == naming.NodeName(inv.Node.UID, inv.Node.Form.Name):
			is.Name, is.form.Namespace = naming.PlainNodeName(inv.Node.UID, inv.Node.Form.Name), ""
			return func() { renamed[is] = true }
		default:
			return nil
		}
		return func() { names[is] = true }
	})
	if err != nil {
		return nil, fmt.Errorf("list the names of the nodes of hub %s: %w", hub, err)
	}
	maps.DeleteFunc(names, func(is plainName, _ bool) bool {
		return is.form.Name != "" && renamed[plainName{is.NodeKey, lynq.FormKey{Name: is.form.Name}}]
	})
	return names, nil
}
