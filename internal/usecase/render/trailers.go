package render

import (
	"fmt"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Trailer is a line at the end of a commit message, as git-interpret-trailers has it.
type Trailer struct{ Key, Value string }

// Trailers say in a commit what the tree was rendered from: the hubs with their rows, the
// digests of the forms, and the digest of the tree's index. They are in the order of the
// inputs, and no value of a row is in them.
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
