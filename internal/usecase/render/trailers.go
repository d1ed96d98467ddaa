package render

import (
	"fmt"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Trailer is a line at the end of a commit message, in the format of
// git-interpret-trailers.
type Trailer struct{ Key, Value string }

// Trailers say in a commit where the tree came from. They name the hubs with their rows,
// and the digests of the forms and of the tree's index. They follow the order of the
// inputs, and contain no value of a row.
func (t *Tree) Trailers() []Trailer {
	trailers := []Trailer{{"Lynqctl-Version", t.version}}
	for _, h := range t.hubs {
		r := t.run.Hubs[h.Key]
		trailers = append(trailers, Trailer{"Lynqctl-Hub", fmt.Sprintf("%s, %s, %d active", h.Hub.Key(), phrase.Count(r.Rows, "row"), r.Active)})
	}
	for _, h := range t.hubs {
		for _, p := range h.Programs {
			trailers = append(trailers, Trailer{"Lynqctl-Form", fmt.Sprintf("%s, digest %s", load.FormKey(p.Form, h.Key.Namespace), p.Digest())})
		}
	}
	return append(trailers, Trailer{"Lynqctl-Tree", t.Report.Tree})
}
