package watchcmd

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/source"
)

// stillAfter is the time between two readings of files that must be equal, because a
// program leaves a file incomplete while it writes.
const stillAfter = 500 * time.Millisecond

// still reads files until two readings in a row are equal, and returns their digest. If the
// first reading gives known, it needs no second one. The error is the end of the context.
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

// readStill reads a file that keeps still, and returns its digest. If someone changed the
// file during a read, that read doesn't count.
func readStill(ctx context.Context, known string, digestOf func() string, read func() error) (digest string, err error) {
	for {
		if digest, err = still(ctx, known, digestOf); err != nil {
			return "", err
		}
		if err = read(); ctx.Err() != nil || digestOf() == digest {
			return digest, err
		}
	}
}

// rowFile returns the digest of the file with the hub's rows. It returns "" if the rows
// come from no file, or it can't be read.
func (h *hubWatch) rowFile() string {
	connections, _ := load.RowSource{Override: h.o.Sources}.Locate(h.inputs.get().Hubs) // reading the rows reports the error
	if len(connections) != 1 {
		return ""
	}
	return source.FileDigest(connections[0])
}

// checkPipe refuses a pipe in the place of a file with rows: watch reads rows again and
// again, and the next read of a pipe would wait for its writer.
func (h *hubWatch) checkPipe() error {
	connections, _ := load.RowSource{Override: h.o.Sources}.Locate(h.inputs.get().Hubs) // reading the rows reports the error
	for _, c := range connections {
		if source.IsPipe(c) {
			return fmt.Errorf("%s is a pipe, which can't be read again (give watch a file or a server)", c.Path)
		}
	}
	return nil
}

// sparing returns the plans without deletions if they delete data too early. A file with
// errors may render the data for another hub. Or someone may still be writing a file:
// lynqctl deletes data only after three equal readings of the inputs and the rows' file.
// whole means that the plans have all nodes.
func (p *part) sparing(plans []plan.Plan, whole bool, now time.Time) []plan.Plan {
	taking := slices.ContainsFunc(plansOf(plans, p.hub.Key), func(p plan.Plan) bool { return p.TakesData() })
	if !taking {
		if whole {
			p.times.rereadFiles = time.Time{}
		}
		return plans
	}
	if p.in.partial {
		p.times.rereadFiles = time.Time{} // good inputs wake it
		return decide.Hold(plans, p.hub.Key, decide.UntilRead(p.hub.Key))
	}
	again := latest(p.in.files.Again(now, p.w.digest), p.rows.file.Again(now, p.rowFile))
	if !again.IsZero() && p.times.rereadFiles.IsZero() {
		p.w.engine.Notef("hub %s: lynqctl reads the files once more before it deletes data", p.hub.Key)
	}
	if p.times.rereadFiles = again; again.IsZero() {
		return plans
	}
	return decide.Hold(plans, p.hub.Key, decide.UntilRead(p.hub.Key))
}

// latest returns the latest of some times.
func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }
