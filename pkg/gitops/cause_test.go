package gitops

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// inputsOfTree are the inputs of a tree in a few words: the rows, the entries of a lookup,
// and the fields of the objects a and b of each node, with their templates.
type inputsOfTree struct {
	rows    map[string]map[string]string // by uid and column
	sizes   map[string]string            // by the value of column size
	a, b    map[string]string
	kind    string // of b
	version string

	changed map[string]map[string]bool // what the last run knew of the columns of each node
}

// columnsOfTree are the columns of these rows. Nobody may read the token.
func columnsOfTree() []string { return []string{"host", "plan", "size", "token", "updated_at"} }

func newInputsOfTree(uids ...string) *inputsOfTree {
	s := &inputsOfTree{
		rows: map[string]map[string]string{}, sizes: map[string]string{"small": "1", "large": "4"}, kind: "ConfigMap", version: "v1",
		a: map[string]string{"plan": "{{ .plan }}", "both": "{{ .plan }} {{ .host }}", "cpu": "{{ .sizes.cpu }}", "motd": "hello", "token": "{{ .token | len }}"},
		b: map[string]string{"host": "{{ .host }}", "motd": "hello"},
	}
	for _, uid := range uids {
		s.rows[uid] = map[string]string{"plan": "gold", "host": uid, "size": "small", "token": "x", "updated_at": "1"}
	}
	return s
}

// yaml returns the hub and the form, and the line of each field in the form.
func (s *inputsOfTree) yaml() (text string, lines map[string]int) {
	var b strings.Builder
	lines = map[string]int{}
	b.WriteString("apiVersion: operator.lynq.sh/v1\nkind: LynqHub\nmetadata: {name: crm}\nspec:\n  source: {type: csv, csv: {path: rows.csv}}\n  valueMappings: {uid: id, activate: active}\n" +
		"  extraValueMappings: {host: host, plan: plan, size: size, token: token, updated_at: updated_at}\n  secretColumns: [token]\n  lookups:\n  - name: sizes\n    column: size\n    values:\n")
	for _, size := range slices.Sorted(maps.Keys(s.sizes)) {
		fmt.Fprintf(&b, "      %s: {cpu: %q}\n", size, s.sizes[size])
	}
	b.WriteString("---\napiVersion: operator.lynq.sh/v1\nkind: LynqForm\nmetadata: {name: web}\nspec:\n  hubId: crm\n  manifests:\n")
	for _, r := range []struct {
		id, kind string
		fields   map[string]string
	}{{"a", "ConfigMap", s.a}, {"b", s.kind, s.b}} {
		id, kind, fields := r.id, r.kind, r.fields
		fmt.Fprintf(&b, "  - id: %s\n    nameTemplate: \"{{ .uid }}-%s\"\n    spec:\n      apiVersion: v1\n      kind: %s\n      stringData: # or data\n", id, id, kind)
		lines[id] = strings.Count(b.String(), "\n") - 5
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			fmt.Fprintf(&b, "        %s: %q\n", field, fields[field])
			lines[id+" stringData."+field] = strings.Count(b.String(), "\n")
		}
	}
	return b.String(), lines
}

// program compiles the form.
func (s *inputsOfTree) program(t testing.TB) *render.Program {
	t.Helper()
	text, _ := s.yaml()
	in, err := form.Load([]string{"-"}, false, strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, text)
	}
	p, problems := render.Compile(in.Forms[0], in.Hub(in.Forms[0]), render.Options{})
	if len(problems) > 0 {
		t.Fatal(problems.Err())
	}
	return p
}

