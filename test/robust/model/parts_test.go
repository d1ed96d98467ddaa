package model_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/robust/model"
)

// fleet has three nodes of one object each, whose form has a new revision. It has the
// revision of each object before and after a run.
type fleet struct {
	inputs        model.Inputs
	before, after [3]string // the revisions; "" for an object that doesn't exist
	command       model.Command
	exit          int
	frozen        *fleet // the state from which the plan was made
	copied        string // the content of a copy of acme's object after the run, which removes its owner; "" for none
}

func (f *fleet) form() *model.Form { return &f.inputs[0].Forms[0] }

func uids() []string { return []string{"acme", "bolt", "coil"} }

func newFleet() *fleet {
	f := &fleet{
		before: [3]string{"1", "1", "1"}, after: [3]string{"1", "1", "1"}, exit: 1,
		inputs: model.Inputs{{Name: "us", Forms: []model.Form{{
			Name: "web", Revision: 2,
			Resources: []model.Resource{{ID: "conf", Kind: model.Config, Name: "{{ .uid }}-conf", Deletion: model.Delete}},
		}}}},
		command: model.Command{Verb: "apply", MaxDelete: "100%"},
	}
	for _, uid := range uids() {
		f.inputs[0].Rows = append(f.inputs[0].Rows, model.Row{UID: uid, Active: true, Columns: map[string]string{"plan": "free"}})
	}
	return f
}

func refOf(uid string) model.Ref {
	return model.Ref{Kind: model.Config, Namespace: model.Near, Name: uid + "-conf"}
}

func picture(revisions [3]string) *model.Cluster {
	c := &model.Cluster{Objects: map[string]model.Object{}, UIDs: map[string]bool{}}
	for i, uid := range uids() {
		c.UIDs["i"+uid] = true
		c.Inventories = append(c.Inventories, model.Inventory{
			Name: uid + "-web", Namespace: "ns", UID: "i" + uid, Node: model.Node{Hub: "us", Form: "web", Row: uid},
			Entries: []model.Entry{{Ref: refOf(uid), UID: "u" + uid, Deletion: model.Delete}},
		})
		if revisions[i] != "" {
			c.Objects["u"+uid] = model.Object{
				Ref: refOf(uid), UID: "u" + uid, Labels: map[string]string{"lynq.sh/hub": "us"}, Annotations: map[string]string{"revision": revisions[i], "lynq.sh/deletion-policy": model.Delete},
				Owners: []model.Owner{{UID: "i" + uid}}, Body: revisions[i], Whole: revisions[i],
			}
		}
	}
	return c
}

// check returns the model's verdict about the run.
func (f *fleet) check() string {
	f.command.Inputs = f.inputs
	if f.frozen != nil {
		f.command.Plan = &model.Frozen{
			Inputs: f.frozen.inputs, Cluster: picture(f.frozen.before), Began: picture(f.before),
			Nodes: []model.Node{{Hub: "us", Form: "web", Row: "acme"}}, Changes: []model.Ref{refOf("acme")},
		}
	}
	before, after := picture(f.before), picture(f.after)
	if f.copied != "" {
		o := before.Objects["uacme"]
		o.Name, o.UID, o.Whole = "acme-conf-copy", "ucopy", "owned"
		before.Objects["ucopy"] = o
		o.Body, o.Owners, o.Whole = f.copied, nil, "free"
		after.Objects["ucopy"] = o
	}
	return strings.Join(model.Check(f.command, before, after, f.exit), "\n")
}

// judge compares the model's verdicts with the expected ones.
func judge(t *testing.T, cases map[string]struct {
	change func(*fleet)
	want   string
}) {
	t.Helper()
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet()
			tt.change(f)
			if got := f.check(); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("the model says %q, want %q", got, tt.want)
			}
		})
	}
}

