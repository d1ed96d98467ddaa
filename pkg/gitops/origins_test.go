package gitops

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestFormDigests follows the digests of forms through runs on a tree that two hubs share.
func TestFormDigests(t *testing.T) {
	crm, erp, web := lynq.HubKey{Name: "crm"}, lynq.HubKey{Name: "erp"}, lynq.FormKey{Name: "web"}
	run := func(version int, change func(in *Input), nodes ...*Node) *Input {
		in := inputOf(nodes, "crm")
		for i, o := range in.Forms {
			in.Forms[i] = formAt(lynq.HubKey{Name: o.Hub}, web, version)
		}
		if change != nil {
			change(in)
		}
		return in
	}
	only := func(in *Input) { in.Only = map[string]bool{"acme-web": true} }
	failed, waits := rowNode("crm", "beta", ""), rowNode("crm", "beta", "")
	failed.Failed, waits.Waits = true, true
	failed.Objects, waits.Objects = nil, nil
	s := newSite(t)
	var before []index.Origin
	for _, step := range []struct {
		name string
		in   *Input
		want []index.Origin
		file bool // the run changes a file besides the index
	}{
		{"a hub", run(1, nil, rowNode("crm", "acme", "1"), rowNode("crm", "beta", "1")), []index.Origin{formAt(crm, web, 1)}, true},
		{"another hub", func() *Input {
			in := run(7, nil, rowNode("erp", "acme-2", "1"))
			in.Hubs, in.Forms = in.Hubs[:1], in.Forms[:1]
			return in
		}(),
			[]index.Origin{formAt(crm, web, 1), formAt(erp, web, 7)}, true},
		{"one node, of another version", run(2, only, rowNode("crm", "acme", "2")), []index.Origin{formAt(crm, web, 1), formAt(crm, web, 2), formAt(erp, web, 7)}, true},
		{"another node fails", run(2, nil, rowNode("crm", "acme", "2"), failed), []index.Origin{formAt(crm, web, 1), formAt(crm, web, 2), formAt(erp, web, 7)}, false},
		{"another node waits", run(2, nil, rowNode("crm", "acme", "2"), waits), []index.Origin{formAt(crm, web, 1), formAt(crm, web, 2), formAt(erp, web, 7)}, false},
		{"all", run(2, nil, rowNode("crm", "acme", "2"), rowNode("crm", "beta", "1")), []index.Origin{formAt(crm, web, 2), formAt(erp, web, 7)}, false},
		{"a change without effect", run(3, nil, rowNode("crm", "acme", "2"), rowNode("crm", "beta", "1")), []index.Origin{formAt(crm, web, 3), formAt(erp, web, 7)}, false},
		{"no node", run(4, nil), []index.Origin{formAt(erp, web, 7)}, true},
	} {
		t.Run(step.name, func(t *testing.T) {
			d, p := s.plan(step.in)
			r := NewReport(step.in, p, d.Changes(p))
			if changes := !cmp.Equal(before, step.want); r.OnlyIndex() != (changes && !step.file) || r.Changed != (changes || step.file) {
				t.Errorf("%s: the report says %+v", step.name, r)
			}
			s.run(step.in)
			if diff := cmp.Diff(step.want, s.index().Forms); diff != "" {
				t.Errorf("%s: %s", step.name, diff)
			}
			before = step.want
			text := s.files()[index.FileName]
			if _, p := s.plan(step.in); string(p.Final().Encode()) != text {
				t.Errorf("%s: the second run changes the index", step.name)
			}
			if !strings.Contains(text, r.Plan) {
				t.Errorf("%s: the index doesn't have the plan %s", step.name, r.Plan)
			}
		})
	}
}

// TestMergedDigests merges the indexes of two branches as merge=union does. The next run
// writes the index of a run on one tree.
func TestMergedDigests(t *testing.T) {
	nodes := func(beta string) []*Node { return []*Node{rowNode("crm", "acme", "1"), rowNode("crm", "beta", beta)} }
	branch := func(version int, beta string) *site {
		s, in := newSite(t), inputOf(nodes(beta))
		in.Forms[0] = formAt(lynq.HubKey{Name: "crm"}, lynq.FormKey{Name: "web"}, version)
		s.run(in)
		return s
	}
	ours, theirs, want := branch(1, "1"), branch(2, "2"), branch(3, "3").files()
	lines := strings.SplitAfter(ours.files()[index.FileName], "\n")
	other := strings.SplitAfter(theirs.files()[index.FileName], "\n")
	half := len(lines) - 4 // the lines of the last file, the hub, the form and the plan differ
	ours.write(index.FileName, strings.Join(lines[:half], "")+strings.Join(lines[half:], "")+strings.Join(other[half:], ""))
	if got := ours.index().Forms; len(got) != 2 {
		t.Errorf("%+v", got)
	}
	in := inputOf(nodes("3"))
	in.Forms[0] = formAt(lynq.HubKey{Name: "crm"}, lynq.FormKey{Name: "web"}, 3)
	ours.run(in)
	if diff := cmp.Diff(want, ours.files()); diff != "" {
		t.Error(diff)
	}
}
