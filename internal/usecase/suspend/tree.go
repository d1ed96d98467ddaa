package suspend

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// changeTree records a suspension of all nodes in the index of a tree, or removes it for nil.
// It writes nothing if the tree lacks one of the nodes.
func changeTree(ctx context.Context, e *session.Engine, o *Options, s *inventory.Suspension) error {
	tree, err := gitops.OpenDir(o.Dir)
	if err != nil {
		return session.BadUsage(fmt.Errorf("--output-dir: %w", err))
	}
	defer func() { _ = tree.Close() }() // everything is written
	x, err := tree.Existing()
	if err != nil {
		return session.BadUsage(fmt.Errorf("--output-dir: %w", err))
	}
	nodes, err := o.inTree(x, s == nil)
	if err != nil {
		return session.BadUsage(err)
	}
	next := x
	var notes []string
	for _, k := range nodes {
		known := slices.ContainsFunc(x.Suspended, func(o index.Suspension) bool { return o.Node == k })
		switch {
		case s != nil:
			notes = append(notes, fmt.Sprintf("node %s: %s", k, s))
		case known:
			notes = append(notes, fmt.Sprintf("node %s: resumed", k))
		default:
			notes = append(notes, fmt.Sprintf("node %s isn't suspended", k))
			continue
		}
		next = next.Suspend(k, s)
	}
	if next != x {
		if err := tree.SaveIndex(ctx, next); err != nil {
			return unsaved(err)
		}
		notes = append(notes, "commit "+path.Join(o.Dir, index.FileName)+" to record this in Git")
	}
	for _, note := range notes {
		e.Notef("%s", note)
	}
	return nil
}

// unsaved returns the error of an index that lynqctl couldn't write.
func unsaved(err error) error {
	if _, busy := errors.AsType[*gitops.BusyError](err); busy {
		return &session.Error{Outcome: session.Refused, Err: err, Summary: "nothing changed"}
	}
	if _, root := errors.AsType[*gitops.RootError](err); root {
		return session.BadUsage(fmt.Errorf("--output-dir: %w", err))
	}
	return session.Fail(fmt.Errorf("write the index of the tree: %w", err))
}

// inTree finds the named nodes in a tree, each once. To resume a node, its suspension is
// enough: a merge may have removed its files.
func (o *Options) inTree(x *index.Index, resume bool) ([]lynq.NodeKey, error) {
	known := map[string][]lynq.NodeKey{}
	add := func(k lynq.NodeKey) {
		if (o.Namespace == "" || o.Namespace == k.Namespace) && !slices.Contains(known[k.Name], k) {
			known[k.Name] = append(known[k.Name], k)
		}
	}
	for _, k := range x.Nodes() {
		add(k)
	}
	for _, s := range x.Suspended {
		if resume {
			add(s.Node)
		}
	}
	var nodes []lynq.NodeKey
	var errs []error
	for _, name := range o.Nodes {
		switch keys := known[name]; {
		case len(keys) == 1 && !slices.Contains(nodes, keys[0]):
			nodes = append(nodes, keys[0])
		case len(keys) > 1:
			var of []string
			for _, k := range keys {
				of = append(of, k.Namespace)
			}
			errs = append(errs, fmt.Errorf("tree %s has node %q in several namespaces: %s (choose one with -n)", o.Dir, name, strings.Join(of, ", ")))
		case len(keys) == 0 && !o.IgnoreNotFound:
			errs = append(errs, o.notInTree(name, known, resume))
		}
	}
	return nodes, errors.Join(errs...)
}

// notInTree returns the error for a name without a node in the tree, with suggestions.
func (o *Options) notInTree(name string, known map[string][]lynq.NodeKey, resume bool) error {
	names := make([]string, 0, len(known))
	for other := range known {
		names = append(names, other)
	}
	slices.Sort(names)
	var hints []string
	if fix := suggest.Fix(name, names); fix != "" {
		hints = append(hints, fix)
	}
	if o.Namespace != "" {
		hints = append(hints, "-n names another namespace")
	}
	if !resume {
		hints = append(hints, "render must write a node before you can suspend it")
	}
	hint := ""
	if len(hints) > 0 {
		hint = " (" + strings.Join(hints, "; ") + ")"
	}
	return fmt.Errorf("tree %s has no node %q%s", o.Dir, name, hint)
}