// TestStages wants a node to change only when all nodes of earlier stages have, and no
// pause holds it.
func TestStages(t *testing.T) {
	t.Parallel()
	staged := func(stages ...model.Stage) func(f *fleet, after ...string) {
		return func(f *fleet, after ...string) {
			f.form().Stages = stages
			copy(f.after[:], after)
		}
	}
	rows, paused := staged(model.Stage{Rows: 1}, model.Stage{Rows: 1}), staged(model.Stage{Rows: 1, Pause: true}, model.Stage{Rows: 1, Pause: true})
	waits := func(f *fleet, after ...string) {
		paused(f, after...)
		f.before[0], f.command.Continue = "2", true
	}
	writes := func(f *fleet, uids ...string) {
		for _, uid := range uids {
			f.command.Writes = append(f.command.Writes, refOf(uid))
		}
	}
	judge(t, map[string]struct {
		change func(*fleet)
		want   string
	}{
		"no stages":               {func(f *fleet) { f.after[2] = "2" }, ""},
		"nothing":                 {func(f *fleet) { rows(f, "1", "1", "1") }, ""},
		"the first":               {func(f *fleet) { rows(f, "2", "1", "1") }, ""},
		"all":                     {func(f *fleet) { rows(f, "2", "2", "2") }, ""},
		"one too early":           {func(f *fleet) { rows(f, "2", "1", "2") }, "changed node coil-web of stage 3: 1 nodes of stage 2 are as they were"},
		"deleted too early":       {func(f *fleet) { rows(f, "1", "", "1") }, "changed node bolt-web of stage 2"},
		"one may fail":            {func(f *fleet) { rows(f, "2", "1", "2"); f.form().MaxFailed = 1 }, ""},
		"one that a person names": {func(f *fleet) { rows(f, "1", "1", "2"); f.command.Nodes = []string{"coil-web"} }, ""},
		"in order":                {func(f *fleet) { rows(f, "2", "2", "2"); writes(f, "acme", "bolt", "coil") }, ""},
		"not in order":            {func(f *fleet) { rows(f, "2", "2", "2"); writes(f, "acme", "coil", "bolt") }, "bolt-web of an earlier stage was written after it"},
		"--stage":                 {func(f *fleet) { rows(f, "2", "2", "1"); f.command.Stage = 2 }, ""},
		"past --stage":            {func(f *fleet) { rows(f, "2", "2", "1"); f.command.Stage = 1 }, "the run ends with stage 1"},
		"a pause":                 {func(f *fleet) { paused(f, "2", "1", "1") }, ""},
		"past a pause":            {func(f *fleet) { paused(f, "2", "2", "1") }, "the rollout pauses after stage 1"},
		"--continue":              {func(f *fleet) { waits(f, "2", "2", "1") }, ""},
		"--continue past two":     {func(f *fleet) { waits(f, "2", "2", "2") }, "the rollout pauses after stage 2"},
		"--continue too early":    {func(f *fleet) { waits(f, "2", "2", "1"); f.before[0] = "1" }, "the rollout pauses after stage 1"},
		"--continue, one failed":  {func(f *fleet) { waits(f, "1", "2", "1"); f.before[0], f.form().MaxFailed = "1", 1 }, ""},
		"a pause that is over": {func(f *fleet) {
			staged(model.Stage{Rows: 1, Pause: true}, model.Stage{Rows: 2})(f, "2", "2", "2")
			f.before = [3]string{"2", "2", "1"}
		}, ""},
		"the second pause":         {func(f *fleet) { paused(f, "2", "2", "2"); f.before = [3]string{"2", "2", "1"} }, "the rollout pauses after stage 2"},
		"a share":                  {func(f *fleet) { staged(model.Stage{Percent: 34})(f, "2", "1", "2") }, "stage 2: 1 nodes of stage 1 are as they were"},
		"rows of a plan":           {func(f *fleet) { staged(model.Stage{Plan: "pro"})(f, "1", "1", "2"); f.plan(2, "pro") }, ""},
		"before the rows of it":    {func(f *fleet) { staged(model.Stage{Plan: "pro"})(f, "2", "1", "1"); f.plan(2, "pro") }, "changed node acme-web of stage 2"},
		"inactive rows have none":  {func(f *fleet) { rows(f, "1", "2", "1"); f.inputs[0].Rows[0].Active = false }, ""},
		"those that were as it is": {func(f *fleet) { rows(f, "1", "1", "2"); f.before[2] = strconv.Itoa(f.form().Revision) }, ""},
	})
}

