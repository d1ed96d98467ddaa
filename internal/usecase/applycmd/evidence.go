package applycmd

import (
	"cmp"
	"crypto/rand"
	"slices"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/evidence"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// noting makes the reader of a hub's rows also note them for the next run.
func noting(run *render.Run, in *render.Input) *evidence.Source {
	h := in.Programs[0].Hub
	var columns []string
	var places []int
	for i, c := range render.Columns(h) {
		if !identifies(h, c) {
			columns, places = append(columns, c), append(places, i)
		}
	}
	source := evidence.NewSource(columns, h.Secret)
	source.Where, source.Lookups = h.Source.Where.SQL, render.Digests(h, run.Tables())
	values := make([]string, len(places))
	in.Active = func(uid string, row []string) {
		for i, place := range places {
			values[i] = row[place]
		}
		source.Active(uid, values)
	}
	in.Inactive = source.Inactive
	return source
}

// identifies reports whether a column has the uid, or says which rows are active. Evidence
// compares these two in other ways.
func identifies(h *form.Hub, column string) bool {
	return slices.ContainsFunc(h.Mappings, func(m form.Mapping) bool {
		return m.Column == column && (m.Variable == "uid" || m.Variable == "activate")
	})
}

// evidence compares the rows of a hub with those of its last run. It returns nil if no last
// run is known.
func (s *Seen) evidence(h load.HubPrograms) *evidence.Evidence {
	record, r := s.Records[h.Key], s.reports[h.Key]
	if s.Adopting != nil || record == nil {
		return nil
	}
	e := evidence.Since(h.Key, record.Time,
		evidence.Counts{Rows: record.Rows, Active: record.Active, Inactive: record.Inactive},
		evidence.Counts{Rows: r.Rows, Active: r.Active, Inactive: r.Rows - r.Active},
		record.Columns, render.Columns(h.Hub))
	if source := s.sources[h.Key]; source != nil {
		e.Rows = source.Compare(record.RowNotes)
		e.Lookups = source.ChangedLookups(record.RowNotes)
		if before, changed := source.WhereBefore(record.RowNotes); changed {
			e.Where = &evidence.Where{Before: before, Now: source.Where}
		}
	}
	return e
}

// UnchangedColumns returns a function that names the columns in which a node's row has the
// values of the last run, as far as this run knows. The function always names the column of
// the uid, because another uid makes another node.
func (s *Seen) UnchangedColumns(h load.HubPrograms) func(uid string) []string {
	var identity []string
	for _, m := range h.Hub.Mappings {
		if m.Variable == "uid" {
			identity = append(identity, m.Column)
		}
	}
	record, source := s.Records[h.Key], s.sources[h.Key]
	if record == nil || source == nil {
		return func(string) []string { return identity }
	}
	of := source.Unchanged(record.RowNotes)
	return func(uid string) []string { return append(of(uid), identity...) }
}

// used returns the columns that the forms of a hub use. It returns nil for a narrowed run,
// which leaves warnings about the source to a run on all nodes.
func (j *Job) used(h load.HubPrograms) []string {
	if j.chosen() {
		return nil
	}
	var columns []string
	for _, p := range h.Programs {
		columns = append(columns, p.Used()...)
	}
	return columns
}

// noteRows notes the rows in the hub record. A narrowed run keeps the old note, because it
// didn't apply all rows.
func (r *Rendered) noteRows(record *inventory.Hub, hub lynq.HubKey) {
	if source := r.sources[hub]; source != nil && !r.chosen() {
		record.RowNotes = source.Note(cmp.Or(evidence.Key(record.RowNotes), rand.Text()))
	}
}

// TellEvidence notes how the rows differ from those of the last run.
func (j *Job) TellEvidence(plans []plan.Plan) {
	for i := range plans {
		for _, line := range plans[i].Evidence.Lines() {
			j.Engine.Notef("hub %s: %s", plans[i].Hub, line)
		}
	}
}