// input renders the rows.
func (s *inputsOfTree) input(t testing.TB, p *render.Program) *Input {
	t.Helper()
	rows := func(yield func(lynq.Row, error) bool) {
		for line, uid := range slices.Sorted(maps.Keys(s.rows)) {
			row := lynq.Row{Line: line + 2}
			for _, c := range render.Columns(p.Hub) {
				row.Values = append(row.Values, map[string]string{"id": uid, "active": "1"}[c]+s.rows[uid][c])
			}
			if row.Null = make([]bool, len(row.Values)); !yield(row, nil) {
				return
			}
		}
	}
	in := &Input{Version: s.version}
	run := render.NewRun(render.Settings{Workers: 1}, []*render.Program{p})
	for r, err := range run.Documents(context.Background(), render.Input{Hub: p.Hub.Key(), Programs: []*render.Program{p}, Rows: rows, Place: func(int) string { return "row" }}) {
		if err != nil || len(r.Problems) > 0 {
			t.Fatal(err, r.Problems)
		}
		n := &Node{NodeID: lynq.NodeID{Hub: p.Hub.Key(), Form: p.Form.Key(), UID: r.UID, Namespace: r.Namespace, Name: r.Name}, Row: r.Out.Inputs}
		for _, o := range r.Out.Objects {
			n.Objects = append(n.Objects, Object{ObjectKey: index.ObjectKey{Ref: o.Ref, ID: o.ID}, Bytes: slices.Clone(r.Out.Bytes[o.Start:o.End])})
		}
		in.Nodes = append(in.Nodes, n)
	}
	o := index.OriginOf(p.Hub.Key(), p.Form.Key())
	in.Hubs = []index.HubScope{{HubKey: p.Hub.Key(), Forms: []lynq.FormKey{p.Form.Key()}}}
	o.Digest = p.Digest()
	in.Forms, in.Templates = []index.Origin{o}, []index.Template{{Origin: o, Parts: []byte(p.Parts())}}
	return in
}

// causes runs the inputs on a tree, and returns the cause of each changed field by node,
// resource and field.
func (s *inputsOfTree) causes(site *site) map[string]string {
	site.Helper()
	p := s.program(site)
	in := s.input(site, p)
	d, plan := site.plan(in)
	r := NewReport(in, plan, d.Changes(plan))
	s.changed = map[string]map[string]bool{}
	for i := range r.Changes {
		s.changed[r.Changes[i].Name] = p.Changed(r.Changes[i].origins.rowBefore, r.Changes[i].origins.row)
	}
	r.Explain(func(lynq.HubKey, lynq.FormKey) *render.Program { return p }, nil)
	site.carryOut(d, plan)
	all := map[string]string{}
	for i := range r.Changes {
		for k := range r.Changes[i].Objects {
			o := &r.Changes[i].Objects[k]
			at := r.Changes[i].Name + " " + o.ID
			if o.Cause != "" {
				all[at] = o.String()
			}
			for f := range o.Fields {
				all[at+" "+o.Fields[f].Field] = o.Fields[f].String()
			}
		}
	}
	return all
}

// stated replaces field{N} by the line of the field.
func (s *inputsOfTree) stated(want map[string]string) map[string]string {
	_, lines := s.yaml()
	all := map[string]string{}
	for at, cause := range want {
		_, field, _ := strings.Cut(at, " ")
		all[at] = strings.ReplaceAll(cause, "LINE", fmt.Sprint(lines[field]))
		all[at] = strings.ReplaceAll(all[at], "DATA", fmt.Sprint(lines[field[:1]]+5))
	}
	return all
}

