package ready_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

const rules = "1 v1.2.3"

// objects returns n Deployments and claims, each with a version.
func objects(n int) []ready.Noted {
	all := make([]ready.Noted, n)
	for i := range all {
		all[i] = ready.Noted{
			Ref: lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: fmt.Sprint("a", i)},
			UID: types.UID(fmt.Sprint("u", i)), Version: fmt.Sprint(i),
		}
		if i%2 == 1 {
			all[i].Group, all[i].Kind = "", "PersistentVolumeClaim"
		}
	}
	return all
}

// TestUnchanged checks that an object as noted is sure, in any order.
func TestUnchanged(t *testing.T) {
	for _, n := range []int{1, 2, 31, 33, 1000, 100_000} {
		all := objects(n)
		note := ready.EncodeNotes(all, rules, "")
		if len(note) > 17<<10 {
			t.Errorf("%d objects: a note of %d bytes", n, len(note))
		}
		slices.Reverse(all)
		if unsure := ready.ParseNotes(note, rules).Unsure(all, ""); len(unsure) > 0 {
			t.Errorf("%d objects: %d of them are unsure", n, len(unsure))
		}
	}
}

// TestChanged checks that an object is unsure if its uid or version changed, or if it
// wasn't ready. It makes only few others unsure.
func TestChanged(t *testing.T) {
	const n, at = 5000, 1234
	for name, change := range map[string]func(all []ready.Noted){
		"version": func(all []ready.Noted) { all[at].Version = "x" },
		"uid":     func(all []ready.Noted) { all[at].UID = "x" },
		"gone":    func(all []ready.Noted) { all[at].UID, all[at].Version = "", "" },
		"group":   func(all []ready.Noted) { all[at].Group = "x" },
	} {
		t.Run(name, func(t *testing.T) {
			all := objects(n)
			note := ready.EncodeNotes(all, rules, "")
			change(all)
			unsure := ready.ParseNotes(note, rules).Unsure(all, "")
			if !unsure[all[at].Ref] || len(unsure) > 200 {
				t.Errorf("%d objects are unsure, and among them the changed one: %t", len(unsure), unsure[all[at].Ref])
			}
		})
	}
	all := objects(n)
	unready := slices.Clone(all)
	unready[at].UID, unready[at].Version = "", ""
	if unsure := ready.ParseNotes(ready.EncodeNotes(unready, rules, ""), rules).Unsure(all, ""); !unsure[all[at].Ref] || len(unsure) > 200 {
		t.Errorf("an object that was not ready: %d are unsure", len(unsure))
	}
	// One object more or less affects only those in its bucket.
	note := ready.EncodeNotes(all, rules, "")
	if unsure := ready.ParseNotes(note, rules).Unsure(all[1:], ""); len(unsure) == 0 || len(unsure) > 200 {
		t.Errorf("an object less: %d are unsure", len(unsure))
	}
}

// TestClasses checks that the readiness of claims depends on the noted storage classes.
func TestClasses(t *testing.T) {
	all := objects(1000)
	classes := ready.ShortDigest("standard true\n")
	note := ready.ParseNotes(ready.EncodeNotes(all, rules, classes), rules)
	if note.Classes() != classes || len(note.Unsure(all, classes)) > 0 {
		t.Errorf("classes %q, and %d unsure", note.Classes(), len(note.Unsure(all, classes)))
	}
	unsure := note.Unsure(all, ready.ShortDigest("standard false\n"))
	for _, o := range all {
		if o.Kind == "PersistentVolumeClaim" && !unsure[o.Ref] {
			t.Fatalf("%s is sure", o.Ref)
		}
	}
}

// TestForged checks that a text which isn't a note, or has other rules, knows no objects.
func TestForged(t *testing.T) {
	all := objects(3)
	note := ready.EncodeNotes(all, rules, "")
	for _, text := range []string{"", "x", "a b c", note + "A", note[1:], strings.TrimRight(note, "=") + " x", strings.Repeat(note, 2), note[:strings.LastIndex(note, " ")+1]} {
		t.Run(text, func(t *testing.T) {
			if unsure := ready.ParseNotes(text, rules).Unsure(all, ""); len(unsure) != len(all) {
				t.Errorf("%q: %d are unsure", text, len(unsure))
			}
		})
	}
	if unsure := ready.ParseNotes(note, "2 v1.2.3").Unsure(all, ""); len(unsure) != len(all) {
		t.Errorf("other rules: %d are unsure", len(unsure))
	}
	// An object without uid and version doesn't count as seen.
	nothing := []ready.Noted{{Ref: all[0].Ref}}
	if unsure := ready.ParseNotes(ready.EncodeNotes(nothing, rules, ""), rules).Unsure(nothing, ""); len(unsure) != 1 {
		t.Error("an object that was not seen is sure")
	}
}