func (f *fleet) plan(row int, plan string) { f.inputs[0].Rows[row].Columns["plan"] = plan }

// TestPlans wants a run of a plan file only while everything on which it depends is
// unchanged. The run must change nothing else.
func TestPlans(t *testing.T) {
	t.Parallel()
	planned := func(f *fleet) {
		f.frozen, f.exit = newFleet(), 0
		f.after[0] = "2"
	}
	judge(t, map[string]struct {
		change func(*fleet)
		want   string
	}{
		"what it says": {planned, ""},
		"more":         {func(f *fleet) { planned(f); f.after[1] = "2" }, "bolt-conf was changed, and the plan doesn't say so"},
		"another row":  {func(f *fleet) { planned(f); f.plan(1, "pro") }, ""},
		"its row":      {func(f *fleet) { planned(f); f.plan(0, "pro") }, "the form or row of node acme-web has changed"},
		"its row went": {func(f *fleet) { planned(f); f.inputs[0].Rows[0].Active = false }, "row acme came or went"},
		"its form":     {func(f *fleet) { planned(f); f.form().Resources[0].Adoption = model.Never }, "the form or row of node acme-web has changed"},
		"a node that fails": {func(f *fleet) {
			planned(f)
			for _, g := range []*fleet{f, f.frozen} {
				other := g.inputs[0].Forms[0]
				other.Name = "site"
				g.inputs[0].Forms = append(g.inputs[0].Forms, other)
			}
			f.form().Resources = append(f.form().Resources, model.Resource{ID: "more", Kind: model.Config, Name: "{{ .uid }}-more"})
		}, ""},
		"a condition that holds": {func(f *fleet) {
			planned(f)
			f.form().Resources[0].When, f.inputs[0].Rows[0].Columns["feature"] = "feature", "true"
		}, ""},
		"its object":               {func(f *fleet) { planned(f); f.before[0] = "0" }, "acme-conf has changed since the plan"},
		"another object":           {func(f *fleet) { planned(f); f.before[1], f.after[1] = "0", "0" }, ""},
		"refused":                  {func(f *fleet) { planned(f); f.plan(0, "pro"); f.after[0], f.exit = "1", 3 }, ""},
		"a copy's owner":           {func(f *fleet) { planned(f); f.copied = "1" }, ""},
		"a copy":                   {func(f *fleet) { planned(f); f.copied = "2" }, "acme-conf-copy was changed"},
		"nothing, and it succeeds": {func(f *fleet) { planned(f); f.plan(0, "pro"); f.after[0] = "1" }, "the run succeeded"},
	})
}

// TestShards wants a shard to change only its own rows. By FNV-1a, acme is in shard 1 of 2,
// and bolt and coil are in shard 0.
func TestShards(t *testing.T) {
	t.Parallel()
	judge(t, map[string]struct {
		change func(*fleet)
		want   string
	}{
		"its own":       {func(f *fleet) { f.command.Shard = model.Shard{Index: 1, Count: 2}; f.after[0] = "2" }, ""},
		"another one's": {func(f *fleet) { f.command.Shard = model.Shard{Index: 1, Count: 2}; f.after[1] = "2" }, "its node bolt-web is not of this run"},
		"deleted": {func(f *fleet) {
			f.command.Shard, f.inputs[0].Rows, f.after[0] = model.Shard{Index: 1, Count: 2}, f.inputs[0].Rows[1:], ""
		}, ""},
		"another one's, deleted": {func(f *fleet) {
			f.command.Shard, f.inputs[0].Rows, f.after[2] = model.Shard{Index: 1, Count: 2}, f.inputs[0].Rows[:2], ""
		}, "coil-web is not of this run"},
		"stages": {func(f *fleet) {
			f.command.Shard, f.form().Stages, f.after[0] = model.Shard{Index: 1, Count: 2}, []model.Stage{{Rows: 1}}, "2"
		}, "a shard has no stages"},
	})
}