// TestCauses edits one row, form or lookup, and expects the true causes.
func TestCauses(t *testing.T) {
	const motd, plan, both, cpu, host = "acme-web a stringData.motd", "acme-web a stringData.plan", "acme-web a stringData.both", "acme-web a stringData.cpu", "acme-web b stringData.host"
	row := func(column, value string) func(*inputsOfTree) {
		return func(s *inputsOfTree) { s.rows["acme"][column] = value }
	}
	line := func(field, text string) func(*inputsOfTree) {
		return func(s *inputsOfTree) { s.a[field] = text }
	}
	for name, tt := range map[string]struct {
		edits []func(*inputsOfTree)
		want  map[string]string
	}{
		"a column":          {[]func(*inputsOfTree){row("plan", "iron")}, map[string]string{plan: "row (column plan)", both: "row (column plan)"}},
		"a column of two":   {[]func(*inputsOfTree){row("host", "x")}, map[string]string{both: "row (column host)", host: "row (column host)"}},
		"both columns":      {[]func(*inputsOfTree){row("host", "x"), row("plan", "iron")}, map[string]string{plan: "row (column plan)", both: "row (columns host, plan)", host: "row (column host)"}},
		"an unused column":  {[]func(*inputsOfTree){row("updated_at", "2")}, map[string]string{}},
		"a secret column":   {[]func(*inputsOfTree){row("token", "long")}, map[string]string{"acme-web a stringData.token": "row (column token)"}},
		"a line":            {[]func(*inputsOfTree){line("motd", "hi")}, map[string]string{motd: "form at stdin:LINE"}},
		"a new line":        {[]func(*inputsOfTree){line("more", "hi")}, map[string]string{"acme-web a stringData.more": "form at stdin:LINE"}},
		"a new line of two": {[]func(*inputsOfTree){line("more", "{{ .updated_at }}"), row("updated_at", "2")}, map[string]string{"acme-web a stringData.more": "form at stdin:LINE"}},
		"a line is gone":    {[]func(*inputsOfTree){func(s *inputsOfTree) { delete(s.a, "motd") }}, map[string]string{motd: "form at stdin:DATA"}},
		"a line and a column": {[]func(*inputsOfTree){line("motd", "hi"), row("plan", "iron")},
			map[string]string{motd: "form at stdin:LINE", plan: "row (column plan)", both: "row (column plan)"}},
		"a line with its column": {[]func(*inputsOfTree){line("plan", "a {{ .plan }}"), row("plan", "iron")},
			map[string]string{plan: "form at stdin:LINE or row (column plan)", both: "row (column plan)"}},
		"another resource": {[]func(*inputsOfTree){func(s *inputsOfTree) { s.b["motd"] = "hi" }, row("plan", "iron")},
			map[string]string{plan: "row (column plan)", both: "row (column plan)", "acme-web b stringData.motd": "form at stdin:LINE"}},
		"a lookup":             {[]func(*inputsOfTree){func(s *inputsOfTree) { s.sizes["small"] = "2" }}, map[string]string{cpu: "lookup sizes"}},
		"another entry":        {[]func(*inputsOfTree){row("size", "large")}, map[string]string{cpu: "row (column size)"}},
		"a lookup and a row":   {[]func(*inputsOfTree){func(s *inputsOfTree) { s.sizes["small"] = "2" }, row("plan", "iron")}, map[string]string{cpu: "lookup sizes", plan: "row (column plan)", both: "row (column plan)"}},
		"a lookup and a line":  {[]func(*inputsOfTree){func(s *inputsOfTree) { s.sizes["small"] = "2" }, line("cpu", "{{ .sizes.cpu }}m")}, map[string]string{cpu: "form at stdin:LINE or lookup sizes"}},
		"a version":            {[]func(*inputsOfTree){func(s *inputsOfTree) { s.version = "v2" }}, map[string]string{}},
		"a version and a line": {[]func(*inputsOfTree){func(s *inputsOfTree) { s.version = "v2" }, line("motd", "hi")}, map[string]string{motd: "form at stdin:LINE or new version of lynqctl"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, inputs := newSite(t), newInputsOfTree("acme", "beta")
			if got := inputs.causes(s); len(got) > 0 {
				t.Errorf("new objects have causes: %v", got)
			}
			before := s.files()
			for _, edit := range tt.edits {
				edit(inputs)
			}
			got := inputs.causes(s)
			maps.DeleteFunc(got, func(at, _ string) bool { return strings.HasPrefix(at, "beta-web") }) // as acme-web
			if diff := cmp.Diff(inputs.stated(tt.want), got); diff != "" {
				t.Errorf("%s", diff)
			}
			if len(tt.want) == 0 && !cmp.Equal(before, s.files()) {
				t.Errorf("it changes the tree")
			}
			if got := inputs.causes(s); len(got) > 0 {
				t.Errorf("the second run changes %v", got)
			}
		})
	}
}

