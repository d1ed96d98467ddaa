package watch

import (
	"context"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/source"
)

// stillAfter is how far apart two readings of files are that must be equal: a program that
// writes a file leaves it incomplete meanwhile.
const stillAfter = 500 * time.Millisecond

// still reads files until two readings in turn are equal, and returns the digest that both
// gave. A first reading that gives known needs no second one. The error is why the context
// ended.
func still(ctx context.Context, known string, read func() string) (digest string, err error) {
	digest = read()
	if digest == known {
		return digest, nil
	}
	tick := time.NewTicker(stillAfter)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-tick.C:
		}
		next := read()
		if next == digest {
			return digest, nil
		}
		digest = next
	}
}

// rowFile is the digest of the file that the hub's rows come from, "" where they come from
// no file, or where it cannot be read.
func (h *hubWatch) rowFile() string {
	connections, _ := load.RowSource{Override: h.o.Sources}.Locate(h.inputs().Hubs) // reading the rows tells what is wrong
	if len(connections) != 1 {
		return ""
	}
	return source.FileDigest(connections[0])
}

// readFile is the digest of the file whose rows count, "" for none.
func (h *hubWatch) readFile() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rows == nil {
		return ""
	}
	return h.rows.file.Digest
}

// sparing is what is carried out of plans. Where they delete data, that is all but their
// deletions while a file with errors may render it for another hub, and until a third reading of the inputs, and of the rows' file, is equal to the
// others: what looked like a change may be a file that someone still writes. whole tells
// that the plans are of all nodes.
func (h *hubWatch) sparing(plans []plan.Plan, rows *hubRows, whole bool, now time.Time) []plan.Plan {
	taking := slices.ContainsFunc(plansOf(plans, h.hub.Key), func(p plan.Plan) bool { return p.TakesData() })
	if !taking {
		if whole {
			h.third = time.Time{}
		}
		return plans
	}
	if h.partial {
		h.third = time.Time{} // inputs that are good wake it
		return untilRead(plans, h.hub.Key)
	}
	again := latest(h.files.Again(now, h.w.digest), rows.file.Again(now, h.rowFile))
	if !again.IsZero() && h.third.IsZero() {
		h.w.engine.Notef("hub %s: lynqctl reads the files once more before it deletes data", h.hub.Key)
	}
	if h.third = again; again.IsZero() {
		return plans
	}
	return untilRead(plans, h.hub.Key)
}

// untilRead is what is carried out of plans until the files of a hub have been read again.
func untilRead(plans []plan.Plan, hub lynq.HubKey) []plan.Plan {
	i := slices.IndexFunc(plans, func(p plan.Plan) bool { return p.Hub == hub && !p.After })
	if i < 0 {
		return plans
	}
	return carrying(plans, i, decide.UntilRead(&plans[i]))
}

// latest is the latest of some times.
func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// thirdDue tells whether it is time to read files again whose changes delete data.
func (h *hubWatch) thirdDue(now time.Time) bool { return !h.third.IsZero() && !now.Before(h.third) }
