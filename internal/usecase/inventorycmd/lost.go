package inventorycmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// lost finds tracked objects without an inventory entry, and the inventories that can be
// made from them.
type lost struct {
	*session.Run
	apply  *applycmd.Rendered // nil if rebuild reads no rows and forms
	nodes  []string           // selected names, as NODE or NAMESPACE/NODE. Empty means all
	where  string             // namespace of the nodes, "" means all
	chosen lynq.Names         // hubs that the user named
	forms  []string
	// noFinalizer creates inventories without a finalizer.
	noFinalizer bool

	stranded []orphan.Orphan
	broken   []*inventory.UnreadableError // inventories of selected nodes
	hubs     lynq.Names                   // the selected hubs
}

// look finds the objects without an inventory entry.
func (l *lost) look(ctx context.Context) error {
	found, err := l.FindOrphans(ctx, orphan.Query{
		Now: time.Now(), Stranded: l.Store, Filter: orphan.Filter{Reasons: []string{orphan.ReasonStranded}},
	})
	if err == nil {
		l.stranded = found.Orphans
	}
	return err
}

// recordable returns the inventories that can be made for selected nodes, and the objects
// that can't be recorded.
func (l *lost) recordable(ctx context.Context) ([]plan.Restoration, []orphan.Unbuilt, error) {
	in, err := l.input(ctx)
	if err != nil {
		return nil, nil, err
	}
	rebuilt, unbuilt := orphan.Rebuild(in)
	rebuilt = slices.DeleteFunc(rebuilt, func(b plan.Restoration) bool {
		return !l.meant(b.Node.Key(), b.Node.Hub) || l.apply != nil && len(l.forms) > 0 && !l.formMeant(b.Inventory)
	})
	unbuilt = slices.DeleteFunc(unbuilt, func(u orphan.Unbuilt) bool { return !l.meant(u.Key(), u.Hub) })
	return rebuilt, unbuilt, nil
}

// unknown returns the names of nodes of which nothing was found.
func (l *lost) unknown(rebuilt []plan.Restoration, unbuilt []orphan.Unbuilt) []string {
	return slices.DeleteFunc(slices.Clone(l.nodes), func(name string) bool {
		is := func(k lynq.NodeKey) bool { return k.Name == name || k.String() == name }
		return slices.ContainsFunc(rebuilt, func(b plan.Restoration) bool { return is(b.Node.Key()) }) ||
			slices.ContainsFunc(unbuilt, func(u orphan.Unbuilt) bool { return is(u.Key()) }) ||
			slices.ContainsFunc(l.broken, func(b *inventory.UnreadableError) bool { return is(b.Node.Key()) })
	})
}

// within names the namespace of the selected nodes, for messages.
func (l *lost) within() string {
	if l.where == "" {
		return ""
	}
	return " in namespace " + l.where
}

// named returns the node that a name selects. Its namespace is empty if unknown.
func (l *lost) named(name string) lynq.NodeKey {
	if namespace, node, said := strings.Cut(name, "/"); said {
		return lynq.NodeKey{Namespace: namespace, Name: node}
	}
	return lynq.NodeKey{Namespace: l.where, Name: name}
}

// meant reports whether the command rebuilds a node. A node without a name counts as any
// node of its namespace.
func (l *lost) meant(key lynq.NodeKey, hub lynq.HubKey) bool {
	return (l.where == "" || l.where == key.Namespace) && mayChooseHub(l.hubs, hub) &&
		(len(l.nodes) == 0 || key.Name == "" || slices.Contains(l.nodes, key.Name) || slices.Contains(l.nodes, key.String()))
}

// formMeant reports whether --form selects the form of a node.
func (l *lost) formMeant(inv *inventory.Inventory) bool {
	form := inv.Node.Full().Form
	return lynq.Names(l.forms).Choose(form.Namespace, form.Name)
}

// mayChooseHub reports whether names select a hub. If its namespace is unknown, the name
// alone must match.
func mayChooseHub(names lynq.Names, hub lynq.HubKey) bool {
	return names.Choose(hub.Namespace, hub.Name) || hub.Namespace == "" && slices.ContainsFunc(names, func(name string) bool {
		_, of, qualified := strings.Cut(name, "/")
		return qualified && of == hub.Name
	})
}

func (l *lost) input(ctx context.Context) (*orphan.RebuildInput, error) {
	in := &orphan.RebuildInput{Stranded: l.stranded, Chosen: l.chosen, NoFinalizer: l.noFinalizer}
	l.hubs = l.hubsMeant()
	if err := l.readRecords(ctx, in); err != nil {
		return nil, session.Unread(ctx, err)
	}
	if l.where == "" {
		in.Within = []string{}
	}
	for _, name := range l.nodes {
		in.Named = append(in.Named, l.named(name))
	}
	if l.apply == nil {
		if len(l.forms) == 1 {
			in.Form.Name = l.forms[0]
			if namespace, form, said := strings.Cut(l.forms[0], "/"); said {
				in.Form = lynq.FormKey{Namespace: namespace, Name: form}
			}
		}
		return in, nil
	}
	for _, h := range l.apply.Hubs {
		in.Nodes = append(in.Nodes, l.apply.Nodes[h.Key]...)
		if l.where == "" {
			in.Within = append(in.Within, h.Namespaces()...)
		}
	}
	return in, nil
}

// readRecords reads the inventories and hub records. It skips inventories that don't count.
// In the namespace that the user named, it reports every unreadable one.
func (l *lost) readRecords(ctx context.Context, in *orphan.RebuildInput) error {
	inventories, err := l.Store.AllNodes(ctx, "")
	all, err := session.BrokenOnes(err)
	if err != nil {
		return err
	}
	in.Hubs, err = l.Store.Hubs(ctx, "")
	if _, err = session.BrokenOnes(err); err != nil {
		return err
	}
	kept, broken, _ := inventory.NewCounting(in.Hubs).Split(inventories, all)
	if in.Inventories = kept; l.where != "" {
		broken = all
	}
	l.broken = slices.DeleteFunc(slices.Clone(broken), func(b *inventory.UnreadableError) bool {
		return !l.meant(b.Node.Key(), b.Node.Hub)
	})
	return nil
}

// hubsMeant returns the hubs of the inputs, or those of --hub.
func (l *lost) hubsMeant() lynq.Names {
	if l.apply == nil {
		return l.chosen
	}
	var names lynq.Names
	for _, h := range l.apply.Hubs {
		names = append(names, h.Key.String())
	}
	return names
}

// unbuiltObjects names objects that can't be recorded, and their node.
func unbuiltObjects(u *orphan.Unbuilt) string {
	of := "node " + u.String()
	if u.Name == "" {
		of = "an unknown node in namespace " + u.Namespace
	}
	return fmt.Sprintf("%s of %s, such as %s", phrase.Count(len(u.Objects), "object"), of, u.Objects[0].Full())
}
