package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/render"
)

// formsOf returns forms with one Secret each, which has the name of its node.
func formsOf(names ...string) string {
	text := hubYAML
	for _, name := range names {
		text += strings.ReplaceAll(`
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: NAME}
spec:
  hubId: crm
  secrets:
  - {id: x, nameTemplate: "{{ .uid }}-of-NAME", targetNamespace: other, spec: {apiVersion: v1, kind: Secret}}
---`, "NAME", name)
	}
	return text
}

// recordedAs returns a function for plain names that inventories have.
func recordedAs(names ...string) func(*render.Program, string) bool {
	return func(p *render.Program, plain string) bool {
		for _, n := range names {
			if n == plain+" of "+p.Form.Name {
				return true
			}
		}
		return false
	}
}

// nodeNames renders the forms web and eu-web. It returns the names of nodes in the order
// of rows and forms, and marks failed ones.
func nodeNames(t *testing.T, s render.Settings, forms []string, uids ...string) ([]string, *render.Run) {
	t.Helper()
	var records []record
	for _, uid := range uids {
		records = append(records, record{"id": uid})
	}
	sink, run := writeAll(t, formsOf(forms...), s, records)
	var names []string
	for _, n := range sink.nodes {
		name := strings.TrimPrefix(n, "default/")
		if sink.failed[n] {
			name += " failed"
		} else if !strings.Contains(sink.stream.String(), "lynq.sh/node: "+name+"\n") {
			t.Errorf("no object bears the name of node %s:\n%s", name, sink.stream.String())
		}
		names = append(names, name)
	}
	return names, run
}

// TestNodeNames checks that a-b with form c, and a with form b-c, have different names. If
// an inventory has the common plain name, its node keeps that, and only the other one
// fails.
func TestNodeNames(t *testing.T) {
	for _, c := range []struct {
		settings render.Settings
		want     []string
		problem  string
	}{
		{render.Settings{}, []string{"a-b-c-e840729c", "a-c", "a-b-b-c-a2ab6819", "a-b-c"}, ""},
		{render.Settings{Recorded: recordedAs("a-b-b-c of b-c", "a-b-c of c", "a-c of c")}, []string{"a-b-c-e840729c", "a-c", "a-b-b-c", "a-b-c"}, ""},
		{
			render.Settings{KeepGoing: true, Recorded: recordedAs("a-b-c of b-c")}, []string{"a-b-c", "a-c", "a-b-b-c-a2ab6819", "a-b-c-2113b57a failed"},
			`stdin:19: row "a-b" renders node default/a-b-c, and row "a" with form "b-c" is recorded by that name (give the row another uid, or its form another name)`,
		},
	} {
		t.Run(c.problem, func(t *testing.T) {
			for _, workers := range []int{1, 3} {
				c.settings.Workers = workers
				got, run := nodeNames(t, c.settings, []string{"b-c", "c"}, "a", "a-b")
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Error(diff)
				}
				problem := ""
				if err := run.Err(); err != nil {
					problem = err.Error()
				}
				if diff := cmp.Diff(c.problem, problem); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestNarrowByEitherName checks that both names of a node select it. A plain name that
// another form's node might have doesn't.
func TestNarrowByEitherName(t *testing.T) {
	for _, c := range []struct {
		forms    string
		recorded string
		asked    string
		want     string
		missing  string
	}{
		{"b-c", "", "a-b-c-e840729c", "a-b-c-e840729c", ""},
		{"b-c", "", "a-b-c", "a-b-c-e840729c", ""},
		{"b-c", "", "a-b-c a-b-c-e840729c", "a-b-c-e840729c", ""},
		{"b-c", "a-b-c of b-c", "a-b-c", "a-b-c", ""},
		{"b-c", "a-b-c of b-c", "a-b-c-e840729c", "a-b-c", ""},
		{"b-c", "", "b-b-c", "", "b-b-c"},
		// These names belong to one node only.
		{"b-c c", "", "a-b-c", "a-b-c", ""},
		{"b-c c", "", "a-b-c-e840729c", "a-b-c-e840729c", ""},
		{"b-c a-b-c", "", "a-a-b-c", "", "a-a-b-c"},
		{"b-c a-b-c", "a-a-b-c of a-b-c", "a-a-b-c", "a-a-b-c", ""},
	} {
		t.Run(c.forms, func(t *testing.T) {
			s := render.Settings{Nodes: map[string]bool{}}
			for _, name := range strings.Fields(c.asked) {
				s.Nodes[name] = true
			}
			if c.recorded != "" {
				s.Recorded = recordedAs(c.recorded)
			}
			got, run := nodeNames(t, s, strings.Fields(c.forms), "a", "a-b")
			if want := strings.Fields(c.want); !cmp.Equal(want, got) && len(want)+len(got) > 0 {
				t.Errorf("%+v: got %q", c, got)
			}
			if missing := strings.Join(run.Missing(), " "); missing != c.missing {
				t.Errorf("%+v: missing %q", c, missing)
			}
		})
	}
}

// TestNodeNameOnce checks that a row asks Recorded only once, even if several places have
// the node's name.
func TestNodeNameOnce(t *testing.T) {
	asked := map[string]int{}
	nodeNames(t, render.Settings{Workers: 1, Nodes: map[string]bool{"a-b-c": true, "b-b-c": true}, Recorded: func(_ *render.Program, plain string) bool {
		asked[plain]++
		return plain == "a-b-c"
	}}, []string{"b-c"}, "a", "b")
	if diff := cmp.Diff(map[string]int{"a-b-c": 1, "b-b-c": 1}, asked); diff != "" {
		t.Error(fmt.Sprint(asked), diff)
	}
}
