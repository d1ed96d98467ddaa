package lynq_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestPolicies: the table agrees with itself, and with what inventories record.
func TestPolicies(t *testing.T) {
	byField, recorded := map[string]lynq.PolicyField{}, map[string]bool{}
	for _, f := range lynq.Policies() {
		byField[f.Field] = f
		recorded[f.Recorded] = true
	}
	for _, f := range lynq.Policies() {
		if f.Kind == lynq.WordPolicy && f.Default != "" && !slices.Contains(f.Values, f.Default) {
			t.Errorf("%s: the default %s is not one of its values", f.Field, f.Default)
		}
		for word, same := range f.Synonyms {
			if !slices.Contains(f.Values, same) {
				t.Errorf("%s: %s stands for %s, which is not one of its values", f.Field, word, same)
			}
		}
		for _, c := range f.Contradicts {
			if other := byField[c.Field]; c.Be != other.Default || c.Value != "" && !slices.Contains(f.Values, c.Value) {
				t.Errorf("%s: %+v, and the default is %q", f.Field, c, other.Default)
			}
		}
	}
	lifecycle := reflect.TypeFor[lynq.Lifecycle]()
	for i := range lifecycle.NumField() {
		name, _, _ := strings.Cut(lifecycle.Field(i).Tag.Get("json"), ",")
		if !recorded[name] {
			t.Errorf("no policy is recorded as %s", name)
		}
	}
	if delete(recorded, ""); len(recorded) != lifecycle.NumField() || len(byField) != len(lynq.Policies()) {
		t.Errorf("%d policies are recorded, in %d fields; %d have names, of %d", len(recorded), lifecycle.NumField(), len(byField), len(lynq.Policies()))
	}
}

// TestPolicyValues: each value is read as it is set, and says itself where it is recorded.
func TestPolicyValues(t *testing.T) {
	for _, f := range lynq.Policies() {
		if f.Kind == lynq.OtherPolicy {
			continue
		}
		for _, value := range sampleValues(&f) {
			p := lynq.DefaultPolicy()
			f.Set(&p, value)
			got := f.Get(&p)
			means := f.Field == "reconcilePolicy" && value == string(lynq.ReconcileOnce) && p.Creation == lynq.CreateOnce
			if got != value && !means && (got != "" || value != f.Default) {
				t.Errorf("%s: %s is read as %q", f.Field, value, got)
			}
			if says := f.Said(&p); (says != "") != (f.Always || value != f.Default) && !means {
				t.Errorf("%s: %s says %q", f.Field, value, says)
			}
		}
	}
}

// sampleValues are all values of a policy, or some.
func sampleValues(f *lynq.PolicyField) []string {
	switch f.Kind {
	case lynq.WavePolicy:
		return []string{"-3", "7"}
	case lynq.FlagPolicy:
		return []string{"true", "false"}
	case lynq.SecondsPolicy:
		return []string{"1", "3600"}
	case lynq.IntervalPolicy:
		return []string{"24h0m0s"}
	}
	return f.Values
}
