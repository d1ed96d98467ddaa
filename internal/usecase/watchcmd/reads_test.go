package watchcmd

import (
	"errors"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// TestRowReads wants a read to replace the rows, and to say whether a node changed. The
// reading of a file stays as long as the file is the same.
func TestRowReads(t *testing.T) {
	t.Parallel()
	hub := lynq.HubKey{Namespace: "shop", Name: "us"}
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	read := func(uid, file string, at time.Duration) *hubRows {
		n := &plan.Node{NodeID: lynq.NodeID{Hub: hub, Namespace: "shop", Name: "acme-web", UID: uid}}
		return &hubRows{
			Rendering: applycmd.Rendering{Nodes: map[lynq.HubKey][]*plan.Node{hub: {n}}},
			file:      new(watch.NewReading(file, began.Add(at))), wanted: map[lynq.NodeKey]string{n.Key(): digestOf(n)},
		}
	}
	r := newRowReads()
	if r.any() || r.current() != nil || r.file() != "" || !r.nextExpiry().IsZero() {
		t.Error("there are rows before the first read")
	}
	for i, step := range []struct {
		rows           *hubRows
		changed, first bool
	}{
		{read("a", "1", 0), true, true},
		{read("a", "1", time.Second), false, false},
		{read("b", "2", 2*time.Second), true, false},
	} {
		if changed, first := r.take(step.rows); changed != step.changed || first != step.first || r.file() != step.rows.file.Digest {
			t.Errorf("read %d: changed %t, first %t, file %q", i, changed, first, r.file())
		}
		if i == 1 && *r.current().file != watch.NewReading("1", began) {
			t.Error("a second read of the same file counts as its first one")
		}
	}
	r.current().Nodes[hub][0].UID = "mine"
	if got := r.current().Nodes[hub][0].UID; got != "b" {
		t.Errorf("a caller changed the rows of others: %q", got)
	}
	r.fail([]inventory.Trouble{{Message: "down"}})
	if !r.any() || len(r.troubles()) != 1 {
		t.Error("a failed read takes the rows away, or isn't known")
	}
	if r.forget(); r.any() || len(r.troubles()) > 0 {
		t.Error("it still knows rows")
	}
}

// TestAskForRead wants everyone who asks to get the result of a read that begins later.
func TestAskForRead(t *testing.T) {
	t.Parallel()
	r := newRowReads()
	down := errors.New("down")
	during := r.begin() // the questions below come during this read
	first, second := r.ask(), r.ask()
	if len(during) > 0 {
		t.Error("an earlier read answers a later question")
	}
	<-r.asking
	asked := r.begin()
	for _, result := range asked {
		result <- down
	}
	if len(asked) != 2 || !errors.Is(<-first, down) || !errors.Is(<-second, down) {
		t.Errorf("%d asked", len(asked))
	}
	select {
	case <-r.asking:
		t.Error("it reads twice for one question")
	default:
	}
}