// TestUnknownCauses checks what a report says if a tree doesn't record everything: it names
// a cause only if no other one is possible.
func TestUnknownCauses(t *testing.T) {
	const plan, both, motd = "acme-web a stringData.plan", "acme-web a stringData.both", "acme-web a stringData.motd"
	reencode := func(s *site, change func(x *index.Index)) {
		x := s.index()
		change(x)
		s.write(index.FileName, string(x.Encode()))
	}
	older := func(s *site) {
		reencode(s, func(x *index.Index) {
			x.Lynqctl, x.Templates = "", nil
			for i := range x.Entries {
				x.Entries[i].Row = ""
			}
		})
	}
	lines := func(s *inputsOfTree) { s.rows["acme"]["plan"], s.a["motd"] = "iron", "hi" }
	for name, tt := range map[string]struct {
		tree func(*site)
		edit func(*inputsOfTree)
		want map[string]string
	}{
		"an earlier version":    {older, lines, map[string]string{plan: "unknown", both: "unknown", motd: "unknown"}},
		"a merge":               {func(s *site) { s.write(index.FileName, s.files()[index.FileName]+"{\"format\":1,\"last\":true}\n") }, lines, map[string]string{plan: "unknown", both: "unknown", motd: "unknown"}},
		"a killed run":          {func(s *site) { reencode(s, func(x *index.Index) { x.Unfinished = true }) }, lines, map[string]string{plan: "unknown", both: "unknown", motd: "unknown"}},
		"no row":                {func(s *site) { reencode(s, func(x *index.Index) { x.Entries[0].Row = "" }) }, lines, map[string]string{plan: "row (column plan)", both: "row", motd: "form at stdin:LINE"}},
		"no row and no version": {func(s *site) { reencode(s, func(x *index.Index) { x.Entries[0].Row, x.Lynqctl = "", "" }) }, lines, map[string]string{plan: "row or new version of lynqctl (column plan)", both: "row or new version of lynqctl", motd: "form at stdin:LINE"}},
		"two forms, one of them unknown": {func(s *site) {
			reencode(s, func(x *index.Index) {
				other := x.Forms[0]
				other.Digest = "0011223344556677"
				x.Forms = append(x.Forms, other)
			})
		}, lines, map[string]string{plan: "unknown", both: "unknown", motd: "unknown"}},
		"a secret": {func(*site) {}, func(s *inputsOfTree) { s.rows["acme"]["host"] = "x" }, map[string]string{both: "row (column host)", "acme-web b": "row (column host)"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, inputs := newSite(t), newInputsOfTree("acme", "beta")
			inputs.kind = "Secret"
			inputs.causes(s)
			tt.tree(s)
			tt.edit(inputs)
			got := inputs.causes(s)
			maps.DeleteFunc(got, func(at, _ string) bool { return strings.HasPrefix(at, "beta-web") })
			if diff := cmp.Diff(inputs.stated(tt.want), got); diff != "" {
				t.Errorf("%s", diff)
			}
			inputs.rows["acme"]["plan"] = "lead" // now the tree has recorded everything
			if diff := cmp.Diff(map[string]string{plan: "row (column plan)", both: "row (column plan)"}, inputs.causes(s)); diff != "" {
				t.Errorf("the next run: %s", diff)
			}
		})
	}
}

// TestUpgradeKeepsBytes checks that a tree of an earlier version doesn't change as long as
// nothing else changes.
func TestUpgradeKeepsBytes(t *testing.T) {
	s, inputs := newSite(t), newInputsOfTree("acme", "beta")
	inputs.version = ""
	p := inputs.program(t)
	in := inputs.input(t, p)
	for _, n := range in.Nodes {
		n.Row = ""
	}
	in.Templates = nil
	s.run(in)
	before := s.files()
	inputs.version = "v2"
	if got := inputs.causes(s); len(got) > 0 || !cmp.Equal(before, s.files()) {
		t.Errorf("an upgrade changes %v", got)
	}
	inputs.rows["acme"]["plan"] = "iron"
	inputs.causes(s)
	x := s.index()
	if x.Lynqctl != "v2" || len(x.Templates) != 1 || slices.ContainsFunc(x.Entries, func(e index.Entry) bool { return (e.Row == "") != e.Shared() }) {
		t.Errorf("the run that changes acme records %+v", x)
	}
}

