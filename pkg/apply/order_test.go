package apply

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// member returns the node of row acme for a form. The node has the form's name.
func member(form, depends string, objects ...formObject) *plan.Node {
	n := node(form, objects...)
	n.Form.Name, n.UID = form, "acme"
	if depends != "" {
		n.DependForms = []string{depends}
	}
	return n
}

// three returns the nodes of three forms. web depends on db and db on net, so their order
// here is wrong.
func three(value string) []*plan.Node {
	return []*plan.Node{member("web", "db", configMap("w", value)), member("db", "net", configMap("d", value), configMap("d2", value, "d")), member("net", "", configMap("n", value))}
}

// applyForms plans and runs the nodes of three forms.
func (s *stage) applyForms(t *testing.T, nodes ...*plan.Node) *report.Summary {
	t.Helper()
	in := &decide.Input{Hub: lynq.HubKey{Name: "crm"}, Desired: decide.Desired{Forms: []lynq.FormKey{{Name: "db"}, {Name: "net"}, {Name: "web"}}, Nodes: nodes, Active: 1}, Recorded: decide.Recorded{Inventories: s.notes.all()}}
	seen, err := observe.Nodes(t.Context(), s, in.Hub.Name, nodes, in.Recorded.Inventories)
	if err != nil {
		t.Fatal(err)
	}
	in.Observed = *seen
	s.requests = nil
	sum, err := s.run(bounded(t), decide.Decide(in, decide.Limits{AllowEmpty: true, MaxDelete: limits.MaxDelete{Nodes: 9}}))
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// applies returns the names of the applied objects in their order.
func (s *stage) applies() string {
	var names []string
	for _, r := range s.requests {
		if ref, ok := strings.CutPrefix(r, "write "); ok {
			names = append(names, ref[strings.LastIndex(ref, "/")+1:])
		}
	}
	return strings.Join(names, " ")
}

// TestFormsInOrder checks that lynqctl writes a row's nodes in the order of their forms,
// and deletes them in reverse. Concurrency and rollouts don't change that. A node without
// changes waits for nobody.
func TestFormsInOrder(t *testing.T) {
	for _, concurrency := range []int{1, 8} {
		for _, skew := range []int{0, 1} {
			t.Run(fmt.Sprintf("%d at once, maxSkew %d", concurrency, skew), func(t *testing.T) {
				s := newStage()
				s.options.Concurrency = concurrency
				s.options.Rollouts = map[schedule.Form]schedule.Limits{}
				for _, form := range []string{"db", "net", "web"} {
					s.options.Rollouts[schedule.Form{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: form}}] = schedule.Limits{MaxSkew: skew, Deadline: time.Hour}
				}
				step := func(what, wantApplies, wantDeletes string, nodes ...*plan.Node) {
					t.Helper()
					sum := s.applyForms(t, nodes...)
					if got := s.applies(); got != wantApplies || s.deletes() != wantDeletes || len(sum.Failed) > 0 {
						t.Errorf("%s: applied %q, deleted %q, failed %+v; want %q and %q", what, got, s.deletes(), sum.Failed, wantApplies, wantDeletes)
					}
				}
				step("at first", "n d d2 w", "", three("1")...)
				step("again", "", "", three("1")...)
				step("all change", "n d d2 w", "", three("2")...)
				step("the row goes", "", "w d2 d n")
			})
		}
	}
}

