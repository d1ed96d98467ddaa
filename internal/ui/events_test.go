package ui_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/evidence"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

const eventsDoc = "../../docs/events.md"

// examples returns the first event of each type in the story, and a refusal, as JSON lines.
func examples(t *testing.T) map[string]string {
	t.Helper()
	c := newConsole(ui.Options{Format: tty.JSON})
	c.tell(story())
	if err := c.result(plans()); err != nil {
		t.Fatal(err)
	}
	if c.err.Len() > 0 {
		t.Errorf("-o json also writes to standard error: %q", c.err)
	}
	no := newConsole(ui.Options{Format: tty.JSON})
	if err := no.Refuse([]plan.Refusal{{
		Guard: plan.GuardMaxDelete, Hub: crm(),
		What: "60 of 200 nodes would be deleted (t0001-web, t0002-web, t0003-web and 57 more), the limit is 50 (--max-delete=25%)", Fix: "check the rows; to do this anyway, pass --max-delete=60",
	}}); err != nil {
		t.Fatal(err)
	}
	first := map[string]string{}
	for line := range strings.Lines(c.out.String() + no.out.String()) {
		var e struct{ Type, Outcome string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if _, told := first[e.Type]; !told {
			first[e.Type] = line
		}
	}
	return first
}

// TestEventsDocument wants a section for each type of event, with the example that the code
// writes.
func TestEventsDocument(t *testing.T) {
	content, err := os.ReadFile(eventsDoc)
	if err != nil {
		t.Fatal(err)
	}
	section := regexp.MustCompile("(?ms)^## `([a-z-]+)`$(.*?)```json\n(.*?)```")
	examples := examples(t)
	if *update {
		content = section.ReplaceAllFunc(content, func(text []byte) []byte {
			m := section.FindSubmatch(text)
			return []byte("## `" + string(m[1]) + "`" + string(m[2]) + "```json\n" + examples[string(m[1])] + "```")
		})
		if err := os.WriteFile(eventsDoc, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	documented := map[string]string{}
	for _, m := range section.FindAllStringSubmatch(string(content), -1) {
		documented[m[1]] = m[3]
	}
	if diff := cmp.Diff(examples, documented); diff != "" {
		t.Errorf("docs/events.md (-code +document; go test -update rewrites examples):\n%s", diff)
	}
	for _, kind := range []report.EventType{report.EventPlan, report.EventNodeStart, report.EventObject, report.EventWait,
		report.EventReady, report.EventNode, report.EventWarning, report.EventLeaving, report.EventSummary, "refusal"} {
		t.Run(string(kind), func(t *testing.T) {
			if documented[string(kind)] == "" {
				t.Errorf("event %q has no section", kind)
			}
		})
	}
}

// TestEventsDocumentFields wants the document's table to have exactly the fields that
// events have. A name with a leading dot is a field below that of the name before.
func TestEventsDocumentFields(t *testing.T) {
	content, err := os.ReadFile(eventsDoc)
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[a-z][^|]*) \\|").FindAllStringSubmatch(string(content), -1) {
		below := ""
		for _, m := range regexp.MustCompile("`([a-zA-Z.\\[\\]]+)`").FindAllStringSubmatch(row[1], -1) {
			name := m[1]
			if strings.HasPrefix(name, ".") {
				name = below + name
			} else if i := strings.LastIndex(name, "."); i > 0 {
				below = name[:i]
			}
			documented[name] = true
		}
	}
	written := map[string]bool{"summary.dryRun": true, "summary.interrupted": true, "summary.unready[].ready": true} // JSON omits false
	all := newConsole(ui.Options{Format: tty.JSON})
	all.tell(story())
	all.Report(report.Event{Type: report.EventPlan, NodeID: lynq.NodeID{Hub: crm()}, Evidence: &evidence.Evidence{
		Where: &evidence.Where{Before: "a = 1", Now: "a = 2"}, Lookups: []string{"sizes"},
	}})
	all.Report(report.Event{Type: report.EventObject, Details: report.Details{Reason: plan.ReasonChanged, Cause: "row (column plan)"}})
	all.close(t)
	for line := range strings.Lines(all.out.String()) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		fields(e, "", written)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(written)), slices.Sorted(maps.Keys(documented))); diff != "" {
		t.Errorf("fields (-code +document):\n%s", diff)
	}
}

// fields collects the names of fields. The names in counts are words.
func fields(object map[string]any, prefix string, names map[string]bool) {
	for name, value := range object {
		names[prefix+name] = true
		if name == "summary" || name == "evidence" || strings.HasPrefix(prefix, "evidence.") {
			below, _ := value.(map[string]any)
			fields(below, prefix+name+".", names)
		}
		if list, ok := value.([]any); ok {
			for _, one := range list {
				if entry, ok := one.(map[string]any); ok {
					fields(entry, prefix+name+"[].", names)
				}
			}
		}
	}
}

// TestEventsOfNothing wants an empty plan to have a number, and missing counts to be empty.
func TestEventsOfNothing(t *testing.T) {
	c := newConsole(ui.Options{Format: tty.JSON})
	c.Report(report.Event{Type: report.EventPlan, NodeID: lynq.NodeID{Hub: crm()}})
	c.Report(report.Event{Type: report.EventSummary, Summary: &report.Summary{DryRun: true, Interrupted: true}})
	c.close(t)
	want := `{"type":"plan","schemaVersion":1,"time":"2026-03-04T04:06:07.089Z","hub":"crm","hubNamespace":"shop","nodes":0}
{"type":"summary","schemaVersion":1,"time":"2026-03-04T04:06:07.089Z","summary":{"nodes":{},"objects":{},"actions":{},"dryRun":true,"interrupted":true,"elapsedSeconds":0}}
`
	if diff := cmp.Diff(want, c.out.String()); diff != "" {
		t.Error(diff)
	}
}

// TestNothingToChange wants no line for a hub whose nodes only have something to record.
func TestNothingToChange(t *testing.T) {
	c := newConsole(ui.Options{})
	c.Report(report.Event{Type: report.EventPlan, NodeID: lynq.NodeID{Hub: crm()}, Nodes: 2, Counts: map[plan.Action]int{plan.ActionKeep: 2}})
	c.close(t)
	if c.err.Len()+c.out.Len() > 0 {
		t.Errorf("output %q%q, want none", c.out, c.err)
	}
	c = newConsole(ui.Options{})
	c.Report(report.Event{Type: report.EventPlan, NodeID: lynq.NodeID{Hub: crm()}, Nodes: 2, Counts: map[plan.Action]int{plan.ActionCreate: 2}})
	c.close(t)
	if !strings.Contains(c.err.String(), "2 to create") {
		t.Errorf("output %q, want what is created", c.err)
	}
}
