package watch_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

func TestLedger(t *testing.T) {
	t.Parallel()
	var l watch.Progress[string]
	now := at(0)
	due := func(wanted map[string]string) string {
		return strings.Join(slices.Sorted(maps.Keys(l.Due(wanted, now))), " ")
	}
	check := func(what, want string, wanted map[string]string) {
		t.Helper()
		if got := due(wanted); got != want {
			t.Errorf("%s: due are %q, want %q", what, got, want)
		}
	}
	ends := func(wanted map[string]string, ends map[string]watch.End) { l.Settle(ends, wanted, now) }
	wanted := map[string]string{"a": "1", "b": "1", "c": "1"}
	check("nothing is known", "a b c", wanted)
	ends(wanted, map[string]watch.End{"a": watch.EndWell, "b": watch.EndFailed, "c": watch.EndInterrupted})
	check("one ended well, one did not, one was interrupted", "c", wanted)
	if l.Waiting("c") != 1 || l.Waiting("b") != 0 || !l.Next(time.Time{}).Equal(now.Add(watch.Pause(1))) {
		t.Errorf("%d nodes wait, until %s", l.Waiting("c"), l.Next(time.Time{}))
	}
	ends(wanted, map[string]watch.End{"c": watch.EndWell})
	check("a row changes", "a", map[string]string{"a": "2", "b": "1", "c": "1"})
	check("the row of what failed changes", "b", map[string]string{"a": "1", "b": "2", "c": "1"})
	check("a row goes, and that of what failed", "a b", map[string]string{"c": "1"})
	now = now.Add(watch.Pause(1))
	check("what failed has waited", "b", wanted)
	ends(wanted, map[string]watch.End{"b": watch.EndFailed})
	now = now.Add(watch.Pause(1))
	check("and waits longer", "", wanted)
	now = now.Add(watch.Pause(2) - watch.Pause(1))
	check("but not for ever", "b", wanted)
	ends(map[string]string{"a": "1", "b": "2", "c": "1"}, map[string]watch.End{"b": watch.EndFailed})
	if got := l.Next(time.Time{}).Sub(now); got != watch.Pause(1) {
		t.Errorf("with another row it waits %s", got)
	}
	one := map[string]string{"c": "1"}
	ends(one, map[string]watch.End{"a": watch.EndWell, "b": watch.EndFailed})
	check("what went is not known, what should go waits", "", one)
	check("its row comes back", "a b", wanted)
	ends(one, map[string]watch.End{"b": watch.EndInterrupted})
	check("it was interrupted while it went", "b", one)
	ends(one, map[string]watch.End{"b": watch.EndWell})
	check("and is gone", "", one)
	if l.Waiting("c") != 0 || !l.Next(time.Time{}).IsZero() {
		t.Errorf("%d nodes wait, until %s", l.Waiting("c"), l.Next(time.Time{}))
	}
}

func TestTake(t *testing.T) {
	t.Parallel()
	c := watch.NewChanges()
	a, b := lynq.Ref{Kind: "ConfigMap", Name: "a"}, lynq.Ref{Kind: "ConfigMap", Name: "b"}
	c.Note(a)
	c.Note(b, a)
	if objects, all := c.Take(); all || len(objects) != 2 || !objects[a] || !objects[b] {
		t.Errorf("took %v, all: %t", objects, all)
	}
	c.NoteAll()
	if objects, all := c.Take(); !all || len(objects) > 0 {
		t.Errorf("took %v, all: %t", objects, all)
	}
	c.Wake()
	if !c.Any() {
		t.Error("news are nothing to take")
	}
	if objects, all := c.Take(); all || len(objects) > 0 || c.Any() {
		t.Errorf("took %v, all: %t", objects, all)
	}
}
