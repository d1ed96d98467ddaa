package robust_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// breakage is a lynqctl that breaks one promise, by other text in some files.
type breakage struct {
	name  string
	edits []edited
	// history is the recorded history that finds it, because random ones rarely do. It is ""
	// for the others.
	history string
}

// edited replaces a text in a file, which must contain it once.
type edited struct{ file, text, broken string }

// quickest is a breakage that the driver finds within seconds.
const quickest = "writes without recorded intent"

// breakages returns the broken promises that the driver must find.
func breakages() []breakage {
	return []breakage{
		{"deletes without a precondition", []edited{{
			"internal/kube/object.go",
			"return &metav1.Preconditions{UID: optional(permit.UID()), ResourceVersion: optional(permit.Version())}",
			"return nil",
		}}, ""},
		{quickest, []edited{{
			"pkg/apply/record.go",
			"next.Entries = append(inventory.Intent(next.Entries, desired), completed...)",
			"_, _ = desired, completed",
		}}, ""},
		{"takes labels for proof", []edited{{
			"pkg/apply/decide/gate.go",
			"case means(r, q.live):",
			"case r != nil:",
		}}, ""},
		{"deletes an object that changed since the list", []edited{{
			"internal/kube/object.go",
			"return &metav1.Preconditions{UID: optional(permit.UID()), ResourceVersion: optional(permit.Version())}",
			"return &metav1.Preconditions{UID: optional(permit.UID())}",
		}}, "taken-late"},
		{"takes a forged digest for proof", []edited{{
			"pkg/apply/decide/decide.go",
			"case !me.Tracked(o, l), !o.Marked(l):",
			"case !me.Tracked(o, l):",
		}}, "forged-digest"},
		{"deletes by an entry without a uid", []edited{{
			"pkg/apply/decide/adoption.go",
			`return r.UID == string(l.UID) || r.UID == "" && l.Written()`,
			`return r.UID == string(l.UID) || r.UID == ""`,
		}}, "forged-copy"},
		{"plans from a list that is older than the last write", []edited{{
			"internal/kube/list.go",
			"return metav1.ListOptions{LabelSelector: selector}",
			`return metav1.ListOptions{LabelSelector: selector, ResourceVersion: "0"}`,
		}}, ""},
		{"repeats work that has ended", []edited{{
			"pkg/apply/decide/decide.go",
			"case o.Ended(r) && (l == nil ||",
			"case o.Ended(nil) && (l == nil ||",
		}}, "job-ended"},
		{"takes a failed list for an empty one", []edited{{
			"pkg/apply/observe/objects.go",
			"o.unknown(refs, err)\n",
			"\n",
		}}, ""},
		{"a stage doesn't wait", []edited{{
			"pkg/apply/schedule/stages.go",
			"case s.open[k] > s.paused[k]:",
			"case false:",
		}}, "stage-adopted"},
		{"carries out a plan that holds no more", []edited{{
			"internal/usecase/session/planfile.go",
			"return plans, changesTold(changes, placeOf), err",
			"return plans, changesTold(changes[:0], placeOf), err",
		}}, ""},
		{"a shard deletes nodes of others", []edited{{
			"pkg/apply/decide/shard.go",
			"if !s.Has(m.uid()) {",
			"if m.node != nil && !s.Has(m.uid()) {",
		}}, ""},
		{"writes without its Lease", []edited{
			{"internal/usecase/session/locks.go", "if ls.Ctx = hub.Hold(ls.Ctx); len", "if hub.Hold(ls.Ctx); len"},
			{"internal/usecase/session/locks.go", "r.Client = r.Client.While(ls.check)", "_ = ls.check"},
		}, ""},
	}
}

// overlay writes the broken files, and returns the overlay with which the go command
// compiles them.
func (b *breakage) overlay(root, dir string) (path string, err error) {
	replaced := map[string]string{}
	for i, e := range b.edits {
		source := filepath.Join(root, e.file)
		read := source
		if broken := replaced[source]; broken != "" {
			read = broken
		}
		text, err := os.ReadFile(read)
		if err != nil {
			return "", err
		}
		if n := strings.Count(string(text), e.text); n != 1 {
			return "", fmt.Errorf("%s has this text %d times, and not once:\n%s", e.file, n, e.text)
		}
		replaced[source] = filepath.Join(dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(replaced[source], []byte(strings.Replace(string(text), e.text, e.broken, 1)), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}

// TestBreakages wants the files to contain the texts of all breakages.
func TestBreakages(t *testing.T) {
	t.Parallel()
	for _, b := range breakages() {
		if _, err := b.overlay("../..", t.TempDir()); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
	}
}

// TestBroken compiles this driver with each broken lynqctl, and wants the driver to find
// it. Only make robust-broken takes all of them. Otherwise, it takes the one that is found
// soonest.
func TestBroken(t *testing.T) {
	all := breakages()
	if os.Getenv("LYNQCTL_ROBUST_BROKEN") == "" {
		all = slices.DeleteFunc(all, func(b breakage) bool { return b.name != quickest })
	}
	if len(all) == 0 {
		t.Fatal("no breakage is called " + quickest)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		t.Run(b.name, func(t *testing.T) {
			dir := t.TempDir()
			overlay, err := b.overlay(root, dir)
			if err != nil {
				t.Fatal(err)
			}
			driver := filepath.Join(dir, "driver")
			build := exec.Command("go", "test", "-c", "-vet=off", "-overlay="+overlay, "-o", driver, "./test/robust")
			build.Dir = root
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			began := time.Now()
			found := b.find(t, driver)
			t.Logf("found after %s: %s", time.Since(began).Round(time.Second), found)
		})
	}
}

// A process of the driver runs this many histories in parallel, and this many are enough
// for each breakage. A time limit wouldn't work: a minute on one machine is ten on another.
const (
	atATime = 4
	enough  = 80
)

// find runs the driver until it finds a violation, and returns it.
func (b *breakage) find(t *testing.T, driver string) string {
	t.Helper()
	if b.history != "" {
		out, err := exec.CommandContext(t.Context(), driver, "-test.run=^TestHistoriesInMemory$/^"+b.history+"$").CombinedOutput()
		if _, failed := errors.AsType[*exec.ExitError](err); !failed {
			t.Fatalf("the driver found nothing in history %s", b.history)
		}
		return "in history " + b.history + ": " + violationIn(t, out)
	}
	for seed := 1; seed <= enough; seed += atATime {
		run := exec.CommandContext(t.Context(), driver, "-test.run=^TestMemory$")
		run.Env = append(os.Environ(), fmt.Sprintf("LYNQCTL_ROBUST_SEED=%d", seed), fmt.Sprintf("LYNQCTL_ROBUST_MEMORY_STEPS=%d", atATime*historySteps))
		out, err := run.CombinedOutput()
		if _, failed := errors.AsType[*exec.ExitError](err); !failed {
			continue
		}
		return fmt.Sprintf("from seed %d: %s", seed, violationIn(t, out))
	}
	t.Fatalf("the driver found nothing in %d histories", enough)
	return ""
}

// violationIn returns the first violation in the output of a driver.
func violationIn(t *testing.T, out []byte) string {
	t.Helper()
	_, violation, is := strings.Cut(string(out), "violations:\n")
	if !is {
		t.Fatalf("the driver failed otherwise:\n%s", out)
	}
	line, _, _ := strings.Cut(violation, "\n")
	return strings.TrimSpace(line)
}
