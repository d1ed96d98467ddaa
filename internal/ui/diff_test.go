package ui_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/diff"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// differences returns a report with an object that contains unprintable characters.
func differences() *diff.Report {
	field := func(name string, c diff.Cause) diff.Field {
		return diff.Field{Path: diff.Path{{Field: "data"}, {Field: name}}, Op: diff.OpReplace, Before: "a\x1b[2J", After: int64(2), Cause: c}
	}
	return &diff.Report{Total: 4, Refusals: []limits.Refusal{{Guard: "max-delete", Hub: crm(), What: "too many", Fix: "check\x1b[2J"}}, Nodes: []diff.Node{
		{NodeID: lynq.NodeID{Hub: crm(), Form: lynq.FormKey{Name: "web"}, Namespace: "shop", Name: "acme-web"}, Objects: []diff.Object{
			{
				Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "acme"}, ID: "settings", Action: "update", Reason: "Changed", Note: "took \x1b[2J",
				Fields: []diff.Field{
					field("a", diff.Cause{Kind: diff.CauseForm}),
					field("b", diff.Cause{Kind: diff.CauseDrift, Manager: &diff.Manager{Name: "ed\u202e", Time: "T"}}),
				},
				Diff: "--- live\n+++ next\n@@ -1 +1 @@\n  b: \x1b[2J\n-a: 1\n+a: 2\n",
			},
			{Ref: lynq.Ref{Group: "g", Kind: "Role", Name: "r"}, Action: "orphan", Tracking: true, Cause: diff.Cause{Kind: diff.CauseRemoved}},
			{Ref: lynq.Ref{Kind: "Secret", Namespace: "shop", Name: "s"}, Action: "create", Problem: "no\x1b[2J"},
			{Ref: lynq.Ref{Kind: "Secret", Namespace: "shop", Name: "t"}, Action: "create", Skipped: true, Note: "s failed"},
		}},
		{NodeID: lynq.NodeID{Hub: crm(), Form: lynq.FormKey{Name: "web"}, Namespace: "shop", Name: "bolt-web"}, Problem: "it could not\nbe rendered"},
	}}
}

func TestPrintDiff(t *testing.T) {
	var out bytes.Buffer
	if err := ui.PrintDiff(differences(), ui.Expand{}, ui.StreamTo(&out, tty.Stream{})); err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(`
acme-web  ConfigMap shop/acme  update
  .data.a   form
  .data.b   drift (ed\u202e at T)
  took \x1b[2J
--- live
+++ next
@@ -1 +1 @@
  b: \x1b[2J
-a: 1
+a: 2
acme-web  Role r  orphan: removed from the form
  only the labels, annotations, and owner references that track it change
`, "\n")
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
	out.Reset()
	if err := ui.PrintDiff(differences(), ui.Expand{}, ui.StreamTo(&out, tty.Stream{Color: true})); err != nil {
		t.Fatal(err)
	}
	for _, colored := range []string{"\x1b[31m-a: 1\x1b[m\n", "\x1b[32m+a: 2\x1b[m\n", "\x1b[1m--- live\x1b[m\n", "\n  b: \\x1b[2J\n"} {
		t.Run(colored, func(t *testing.T) {
			if !strings.Contains(out.String(), colored) {
				t.Errorf("%q lacks %q", out.String(), colored)
			}
		})
	}
}

