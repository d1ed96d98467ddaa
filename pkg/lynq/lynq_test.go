package lynq_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

func TestParseActive(t *testing.T) {
	for text, want := range map[string]string{
		"1": "true", "true": "true", "True": "true", "TRUE": "true", "yes": "true", "Yes": "true", "YES": "true", "t": "true", "on": "true",
		"0": "false", "false": "false", "False": "false", "FALSE": "false", "no": "false", "No": "false", "NO": "false", "f": "false", "off": "false", "": "false",
		"treu": "error", "2": "error", "1\t": "error", "ON": "error", "y": "error", "null": "error", "T": "error",
	} {
		t.Run(text, func(t *testing.T) {
			active, err := lynq.ParseActive(text)
			got := fmt.Sprint(active)
			if err != nil {
				got = "error"
			}
			if got != want {
				t.Errorf("ParseActive(%q) = %s, want %s", text, got, want)
			}
		})
	}
}

// TestActivity: the lists of a hub take the place of the usual words.
func TestActivity(t *testing.T) {
	words := lynq.Activity{Active: []string{"active", "trial"}, Inactive: []string{"suspended", ""}}
	for text, want := range map[string]string{"active": "true", "trial": "true", "suspended": "false", "": "false", "1": "error", "Active": "error", "frozen": "error"} {
		t.Run(text, func(t *testing.T) {
			active, err := words.Of(text)
			got := fmt.Sprint(active)
			if err != nil {
				got = "error"
			}
			if got != want {
				t.Errorf("Of(%q) = %s, want %s", text, got, want)
			}
		})
	}
	if _, err := (lynq.Activity{Active: []string{"on"}}).Of(""); err == nil {
		t.Error("NULL is in no list, and yet no error")
	}
	if active, err := (lynq.Activity{}).Of("yes"); err != nil || !active {
		t.Errorf("without lists: %t, error %v", active, err)
	}
}

// TestSecret: no way of printing shows a secret.
func TestSecret(t *testing.T) {
	c := endpoint.Connection{Type: endpoint.SourceMySQL, Password: "hunter2"}
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []string{
		fmt.Sprint(c.Password), fmt.Sprintf("%s %q %v %x %d %#v", c.Password, c.Password, c.Password, c.Password, c.Password, c.Password),
		fmt.Sprintf("%v %+v %#v", c, c, c), string(b),
	} {
		t.Run(got, func(t *testing.T) {
			if want := endpoint.Redacted; !strings.Contains(got, want) || strings.Contains(got, "hunter2") || strings.Contains(got, "68756e74657232") {
				t.Errorf("a secret prints as %s", got)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	var ps lynq.Problems
	if ps.Err() != nil {
		t.Error("no problem is an error")
	}
	ps.Add(lynq.Pos{File: "b.yaml", Line: 2}, "mend it", "bad %d", 1)
	ps.Add(lynq.Pos{File: "a.yaml", Line: 10}, "", "second")
	ps.Add(lynq.Pos{File: "a.yaml", Line: 9}, "", "first")
	ps.Add(lynq.Pos{File: "a.yaml", Line: 9}, "", "first")
	ps.Add(lynq.Pos{File: "c.yaml"}, "", "whole")
	want := "a.yaml:9: first\na.yaml:10: second\nb.yaml:2: bad 1 (mend it)\nc.yaml: whole"
	if diff := cmp.Diff(want, ps.Err().Error()); diff != "" {
		t.Error(diff)
	}
}

func TestRef(t *testing.T) {
	for want, ref := range map[string]lynq.Ref{
		"Deployment/default/acme-app": {Group: "apps", Kind: "Deployment", Namespace: "default", Name: "acme-app"},
		"Namespace/acme-ns":           {Kind: "Namespace", Name: "acme-ns"},
	} {
		t.Run(want, func(t *testing.T) {
			if got := ref.String(); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
	if g, v := lynq.SplitAPIVersion("apps/v1"); g != "apps" || v != "v1" {
		t.Error(g, v)
	}
	if g, v := lynq.SplitAPIVersion("v1"); g != "" || v != "v1" {
		t.Error(g, v)
	}
}
