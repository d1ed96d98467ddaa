package lynq_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestReadinessText: what is written to the annotation reads back the same, and what
// people write is understood.
func TestReadinessText(t *testing.T) {
	for text, want := range map[string]lynq.Readiness{
		"has-observed-generation": {ObservedGeneration: true},
		"has-ready-condition":     {ReadyCondition: true},
		"conditions=A":            {Conditions: []string{"A"}},
		"values={.a}=1,2;{.b}":    {Values: []string{"{.a}=1,2", "{.b}"}},
		"has-observed-generation,has-ready-condition,conditions=A;B,values={.a}=x": {
			ObservedGeneration: true, ReadyCondition: true, Conditions: []string{"A", "B"}, Values: []string{"{.a}=x"}},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := lynq.ParseReadiness(text)
			if err != nil {
				t.Errorf("%q: %v", text, err)
				return
			}
			if diff := cmp.Diff(&want, got); diff != "" || got.String() != text {
				t.Errorf("%q is %q again; %s", text, got, diff)
			}
		})
	}
	if got, err := lynq.ParseReadiness(" conditions=A , has-ready-condition "); err != nil || got.String() != "has-ready-condition,conditions=A" {
		t.Errorf("%v %v", got, err)
	}
	for _, text := range []string{"", "ready", "conditions=", "conditions=A;;B", "values=", "has-ready-condition,,x"} {
		t.Run(text, func(t *testing.T) {
			if got, err := lynq.ParseReadiness(text); err == nil {
				t.Errorf("%q is %v", text, got)
			}
		})
	}
}

// TestReadyValue: paths and values as kubectl wait takes them.
func TestReadyValue(t *testing.T) {
	for text, want := range map[string]lynq.ReadyValue{
		"{.status.phase}=Running":  {Path: "{.status.phase}", Want: "Running"},
		".status.phase=Running":    {Path: "{.status.phase}", Want: "Running"},
		"status.phase = 'x y'":     {Path: "{.status.phase}", Want: "x y"},
		"{.a}=b=c":                 {Path: "{.a}", Want: "b=c"},
		"{.a}=":                    {Path: "{.a}"},
		"{.a}":                     {Path: "{.a}", Any: true},
		`{.a[?(@.t=="R")].s}=True`: {Path: `{.a[?(@.t=="R")].s}`, Want: "True"},
	} {
		t.Run(text, func(t *testing.T) {
			if got := lynq.ParseReadyValue(text); got != want {
				t.Errorf("%q: %+v, want %+v", text, got, want)
			}
		})
	}
}

// TestCompletes: only words for the end of work say that an object ends.
func TestCompletes(t *testing.T) {
	for text, want := range map[string]bool{
		"conditions=Ready;Complete":          true,
		"conditions=Succeeded":               true,
		"conditions=Synced":                  false,
		"has-ready-condition":                false,
		"values={.status.phase}=Completed":   true,
		"values={.status.phase}='Succeeded'": true,
		"values={.status.phase}=Running":     false,
		"values={.status.Completed}":         false,
	} {
		t.Run(text, func(t *testing.T) {
			r, err := lynq.ParseReadiness(text)
			if err != nil || r.Completes() != want {
				t.Errorf("%q: %v %v", text, r, err)
			}
		})
	}
	if (*lynq.Readiness)(nil).Completes() {
		t.Error("no readiness completes")
	}
}
