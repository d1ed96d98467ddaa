package command

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/lynqctl/lynqctl/test/inmemory/apiserver"
)

// editedField is a field of the form. Its value is the columns and a mark, which an edit of
// the form replaces.
type editedField struct {
	resource, name string
	columns        []string
	mark           int
}

// editedShop is a hub and a form that edits change.
type editedShop struct {
	*answered
	random *rand.Rand
	rows   []map[string]string
	fields []*editedField
	marks  int

	// What was edited since the last apply, for each row. Forms are keys of all rows.
	columns map[string]bool // ROW/COLUMN
	forms   map[string]bool // RESOURCE/FIELD
	hands   map[string]bool // ROW/RESOURCE/FIELD

	unseen int // changed fields whose cause doesn't name the columns that changed
}

var editedColumns = []string{"plan", "size", "motd"}

func newEditedShop(t *testing.T, managers *apiserver.Managers, seed uint64, tenants int) *editedShop {
	t.Helper()
	s := &editedShop{answered: newAnswered(t, managers, answer{}, nil), random: rand.New(rand.NewPCG(seed, 1))}
	for i := range tenants {
		row := map[string]string{"id": fmt.Sprintf("t%03d", i)}
		for _, c := range editedColumns {
			row[c] = s.value()
		}
		s.rows = append(s.rows, row)
	}
	s.fields = []*editedField{
		{resource: "a", name: "plan", columns: []string{"plan"}},
		{resource: "a", name: "both", columns: []string{"plan", "size"}},
		{resource: "a", name: "fixed"},
		{resource: "b", name: "motd", columns: []string{"motd"}},
		{resource: "b", name: "fixed"},
	}
	s.clean()
	return s
}

// value returns a value that nothing had before.
func (s *editedShop) value() string {
	s.marks++
	return "v" + strconv.Itoa(s.marks)
}

func (s *editedShop) clean() {
	s.columns, s.forms, s.hands = map[string]bool{}, map[string]bool{}, map[string]bool{}
}

// save writes hub, form and rows.
func (s *editedShop) save(t *testing.T) {
	t.Helper()
	form := `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: crm}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id}
  extraValueMappings: {plan: plan, size: size, motd: motd}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: crm
  configMaps:
`
	for _, resource := range []string{"a", "b"} {
		form += fmt.Sprintf("    - id: %s\n      nameTemplate: \"{{ .uid }}-%[1]s\"\n      spec:\n        apiVersion: v1\n        kind: ConfigMap\n        data:\n", resource)
		for _, f := range s.fields {
			if f.resource == resource {
				text := fmt.Sprintf("m%d", f.mark)
				for _, c := range f.columns {
					text += "-{{ ." + c + " }}"
				}
				form += fmt.Sprintf("          %s: %q\n", f.name, text)
			}
		}
	}
	s.write(t, "form.yaml", form)
	rows := "id," + strings.Join(editedColumns, ",") + "\n"
	for _, row := range s.rows {
		rows += row["id"]
		for _, c := range editedColumns {
			rows += "," + row[c]
		}
		rows += "\n"
	}
	s.write(t, "rows.csv", rows)
}

// edit changes a column in some rows, a line of the form, or fields of some objects.
func (s *editedShop) edit(t *testing.T, objects dynamic.NamespaceableResourceInterface) {
	t.Helper()
	some := func() []map[string]string {
		picked := slices.Clone(s.rows)
		s.random.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
		return picked[:1+s.random.IntN(len(picked))]
	}
	f := s.fields[s.random.IntN(len(s.fields))]
	switch s.random.IntN(3) {
	case 0:
		c := editedColumns[s.random.IntN(len(editedColumns))]
		for _, row := range some() {
			row[c] = s.value()
			s.columns[row["id"]+"/"+c] = true
		}
	case 1:
		s.marks++
		f.mark = s.marks
		s.forms[f.resource+"/"+f.name] = true
	case 2:
		for _, row := range some()[:1] {
			patch := fmt.Sprintf(`{"data":{%q:%q}}`, f.name, s.value())
			if _, err := objects.Namespace("shop").Patch(t.Context(), row["id"]+"-"+f.resource, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
				t.Fatal(err)
			}
			s.hands[row["id"]+"/"+f.resource+"/"+f.name] = true
		}
	}
}

// editedChange is a changed field in the JSON of diff.
type editedChange struct {
	Path, Cause string
	Columns     []string
}

