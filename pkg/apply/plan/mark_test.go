package plan

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

func makeOne(t *testing.T, ref lynq.Ref, p lynq.Policy, row string, content map[string]any) Object {
	t.Helper()
	content["metadata"] = map[string]any{"name": ref.Name, "labels": map[string]any{"lynq.sh/hub": "crm"}}
	body, err := manifest.Encode(content)
	if err != nil {
		t.Fatal(err)
	}
	o, err := makeObject(&lynq.Object{Ref: ref, ID: "a", Policy: &p, Body: body}, row, "applyset-x-v1")
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestMark checks that a mark covers the manifest and never the row's columns, because
// readers of the object could test guesses for them.
func TestMark(t *testing.T) {
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	always := lynq.DefaultPolicy()
	always.OnNodeChange = true
	data := func(v string) map[string]any { return map[string]any{"data": map[string]any{"k": v}} }
	one := makeOne(t, ref, lynq.DefaultPolicy(), "row1", data("v"))
	if one.Mark == "" || one.Mark != one.Digest || one.Mark == makeOne(t, ref, lynq.DefaultPolicy(), "row1", data("w")).Mark {
		t.Errorf("mark %q, digest %q", one.Mark, one.Digest)
	}
	first, second := makeOne(t, ref, always, "row1", data("v")), makeOne(t, ref, always, "row2", data("v"))
	if first.Digest == second.Digest || first.Mark != second.Mark || first.Mark == one.Mark || strings.Contains(first.Mark, first.Digest) {
		t.Errorf("marks %q and %q, digests %q and %q", first.Mark, second.Mark, first.Digest, second.Digest)
	}
	for name, tt := range map[string]struct {
		o      Object
		digest string
		live   string
		form   bool
		record bool
	}{
		"written":                       {one, one.Digest, one.Mark, true, true},
		"before a forged entry":         {one, one.Digest, "0123456789abcdef", false, false},
		"by an earlier version":         {one, one.Digest, "", false, true},
		"with the row":                  {first, first.Digest, first.Mark, true, true},
		"with the row, another content": {first, first.Digest, "0123456789abcdef-row", false, true},
		"without the row":               {one, one.Digest, first.Mark, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := &tracking.Live{Mark: tt.live}
			r := &inventory.Entry{Ref: ref, Digest: tt.digest}
			if got := tt.o.Marked(l); got != tt.form {
				t.Errorf("the form's object is marked: %t", got)
			}
			if got := AsRecorded(Owner{}, r).MarkedAs(l).Marked(l); got != tt.record {
				t.Errorf("the recorded object is marked: %t", got)
			}
		})
	}
}