// TestPartsOfNodes checks that the tree drops a node's row if the run changes only a part of
// the node's files.
func TestPartsOfNodes(t *testing.T) {
	s, inputs := newSite(t), newInputsOfTree("acme")
	inputs.causes(s)
	s.write("acme-web/configmap-acme-b.yaml", "mine")
	inputs.rows["acme"]["plan"] = "iron"
	inputs.causes(s)
	for _, e := range s.index().Entries {
		if e.Row != "" {
			t.Errorf("%s has a row", e.Path)
		}
	}
}

// TestGeneratedCauses edits rows, lines of the form and the lookup at random, often several
// at once, and compares the cause of each changed field with the true ones.
func TestGeneratedCauses(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var uids []string
	for i := range 100 {
		uids = append(uids, fmt.Sprintf("t%03d", i))
	}
	s, inputs := newSite(t), newInputsOfTree(uids...)
	s.quick = true
	inputs.causes(s)
	written := map[string]*inputsOfTree{} // what each node was last written from
	for _, uid := range uids {
		written[uid] = inputs.clone()
	}
	edits, fields, several, collisions := 0, 0, 0, 0
	for step := range 50 {
		form := inputs.clone()
		for range 2 + random.IntN(6) {
			inputs.edit(random, uids, step)
			edits++
		}
		got, changed := inputs.causes(s), map[string]bool{}
		for at, cause := range got {
			uid, _, _ := strings.Cut(at, "-web ")
			_, field, _ := strings.Cut(at, " ")
			changed[uid] = true
			want := inputs.stated(map[string]string{at: inputs.trueCause(form, written[uid], uid, field)})[at]
			switch {
			case inputs.collides(written[uid], uid):
				collisions++
			case cause != want:
				t.Fatalf("step %d: %s: %s, want %s", step, at, cause, want)
			}
			if fields++; strings.Contains(cause, " or ") {
				several++
			}
		}
		for uid := range changed {
			written[uid] = inputs.clone()
		}
	}
	if edits < 200 || fields < 3000 || several < 50 || collisions*50 > fields {
		t.Errorf("%d edits, %d fields, %d of them with several causes, %d with equal records of different values", edits, fields, several, collisions)
	}
}

func (s *inputsOfTree) clone() *inputsOfTree {
	c := &inputsOfTree{rows: map[string]map[string]string{}, sizes: maps.Clone(s.sizes), a: maps.Clone(s.a), b: maps.Clone(s.b), kind: s.kind, version: s.version}
	for uid, row := range s.rows {
		c.rows[uid] = maps.Clone(row)
	}
	return c
}

// edit changes something.
func (s *inputsOfTree) edit(random *rand.Rand, uids []string, step int) {
	value := fmt.Sprint("v", step, random.IntN(3))
	switch random.IntN(8) {
	case 0:
		s.a[[]string{"motd", "more"}[random.IntN(2)]] = value
	case 1:
		s.b[[]string{"motd", "more"}[random.IntN(2)]] = value
	case 2:
		s.a["plan"] = value + " {{ .plan }}"
	case 3:
		s.sizes[[]string{"small", "large"}[random.IntN(2)]] = value
	default:
		for range 1 + random.IntN(20) {
			row := s.rows[uids[random.IntN(len(uids))]]
			column := columnsOfTree()[random.IntN(5)]
			if row[column] = value; column == "size" {
				row[column] = []string{"small", "large"}[random.IntN(2)]
			}
			if column == "token" {
				row[column] = strings.Repeat("x", 1+random.IntN(5))
			}
		}
	}
}

// collides reports whether a changed value has the record of the one before. One of 65 536 has.
func (s *inputsOfTree) collides(written *inputsOfTree, uid string) bool {
	changed, size := s.changed[uid+"-web"], s.rows[uid]["size"]
	for _, c := range []string{"host", "plan", "size"} {
		if s.rows[uid][c] != written.rows[uid][c] && !changed[c] {
			return true
		}
	}
	return size == written.rows[uid]["size"] && s.sizes[size] != written.sizes[size] && !changed["lookup sizes"]
}