// TestFormsAfterFailure checks that lynqctl neither changes nor deletes objects of nodes
// that depend on a failed node.
func TestFormsAfterFailure(t *testing.T) {
	for _, concurrency := range []int{1, 8} {
		s := newStage()
		s.options.Concurrency = concurrency
		nodes := three("1")
		nodes[0].Objects = append(nodes[0].Objects, member("web", "db", configMap("old", "1")).Objects...)
		if sum := s.applyForms(t, nodes...); len(sum.Failed) > 0 {
			t.Fatalf("%+v", sum.Failed)
		}
		s.before = func(verb string, ref lynq.Ref) error {
			if verb == "write" && ref.Name == "d" {
				return errors.New("no")
			}
			return nil
		}
		sum := s.applyForms(t, three("2")...) // the form drops old
		if got := ended(sum); got != "db failed, web skipped" || s.deletes() != "" || strings.Contains(s.applies(), "w") {
			t.Errorf("ended %q, applied %q, deleted %q", got, s.applies(), s.deletes())
		}
		for _, n := range sum.Failed {
			if want := "lynqctl doesn't change it, because node ns/db, which it depends on (dependForms), is failed"; n.Name == "web" && strings.Join(report.ProblemTexts(n.Problems), "") != want {
				t.Errorf("%q", report.ProblemTexts(n.Problems))
			}
		}
		// The failed deletion keeps the objects that it needs.
		s.before = func(verb string, ref lynq.Ref) error {
			if verb == "delete" && ref.Name == "w" {
				return refused(ref)
			}
			return nil
		}
		sum = s.applyForms(t)
		if got := ended(sum); got != "db skipped, net skipped, web failed" || s.deletes() != "old" {
			t.Errorf("ended %q, deleted %q", got, s.deletes())
		}
		s.before = nil
		if sum = s.applyForms(t); len(sum.Failed) > 0 || len(s.notes.all()) > 0 {
			t.Errorf("in the end: %+v, %d inventories", sum.Failed, len(s.notes.all()))
		}
	}
}

// TestFormsAfterUnready checks that a node that isn't ready blocks its dependents until a
// run finds it ready. Without --wait, it only comes first.
func TestFormsAfterUnready(t *testing.T) {
	s := newStage()
	nodes := func() []*plan.Node {
		return []*plan.Node{member("web", "db", configMap("w", "1")), member("db", "", stuck(widget("d")))}
	}
	if got := ended(s.applyForms(t, nodes()...)); got != "db not-ready, web skipped" || s.applies() != "d" {
		t.Errorf("ended %q, applied %q", got, s.applies())
	}
	s.heal("d")
	if got := ended(s.applyForms(t, nodes()...)); got != "" || s.applies() != "w" {
		t.Errorf("ready: ended %q, applied %q", got, s.applies())
	}
	s = newStage()
	s.options.Wait = false
	if got := ended(s.applyForms(t, nodes()...)); got != "" || s.applies() != "d w" {
		t.Errorf("without waiting: ended %q, applied %q", got, s.applies())
	}
}

// TestFormsBesideHandover moves an object from a node to a dependent node, which takes it
// while the first must still drop its entry.
func TestFormsBesideHandover(t *testing.T) {
	s := newStage()
	moving := configMap("moving", "1")
	if sum := s.applyForms(t, member("web", "db", configMap("w", "1")), member("db", "", configMap("d", "1"), moving)); len(sum.Failed) > 0 {
		t.Fatalf("%+v", sum.Failed)
	}
	sum := s.applyForms(t, member("web", "db", configMap("w", "1"), configMap("moving", "1")), member("db", "", configMap("d", "2")))
	if len(sum.Failed) > 0 || s.deletes() != "" {
		t.Errorf("%+v, deleted %q", sum.Failed, s.deletes())
	}
	for _, inv := range s.notes.all() {
		if want := map[string]int{"web": 2, "db": 1}[inv.Node.Form.Name]; len(inv.Entries) != want {
			t.Errorf("node %s has %d entries, want %d", inv.Node.Name, len(inv.Entries), want)
		}
	}
}

// TestFormsThatNeedEachOther checks a node that needs a Namespace from a node that waits
// for it. The run reports that and blocks nothing.
func TestFormsThatNeedEachOther(t *testing.T) {
	s := newStage()
	inside := configMap("d", "1")
	inside.Namespace = "tenant"
	inside.Content["metadata"].(map[string]any)["namespace"] = "tenant" //nolint:errcheck // it is a map
	sum := s.applyForms(t, member("web", "db", namespace("tenant")), member("db", "", inside))
	if got := ended(sum); got != "db failed, web skipped" {
		t.Errorf("ended %q", got)
	}
	want := "ConfigMap/tenant/d: Namespace/tenant, which it needs, is made by node ns/web, which waits for this node (turn dependForms round)"
	for _, n := range sum.Failed {
		if n.Name == "db" && strings.Join(report.ProblemTexts(n.Problems), "; ") != want {
			t.Errorf("%q, want %q", report.ProblemTexts(n.Problems), want)
		}
	}
}
