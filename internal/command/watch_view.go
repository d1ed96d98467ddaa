package command

import (
	"time"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// watchView shows a run that doesn't end, as a log.
type watchView struct {
	session.View
	log *ui.Log
}

// mostUnread limits the text that waits for a reader of the log.
const mostUnread = 4 << 20

// lossyLog makes a log drop lines that nobody reads, because the work of a watch must go on.
func lossyLog(a *app, format string, told *board) tty.Lossy {
	l := tty.Lossy{
		Most: mostUnread, Dropped: told.LogDropped,
		Note: func(lines int) []byte { return ui.DroppedRecord(format == logJSON, lines) },
	}
	a.World.Stdout.Lossy(l)
	a.World.Stderr.Lossy(l)
	return l
}

// newWatchView shows a watch on standard error until the caller calls closed. A terminal gets a
// table of the hubs below the log, and other outputs get the log alone. A log for programs
// has no table.
func newWatchView(a *app, format string, told *board) (v *watchView, closed func()) {
	lossy := lossyLog(a, format, told)
	out := a.ErrOut()
	v = &watchView{View: a.View("")}
	if !out.Terminal || a.Common.Quiet || format == logJSON {
		v.log = ui.NewLog(out, format == logJSON)
		return v, func() {}
	}
	screen := ui.NewScreen(out)
	screen.Lossy(lossy)
	v.log = ui.NewLogAbove(screen)
	ticker := time.NewTicker(ui.Redraw)
	screen.Follow(ticker.C, func(now time.Time) *list.List {
		hubs, badInputs := told.facts()
		return ui.WatchList(hubs, badInputs, now)
	})
	return v, func() {
		ticker.Stop()
		_ = screen.Close() // the run has ended, even if the screen can't show that
	}
}

// Note implements session.View.
func (v *watchView) Note(line string) { v.log.Note(line) }

// CanAsk implements session.View. It returns false, because a watch can't wait for an
// answer.
func (*watchView) CanAsk() bool { return false }

// Attended implements session.View.
func (*watchView) Attended() bool { return false }

// Preview implements session.View.
func (*watchView) Preview([]plan.Plan) error { return nil }

// Count implements session.View.
func (*watchView) Count(string) session.Counter { return nil }

// Printer implements session.View.
func (v *watchView) Printer(session.Mode) session.Printer { return v.log }

// Reporter implements session.View.
func (v *watchView) Reporter(session.Mode) session.Reporter { return v.log }
