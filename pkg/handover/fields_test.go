package handover

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// shown is managedFields in short: "manager operation/subresource fields".
func shown(entries []metav1.ManagedFieldsEntry) []string {
	var all []string
	for i := range entries {
		e := &entries[i]
		text := e.Manager + " " + string(e.Operation)
		if e.Subresource != "" {
			text += "/" + e.Subresource
		}
		all = append(all, text+" "+string(e.FieldsV1.GetRawBytes()))
	}
	return all
}

func TestTakenFields(t *testing.T) {
	status := entry(operatorManager, "Apply", `{"f:status":{}}`)
	status.Subresource = "status"
	const hash = `{"f:metadata":{"f:annotations":{"f:lynq.sh/applied-hash":{}}},"f:data":{}}`
	for name, tt := range map[string]struct {
		strategy lynq.PatchStrategy
		entries  []metav1.ManagedFieldsEntry
		want     []string // nil: nothing changes
	}{
		"applied": {lynq.PatchApply, []metav1.ManagedFieldsEntry{entry(operatorManager, "Apply", `{"f:data":{}}`), entry("kubectl", "Update", `{"f:a":{}}`), status},
			[]string{`kubectl Update {"f:a":{}}`, `lynq-operator Apply/status {"f:status":{}}`, `lynq Apply {"f:data":{}}`}},
		"joined with ours": {lynq.PatchApply, []metav1.ManagedFieldsEntry{entry("lynq", "Apply", `{"f:a":{}}`), entry(operatorManager, "Apply", `{"f:b":{}}`), entry("lynq", "Update", `{"f:c":{}}`)},
			[]string{`lynq Apply {"f:a":{},"f:b":{}}`, `lynq Update {"f:c":{}}`}},
		"a program's name, applied": {lynq.PatchApply, []metav1.ManagedFieldsEntry{entry("manager", "Update", hash)}, nil},
		"a program's name, merged": {lynq.PatchMerge, []metav1.ManagedFieldsEntry{entry("manager", "Update", hash), entry("other", "Update", `{"f:a":{}}`)},
			[]string{`other Update {"f:a":{}}`, "lynq Update " + hash}},
		"another controller of that name": {lynq.PatchReplace, []metav1.ManagedFieldsEntry{entry("manager", "Update", `{"f:a":{}}`)}, nil},
		"a status":                        {lynq.PatchMerge, []metav1.ManagedFieldsEntry{status}, nil},
		"ours":                            {lynq.PatchMerge, []metav1.ManagedFieldsEntry{entry("lynq", "Update", hash)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, changed, err := takenFields(tt.entries, tt.strategy)
			if err != nil {
				t.Errorf("%v", err)
			}
			want := tt.want
			if want == nil {
				want = shown(tt.entries)
			}
			if diff := cmp.Diff(want, shown(got)); diff != "" || changed != (tt.want != nil) {
				t.Errorf("changed %v (-want +got)\n%s", changed, diff)
			}
		})
	}
}

// TestTakenFieldsTime: what is joined is as new as the newer part.
func TestTakenFieldsTime(t *testing.T) {
	old, late := metav1.NewTime(time.Unix(1, 0)), metav1.NewTime(time.Unix(2, 0))
	ours, theirs := entry("lynq", "Apply", `{"f:a":{}}`), entry(operatorManager, "Apply", `{"f:b":{}}`)
	ours.Time, theirs.Time = &old, &late
	got, _, err := takenFields([]metav1.ManagedFieldsEntry{theirs, ours}, lynq.PatchApply)
	if err != nil || len(got) != 1 || !got[0].Time.Equal(&late) {
		t.Errorf("%v %v", got, err)
	}
}

func TestTakenFieldsRefused(t *testing.T) {
	old := entry("lynq", "Apply", `{"f:a":{}}`)
	old.APIVersion = "v1beta1"
	for want, entries := range map[string][]metav1.ManagedFieldsEntry{
		"applied it in version v1, and lynqctl in version v1beta1": {old, entry(operatorManager, "Apply", `{"f:b":{}}`)},
		`the fields that "manager" manages cannot be read`:         {entry("manager", "Update", `{"x`)},
	} {
		t.Run(want, func(t *testing.T) {
			if _, _, err := takenFields(entries, lynq.PatchMerge); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}