func TestPrintDiffProblems(t *testing.T) {
	var out bytes.Buffer
	ui.PrintDiffProblems(differences(), ui.StreamTo(&out, tty.Stream{}))
	want := strings.TrimPrefix(`
refused (max-delete): hub shop/crm: too many
  check\x1b[2J
acme-web  Secret shop/s  apply would fail: no\x1b[2J
acme-web  Secret shop/t  would be left as it is: s failed
bolt-web  failed: it could not; be rendered
1 of 4 nodes would change: 2 objects, 2 failed
`, "\n")
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

// TestPrintDiffManyFailed: nodes that each fail for a cause of their own have few lines.
func TestPrintDiffManyFailed(t *testing.T) {
	r := &diff.Report{Total: 23}
	for i := range 23 {
		n := diff.Node{NodeID: lynq.NodeID{Namespace: "shop", Name: fmt.Sprintf("t%02d-web", i)}}
		n.Problem = "it failed to render: " + strings.Repeat("x", i) + " is no number"
		r.Nodes = append(r.Nodes, n)
	}
	var out bytes.Buffer
	ui.PrintDiffProblems(r, ui.StreamTo(&out, tty.Stream{}))
	text := out.String()
	if n := strings.Count(text, "is no number\n"); n != 20 || !strings.Contains(text, "\n3 more nodes  failed: pass -o json to list them\n") {
		t.Errorf("%d nodes have a line:\n%s", n, text)
	}
}

func TestPrintDiffJSON(t *testing.T) {
	var out bytes.Buffer
	if err := ui.PrintDiffJSON(differences(), &out); err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(`
{"type":"refusal","hub":"crm","hubNamespace":"shop","reason":"max-delete","message":"too many (check\u001b[2J)"}
{"type":"group","hub":"crm","hubNamespace":"shop","form":"web","kind":"ConfigMap","id":"settings","action":"update","changeGroup":{"number":1,"nodes":1,"objects":1,"causes":["form","drift (ed\u202e)"],"fields":[{"path":".data.a","op":"replace","before":"\"a\\u001b[2J\"","after":"2","cause":"form"},{"path":".data.b","op":"replace","before":"\"a\\u001b[2J\"","after":"2","cause":"drift (ed\u202e)"}],"members":[{"node":"acme-web","namespace":"shop","objectNamespace":"shop","name":"acme"}]}}
{"type":"group","hub":"crm","hubNamespace":"shop","form":"web","group":"g","kind":"Role","action":"orphan","changeGroup":{"number":2,"nodes":1,"objects":1,"causes":["removed from the form"],"members":[{"node":"acme-web","namespace":"shop","name":"r"}]}}
{"type":"object","hub":"crm","hubNamespace":"shop","form":"web","node":"acme-web","namespace":"shop","kind":"ConfigMap","objectNamespace":"shop","name":"acme","id":"settings","action":"update","reason":"Changed","message":"took \u001b[2J","changes":[{"path":".data.a","op":"replace","before":"a\u001b[2J","after":2,"cause":"form"},{"path":".data.b","op":"replace","before":"a\u001b[2J","after":2,"cause":"drift","manager":{"name":"ed\u202e","time":"T"}}],"diff":"--- live\n+++ next\n@@ -1 +1 @@\n  b: \u001b[2J\n-a: 1\n+a: 2\n"}
{"type":"object","hub":"crm","hubNamespace":"shop","form":"web","node":"acme-web","namespace":"shop","group":"g","kind":"Role","name":"r","action":"orphan","cause":"removed from the form","tracking":true}
{"type":"object","hub":"crm","hubNamespace":"shop","form":"web","node":"acme-web","namespace":"shop","kind":"Secret","objectNamespace":"shop","name":"s","action":"create","outcome":"failed","message":"no\u001b[2J"}
{"type":"object","hub":"crm","hubNamespace":"shop","form":"web","node":"acme-web","namespace":"shop","kind":"Secret","objectNamespace":"shop","name":"t","action":"create","outcome":"skipped","message":"s failed"}
{"type":"node","hub":"crm","hubNamespace":"shop","form":"web","node":"bolt-web","namespace":"shop","outcome":"failed","message":"it could not\nbe rendered"}
{"type":"summary","counts":{"nodes":4,"changedNodes":1,"changedObjects":2,"problems":2}}
`, "\n")
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

func TestPrintDiffNames(t *testing.T) {
	r := differences()
	r.Nodes[0].Objects = append(r.Nodes[0].Objects, r.Nodes[0].Objects[0])
	var out bytes.Buffer
	if err := ui.PrintDiffNames(r, ui.StreamTo(&out, tty.Stream{})); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("ConfigMap/shop/acme\nRole.g/r\n", out.String()); d != "" {
		t.Error(d)
	}
}
