package rendercmd

import (
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Trailer is a line at the end of a commit message, in the format of
// git-interpret-trailers.
type Trailer struct{ Key, Value string }

// Trailers say in a commit where the tree came from. They name the run's hubs with their
// rows, and its forms. They have the digests and the plan of the tree's index, and
// what the run changes. They follow the order of the inputs, and contain no value of a row.
func (t *Tree) Trailers() []Trailer {
	trailers := []Trailer{{"Lynqctl-Version", t.version}}
	for _, h := range t.hubs {
		r := t.run.Hubs[h.Key]
		said := fmt.Sprintf("%s, %s, %d active", h.Hub.Key(), phrase.Count(r.Rows, "row"), r.Active)
		trailers = append(trailers, Trailer{"Lynqctl-Hub", said + t.digests(index.OriginOf(h.Hub.Key(), lynq.FormKey{}))})
	}
	for _, h := range t.hubs {
		for _, p := range h.Programs {
			said := load.FormKey(p.Form, h.Key.Namespace).String()
			trailers = append(trailers, Trailer{"Lynqctl-Form", said + t.digests(index.OriginOf(h.Hub.Key(), p.Form.Key()))})
		}
	}
	return append(append(trailers, t.changes()...), Trailer{"Lynqctl-Plan", t.Report.Plan})
}

// maxChanges limits the changes that a commit names.
const maxChanges = 10

// changes says what the commit changes and why, one line for objects that change in the same
// way.
func (t *Tree) changes() []Trailer {
	var trailers []Trailer
	set := t.Report.Groups()
	for i := range set.Groups {
		g := &set.Groups[i]
		if i == maxChanges {
			return append(trailers, Trailer{"Lynqctl-Change", fmt.Sprintf("and %d more", len(set.Groups)-i)})
		}
		said := set.Title(g)
		if causes := strings.Join(set.CausesAt(g), "; "); causes != "" {
			said += ": " + causes
		}
		trailers = append(trailers, Trailer{"Lynqctl-Change", said})
	}
	return trailers
}

// digests returns the end of a hub's or form's trailer, with each of its digests. It returns
// "" if the tree has no files of the hub or form.
func (t *Tree) digests(o index.Origin) string {
	var b strings.Builder
	for _, digest := range t.Report.Of(o) {
		b.WriteString(", digest " + digest)
	}
	return b.String()
}