// check compares the causes of all changed fields with what was edited. It returns their
// number.
func (s *editedShop) check(t *testing.T, said string) int {
	t.Helper()
	found := map[string]editedChange{} // by ROW/RESOURCE/FIELD
	for line := range strings.Lines(said) {
		var o struct {
			Type, Node, ID string
			Changes        []editedChange
		}
		if !strings.HasPrefix(line, "{") {
			continue
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		for _, c := range o.Changes {
			if name, ok := strings.CutPrefix(c.Path, ".data."); ok && o.Type == "object" {
				found[strings.TrimSuffix(o.Node, "-web")+"/"+o.ID+"/"+name] = c
			}
		}
	}
	checked := 0
	for _, row := range s.rows {
		for _, f := range s.fields {
			key := row["id"] + "/" + f.resource + "/" + f.name
			want := s.causes(row["id"], f)
			c, changed := found[key]
			if changed != (want.sure != "") {
				t.Errorf("%s: changed %t, because of %q", key, changed, want.sure)
				continue
			}
			if !changed {
				continue
			}
			checked++
			if !slices.Equal(c.Columns, want.columns) {
				s.unseen++
			}
			for _, problem := range want.wrong(c) {
				t.Errorf("%s: %+v: %s; %+v", key, c, problem, want)
			}
		}
	}
	return checked
}

// wantedCauses are the causes of a changed field. Those in sure must stand there. Those in
// may have changed something else of the object.
type wantedCauses struct {
	sure, may string // words, separated by spaces
	columns   []string
}

func (s *editedShop) causes(row string, f *editedField) wantedCauses {
	var want wantedCauses
	add := func(to *string, cause string) { *to = strings.TrimSpace(*to + " " + cause) }
	if s.forms[f.resource+"/"+f.name] {
		add(&want.sure, "form")
	}
	for _, c := range f.columns { // which are sorted
		if s.columns[row+"/"+c] {
			want.columns = append(want.columns, c)
		}
	}
	if len(want.columns) > 0 {
		add(&want.sure, "row")
	}
	if s.hands[row+"/"+f.resource+"/"+f.name] {
		add(&want.sure, "drift")
	}
	for _, other := range s.fields {
		if other.resource == f.resource && s.forms[other.resource+"/"+other.name] {
			add(&want.may, "form") // the record has one digest of the resource's template
		}
	}
	return want
}

// wrong says what is wrong about a cause.
func (w *wantedCauses) wrong(c editedChange) []string {
	var problems []string
	told := strings.Fields(strings.NewReplacer(",", " ", " or ", " ").Replace(c.Cause))
	for _, cause := range strings.Fields(w.sure) {
		if !slices.Contains(told, cause) && cause != "row" {
			problems = append(problems, "lacks "+cause)
		}
	}
	for _, cause := range told {
		if !slices.Contains(strings.Fields(w.sure+" "+w.may), cause) {
			problems = append(problems, "blames "+cause)
		}
	}
	return problems
}

// TestCausesOfMixedEdits edits rows, lines of the form and objects, several at once, and
// wants the true cause of each changed field. LYNQCTL_CAUSES=200 LYNQCTL_CAUSES_TENANTS=500
// does more.
func TestCausesOfMixedEdits(t *testing.T) {
	t.Parallel()
	managers, err := apiserver.NewManagers()
	if err != nil {
		t.Fatal(err)
	}
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	s := newEditedShop(t, managers, uint64(number("LYNQCTL_CAUSES_SEED", 1)), number("LYNQCTL_CAUSES_TENANTS", 20))
	client, err := dynamic.NewForConfig(&rest.Config{Host: "http://memory", Transport: s.server.Server, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	objects := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
	s.save(t)
	if code, said := s.run(t, "apply", "-f", s.dir, "-q"); code != 0 {
		t.Fatal(said)
	}
	checked := 0
	for range number("LYNQCTL_CAUSES", 12) {
		for range 1 + s.random.IntN(4) {
			s.edit(t, objects)
		}
		s.save(t)
		_, said := s.run(t, "diff", "-f", s.dir, "-o", "json")
		checked += s.check(t, said)
		if code, said := s.run(t, "apply", "-f", s.dir, "-q", "--max-change=100%"); code != 0 {
			t.Fatal(said)
		}
		s.clean()
		if t.Failed() {
			return
		}
	}
	if checked < 20 {
		t.Errorf("only %d changed fields", checked)
	}
	if s.unseen > 1+checked/50 { // the hub's note has eight bits of a value: one of 256 changes looks like none
		t.Errorf("%d of %d changed fields name other columns", s.unseen, checked)
	}
	t.Logf("%d changed fields; %d name other columns", checked, s.unseen)
}
