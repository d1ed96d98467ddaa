package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// live is an object of which lynq applied a and l, "ed" edited b, "sc" scaled r
// and no one manages n.
const live = `{"metadata":{"managedFields":[
	{"manager":"lynq","operation":"Apply","time":"2026-01-01T00:00:00Z","fieldsV1":{"f:spec":{"f:a":{},"f:l":{"k:{\"name\":\"x\"}":{".":{},"f:v":{}}},"f:whole":{}}}},
	{"manager":"old","operation":"Update","time":"2026-01-01T00:00:00Z","fieldsV1":{"f:spec":{"f:b":{}}}},
	{"manager":"ed","operation":"Update","time":"2026-01-02T00:00:00Z","fieldsV1":{"f:spec":{"f:b":{},"f:l":{"k:{\"name\":\"y\"}":{".":{},"f:name":{}}}}}},
	{"manager":"sc","operation":"Update","subresource":"scale","fieldsV1":{"f:spec":{"f:r":{}}}},
	{"manager":"ctl","operation":"Update","subresource":"status","fieldsV1":{"f:spec":{"f:n":{}}}}
]},"spec":{"a":1,"b":1,"l":[{"name":"x","v":1},{"name":"y"}],"n":1,"r":1,"whole":{"in":1}}}`

func TestCause(t *testing.T) {
	const ed = " at 2026-01-02T00:00:00Z"
	wanted := `{"spec":{"a":2,"b":2,"g":2,"l":[{"name":"x","v":2}],"n":2,"r":2,"whole":{"in":2}}}`
	sources := []Source{
		{Path: []string{"spec", "a"}, Columns: []string{"plan", "seats"}},
		{Path: []string{"spec", "b"}, Columns: []string{"plan"}},
		{Path: []string{"spec", "l", "[]", "v"}, Columns: []string{"size"}},
	}
	field := func(names ...string) Path {
		var p Path
		for _, n := range names {
			p = append(p, Element{Field: n})
		}
		return p
	}
	inList := append(field("spec", "l"), Element{Entry: true, Key: "name", Value: "x"})
	// As it was rendered last, but for the form; but for the row; but for lynqctl.
	form, row, version := Origin{SameVersion: true, Sources: sources}, Origin{SameForm: true, SameVersion: true, Sources: sources}, Origin{SameForm: true, Sources: sources}
	held := func(o Origin) Origin {
		o.Held = true
		return o
	}
	wholly := func(o Origin) Origin {
		o.Sources = append([]Source{{Columns: []string{"plan", "name"}}}, o.Sources...)
		return o
	}
	without := func(o Origin) Origin {
		o.Sources = nil
		return o
	}
	unchanged := func(o Origin, columns ...string) Origin {
		o.Unchanged = columns
		return o
	}
	lookedUp := func(o Origin) Origin {
		o.Sources = []Source{{Path: []string{"spec", "a"}, Columns: []string{"lookup sizes", "plan"}}}
		return o
	}
	nothing := func(o Origin) Origin {
		o.Desired = map[string]any{"spec": map[string]any{"l": []any{}}}
		return o
	}
	for _, tt := range []struct {
		name   string
		path   Path
		op     Op
		origin Origin
		want   string
	}{
		{"ours, fed by columns", field("spec", "a"), OpReplace, form, "form or row (columns plan, seats)"},
		{"one of the columns changed", field("spec", "a"), OpReplace, unchanged(form, "plan"), "form or row (column seats)"},
		{"none of the columns changed", field("spec", "a"), OpReplace, unchanged(form, "plan", "seats"), "form"},
		{"one of the columns changed, the same form", field("spec", "a"), OpReplace, unchanged(row, "seats"), "row (column plan)"},
		{"none of the columns changed, the same form", field("spec", "a"), OpReplace, unchanged(row, "plan", "seats"), "row (columns plan, seats)"},
		{"a lookup changed", field("spec", "a"), OpReplace, lookedUp(unchanged(row, "plan")), "lookup sizes"},
		{"the column of a lookup changed", field("spec", "a"), OpReplace, lookedUp(unchanged(row, "lookup sizes")), "row (column plan)"},
		{"a lookup or its column", field("spec", "a"), OpReplace, lookedUp(row), "row or lookup sizes (column plan)"},
		{"a lookup or the form", field("spec", "a"), OpReplace, lookedUp(unchanged(form, "plan")), "form or lookup sizes"},
		{"neither a lookup nor its column seems to have changed", field("spec", "a"), OpReplace, lookedUp(unchanged(row, "plan", "lookup sizes")), "row or lookup sizes (column plan)"},
		{"ours, in a list", inList.with(Element{Field: "v"}), OpReplace, form, "form or row (column size)"},
		{"ours, an entry whose field is fed", inList, OpReplace, form, "form or row (column size)"},
		{"ours, fed by none", field("spec", "whole", "in"), OpReplace, form, "form"},
		{"ours, and no program", field("spec", "whole", "in"), OpReplace, without(form), "form or row"},
		{"ours, and not wanted", field("spec", "a"), OpRemove, nothing(form), "form"},
		{"another's, taken or not", field("spec", "b"), OpReplace, form, "form, row or drift (column plan; held by ed" + ed + ")"},
		{"another's, and nobody took a field", field("spec", "b"), OpReplace, held(form), "form or row (column plan; held by ed" + ed + ")"},
		{"gone or new", field("spec", "g"), OpAdd, form, "form or drift"},
		{"gone or new, and no program", field("spec", "g"), OpAdd, without(form), "form, row or drift"},
		{"made by the server, when another column changed", field("spec", "whole", "in"), OpReplace, wholly(row), "row (columns name, plan)"},
		{"fed by a column, and written again for others", field("spec", "a"), OpReplace, wholly(row), "row (columns plan, seats)"},
		{"new", field("spec", "g"), OpAdd, held(form), "form"},

		{"the form says the same", field("spec", "a"), OpReplace, row, "row (columns plan, seats)"},
		{"the form says the same, and another holds it", field("spec", "b"), OpReplace, row, "row or drift (column plan; held by ed" + ed + ")"},
		{"the form says the same, and nobody took a field", field("spec", "b"), OpReplace, held(row), "row (column plan; held by ed" + ed + ")"},
		{"the form says the same, and no row says it", field("spec", "whole", "in"), OpReplace, row, "unknown"},
		{"the form says the same, and it is gone", field("spec", "g"), OpAdd, row, "drift"},
		{"an entry that the row named", inList, OpRemove, nothing(row), "row (column size)"},
		{"an entry that the row named, or the form had", inList, OpRemove, nothing(form), "form or row (column size)"},
		{"a field of the server's making", field("spec", "z"), OpReplace, held(nothing(row)), "row"},

		{"rendered by another", field("spec", "whole", "in"), OpReplace, version, "new version of lynqctl"},
		{"rendered by another, fed by columns", field("spec", "a"), OpReplace, version, "row or new version of lynqctl (columns plan, seats)"},
		{"rendered by another, and not wanted", field("spec", "a"), OpRemove, nothing(version), "new version of lynqctl"},
		{"rendered by another, and another holds it", field("spec", "g"), OpAdd, version, "drift or new version of lynqctl"},
		{"nothing is known", field("spec", "b"), OpReplace, Origin{}, "form, row, drift or new version of lynqctl (held by ed" + ed + ")"},

		{"another's, and the same is wanted", field("spec", "b"), OpReplace, Origin{Same: true}, "drift (ed" + ed + ")"},
		{"a subresource", field("spec", "r"), OpReplace, Origin{Same: true}, "drift (sc on scale)"},
		{"nobody's, and the same is wanted", field("spec", "n"), OpReplace, Origin{Same: true}, "drift"},
		{"gone, and the same is wanted", field("spec", "g"), OpAdd, Origin{Same: true}, "drift"},
		{"ours, and the same is wanted", field("spec", "a"), OpReplace, Origin{Same: true}, "unknown"},
		{"not wanted, and the same is wanted", field("spec", "q"), OpAdd, Origin{Same: true}, "unknown"},
		{"another's, replaced", field("spec", "b"), OpRemove, Origin{Same: true, Replaces: true, Desired: map[string]any{}}, "drift (ed" + ed + ")"},
		{"of the whole", field("spec", "b"), OpReplace, Origin{Whole: CauseAdopted}, "adopted (held by ed" + ed + ")"},
		{"of the whole, and ours", field("spec", "a"), OpReplace, Origin{Whole: CauseUnknown}, "unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.origin.Desired == nil {
				tt.origin.Desired = object(t, wanted)
			}
			l := object(t, live)
			got := tt.origin.cause(&Field{Path: tt.path, Op: tt.op}, managersOf(l), l)
			if got.String() != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestManagersOfOddities(t *testing.T) {
	l := object(t, `{"metadata":{"managedFields":[
		7, {"manager":"none"}, {"manager":"set","fieldsV1":{"f:f":{"v:\"x\"":{}},"f:at":{"i:1":{}},"f:bad":{"k:{":{}}}}
	]},"f":["w","x"],"at":[1,2],"bad":[{"name":"x"}]}`)
	all := managersOf(l)
	for _, tt := range []struct {
		path Path
		want bool
	}{
		{Path{{Field: "f"}, {Entry: true, Index: 1}}, true},
		{Path{{Field: "f"}, {Entry: true, Index: 0}}, false},
		{Path{{Field: "at"}, {Entry: true, Index: 1}}, true},
		{Path{{Field: "at"}, {Entry: true, Index: 5}}, false},
		{Path{{Field: "bad"}, {Entry: true, Key: "name", Value: "x"}}, false},
	} {
		if others, _ := managing(all, l, tt.path); (len(others) > 0) != tt.want {
			t.Errorf("%s: %v, want %t", tt.path, others, tt.want)
		}
	}
}

// Who manages a map looks like who manages all of it; who manages the field by
// itself is the one.
func TestManagerOfAFieldInAMapOfOurs(t *testing.T) {
	l := object(t, `{"metadata":{"managedFields":[
		{"manager":"lynq","operation":"Apply","fieldsV1":{"f:spec":{".":{}},"f:empty":{}}},
		{"manager":"shop","operation":"Update","fieldsV1":{"f:spec":{"f:seats":{}}}}
	]},"spec":{"seats":9,"other":1},"empty":{"x":1}}`)
	for _, tt := range []struct {
		path   Path
		others int
		ours   bool
	}{
		{Path{{Field: "spec"}, {Field: "seats"}}, 1, false},
		{Path{{Field: "spec"}, {Field: "other"}}, 0, true},
		{Path{{Field: "empty"}, {Field: "x"}}, 0, true},
		{Path{{Field: "spec"}}, 1, true},
		{Path{{Field: "none"}}, 0, false},
	} {
		others, ours := managing(managersOf(l), l, tt.path)
		if len(others) != tt.others || ours != tt.ours {
			t.Errorf("%s: %v and %t, want %d and %t", tt.path, others, ours, tt.others, tt.ours)
		}
	}
}

func TestSecretSources(t *testing.T) {
	o := Origin{
		Desired: object(t, `{"apiVersion":"v1","kind":"Secret","data":{"p":"eA=="}}`),
		Sources: []Source{{Path: []string{"stringData", "p"}, Columns: []string{"pw"}}},
		Held:    true, SameVersion: true,
	}
	got := o.cause(&Field{Path: Path{{Field: "data"}, {Field: "p"}}, Op: OpReplace}, nil, o.Desired)
	if d := cmp.Diff(Cause{Kind: "form or row", Columns: []string{"pw"}}, got); d != "" {
		t.Error(d)
	}
}

// TestOfObject finds the cause of a whole object among its form, its columns and the version.
func TestOfObject(t *testing.T) {
	sources := []Source{{Path: []string{"spec", "a"}, Columns: []string{"plan", "seats"}}, {Path: []string{"spec", "l", "[]", "v"}, Columns: []string{"lookup sizes", "size"}}}
	for name, tt := range map[string]struct {
		of   Origin
		want string
	}{
		"the form":               {Origin{SameVersion: true, Sources: sources, Unchanged: []string{"plan", "seats", "size", "lookup sizes"}}, "form"},
		"a column":               {Origin{SameForm: true, SameVersion: true, Sources: sources, Unchanged: []string{"plan", "size", "lookup sizes"}}, "row (column seats)"},
		"a lookup":               {Origin{SameForm: true, SameVersion: true, Sources: sources, Unchanged: []string{"plan", "seats", "size"}}, "lookup sizes"},
		"the version":            {Origin{SameForm: true, Sources: sources, Unchanged: []string{"plan", "seats", "size", "lookup sizes"}}, "new version of lynqctl"},
		"form and column":        {Origin{SameVersion: true, Sources: sources, Unchanged: []string{"plan", "seats", "lookup sizes"}}, "form or row (column size)"},
		"a column, at some time": {Origin{SameForm: true, SameVersion: true, Sources: sources[:1], Unchanged: []string{"plan", "seats"}}, "row (columns plan, seats)"},
		"no columns":             {Origin{SameVersion: true, Sources: []Source{}}, "form"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.of.OfObject().String(); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
