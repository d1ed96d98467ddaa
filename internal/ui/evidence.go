package ui

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/evidence"
)

// wireEvidence says for scripts how rows differ from those of the last run
// (docs/events.md).
type wireEvidence struct {
	LastRun     string          `json:"lastRun,omitempty"`
	Now         evidence.Counts `json:"now"`
	Before      evidence.Counts `json:"before"`
	NewColumns  []string        `json:"newColumns,omitempty"`
	GoneColumns []string        `json:"goneColumns,omitempty"`
	Where       *evidence.Where `json:"where,omitempty"`
	Lookups     []string        `json:"lookups,omitempty"`
	Rows        *wireRows       `json:"rows,omitempty"`
}

type wireRows struct {
	New         int          `json:"new"`
	Vanished    int          `json:"vanished"`
	Deactivated int          `json:"deactivated"`
	Compared    int          `json:"compared"`
	Changed     int          `json:"changed"`
	Columns     []wireColumn `json:"columns,omitempty"`
	Sampled     bool         `json:"sampled,omitempty"`
}

type wireColumn struct {
	Column string `json:"column"`
	// Changed is nil for a secret column, because nobody knows the number.
	Changed *int `json:"changed,omitempty"`
	Emptied int  `json:"emptied"`
}

// evidenceOf converts evidence for scripts. It returns nil for nil.
func evidenceOf(e *evidence.Evidence) *wireEvidence {
	if e == nil {
		return nil
	}
	w := &wireEvidence{Now: e.Now, Before: e.Before, NewColumns: e.NewColumns, GoneColumns: e.GoneColumns, Where: e.Where, Lookups: e.Lookups}
	if !e.Last.IsZero() {
		w.LastRun = e.Last.UTC().Format(time.RFC3339)
	}
	if r := e.Rows; r != nil {
		w.Rows = &wireRows{New: r.New, Vanished: r.Vanished, Deactivated: r.Deactivated, Compared: r.Compared, Changed: r.Changed, Sampled: r.Sampled}
		for _, c := range r.Columns {
			column := wireColumn{Column: c.Name, Emptied: c.Emptied}
			if !c.Secret {
				column.Changed = &c.Changed
			}
			w.Rows.Columns = append(w.Rows.Columns, column)
		}
	}
	return w
}
