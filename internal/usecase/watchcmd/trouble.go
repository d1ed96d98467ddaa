package watchcmd

import (
	"context"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// troubleNews is an event about a hub, on its hub record.
type troubleNews struct{ kind, reason, message string }

// The types of events.
const (
	eventWarning = "Warning"
	eventNormal  = "Normal"
)

// tellTroubles sends events about troubles that need a person, if the hub record doesn't
// have them yet. It also says which troubles ended.
func (h *hubWatch) tellTroubles(ctx context.Context, p *applycmd.Planned, troubles []inventory.Trouble) {
	record := p.Records[h.hub.Key]
	if !h.o.Events || record.UID == "" {
		return
	}
	now := *record
	now.SetUnrendered(applycmd.Unrendered(p.Nodes[h.hub.Key]))
	now.Troubles = troubles
	news := newsOf(record, &now)
	if len(news) == 0 {
		return
	}
	recorder := p.Client.Recorder(session.HostName())
	for _, n := range news {
		recorder.Record(ctx, report.KubernetesEvent{
			Namespace: record.Namespace, Inventory: inventory.HubName(record.Name), UID: record.UID, Time: time.Now(),
			Type: n.kind, Reason: n.reason, Message: n.message,
		})
	}
	recorder.Flush(ctx)
}

// newsOf returns the events about a hub from its record before and now. It is a pure
// function.
func newsOf(before, now *inventory.Hub) []troubleNews {
	var news []troubleNews
	switch {
	case slices.Equal(before.Unrendered, now.Unrendered) && before.MoreUnrendered == now.MoreUnrendered:
	case len(now.Unrendered) == 0:
		news = append(news, troubleNews{eventNormal, "RowsRendered", "all rows render again"})
	default:
		news = append(news, troubleNews{eventWarning, "RowsNotRendered", inventory.UnrenderedText(now.Unrendered, now.MoreUnrendered)})
	}
	for _, t := range now.Troubles {
		if !slices.Contains(before.Troubles, t) {
			news = append(news, troubleNews{eventWarning, string(t.Reason), t.Message})
		}
	}
	for _, t := range before.Troubles {
		if !slices.ContainsFunc(now.Troubles, func(n inventory.Trouble) bool { return n.Reason == t.Reason }) {
			news = append(news, troubleNews{eventNormal, endOf(t.Reason), "this is over: " + t.Message})
		}
	}
	return news
}

// endOf returns the reason of the event at the end of a trouble.
func endOf(r inventory.TroubleReason) string {
	if r == inventory.TroubleSource {
		return "SourceReadable"
	}
	return "InputsValid"
}

// unreadable notes why the rows can't be read, or "" if they can. The hub record then says
// it.
func (h *hubWatch) unreadable(message string) {
	var why []inventory.Trouble
	if message != "" {
		why = []inventory.Trouble{inventory.NewTrouble(inventory.TroubleSource, message)}
	}
	h.reads.fail(why)
	h.changes.NoteAll()
}