// trueCause compares a field with the form of the last run, and with what its node was last
// written from.
func (s *inputsOfTree) trueCause(form, written *inputsOfTree, uid, field string) string {
	id, name := field[:1], strings.TrimPrefix(field[2:], "stringData.")
	now, was := s.a[name], form.a[name]
	if id == "b" {
		now, was = s.b[name], form.b[name]
	}
	var causes, columns []string
	if now != was {
		causes = append(causes, "form at stdin:LINE")
	}
	differs := func(column string) bool { return s.rows[uid][column] != written.rows[uid][column] }
	for _, c := range []string{"host", "plan"} {
		if strings.Contains(now, "."+c) && differs(c) {
			columns = append(columns, c)
		}
	}
	lookup := ""
	if strings.Contains(now, ".sizes") {
		switch size := s.rows[uid]["size"]; {
		case differs("size"):
			columns = append(columns, "size")
		case s.sizes[size] != written.sizes[size]:
			lookup = "lookup sizes"
		}
	}
	if strings.Contains(now, ".token") { // nothing records it, but nothing else feeds the field
		columns = append(columns, "token")
	}
	if len(columns) > 0 {
		causes = append(causes, "row")
	}
	if lookup != "" {
		causes = append(causes, lookup)
	}
	text := strings.Join(causes, " or ")
	switch len(columns) {
	case 0:
		return text
	case 1:
		return text + " (column " + columns[0] + ")"
	}
	return text + " (columns " + strings.Join(columns, ", ") + ")"
}

// TestCausesAfterKills makes random runs, some of them killed, and wants each cause to be the
// true one, or unknown if the tree lacks a record because a run was killed.
func TestCausesAfterKills(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	var uids []string
	for i := range 12 {
		uids = append(uids, fmt.Sprintf("t%02d", i))
	}
	s, inputs := newSite(t), newInputsOfTree(uids...)
	s.quick = true
	inputs.causes(s)
	form, written := inputs.clone(), map[string]*inputsOfTree{}
	record := func(changed func(uid string) bool) {
		form = inputs.clone()
		for _, uid := range uids {
			if written[uid] == nil || changed(uid) {
				written[uid] = form
			}
		}
	}
	record(func(string) bool { return true })
	unknown, known, ended, collisions := 0, 0, 0, 0
	for step := range 150 {
		inputs.edit(random, uids, step)
		for range random.IntN(3) {
			before, lost := s.files(), s.index().Unfinished
			s.killed(inputs.input(t, inputs.program(t)), 1+random.IntN(40))
			if after := s.files(); !s.index().Unfinished && after[index.FileName] != before[index.FileName] { // only its end was killed
				ended++
				record(func(uid string) bool {
					return slices.ContainsFunc([]string{"a", "b"}, func(id string) bool {
						path := uid + "-web/configmap-" + uid + "-" + id + ".yaml"
						return lost || before[path] != after[path]
					})
				})
			}
			if random.IntN(3) == 0 { // else the next run has the same inputs
				inputs.edit(random, uids, step)
			}
		}
		lost, changed := s.index().Unfinished, map[string]bool{}
		for at, cause := range inputs.causes(s) {
			uid, _, _ := strings.Cut(at, "-web ")
			_, field, _ := strings.Cut(at, " ")
			changed[uid] = true
			want := "unknown"
			if !lost {
				want = inputs.stated(map[string]string{at: inputs.trueCause(form, written[uid], uid, field)})[at]
				known++
			} else {
				unknown++
			}
			switch {
			case cause == want:
			case inputs.collides(written[uid], uid):
				collisions++
			default:
				t.Fatalf("step %d: %s: %s, want %s", step, at, cause, want)
			}
		}
		record(func(uid string) bool { return lost || changed[uid] })
	}
	if unknown < 100 || known < 300 || ended == 0 || collisions*50 > known {
		t.Errorf("%d unknown causes, %d known ones, %d runs killed at their end, %d with equal records of different values", unknown, known, ended, collisions)
	}
}
