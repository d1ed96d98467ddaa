package applycmd

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/inventory/history"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// inputs returns the forms and rows of a hub for its history.
func (r *Rendered) inputs(hub lynq.HubKey) history.Inputs {
	var in history.Inputs
	for _, h := range r.Hubs {
		if h.Key != hub {
			continue
		}
		for _, p := range h.Programs {
			key := load.FormKey(p.Form, h.Key.Namespace)
			in.Forms = append(in.Forms, history.Form{Namespace: key.Namespace, Name: key.Name, Digest: p.Digest()})
		}
		report := r.reports[hub]
		in.Rows = &history.Rows{Rows: report.Rows, Active: report.Active, Digest: r.digest(hub)}
	}
	return in
}

// inputs also returns how the rows differ from those of the last run.
func (p *Planned) inputs(hub lynq.HubKey) history.Inputs {
	in := p.Rendered.inputs(hub)
	for _, line := range p.compared[hub] {
		in.Evidence = append(in.Evidence, p.Engine.Secrets.Hide(line))
	}
	return in
}

// digest returns a digest over all objects that the rows of a hub render. It uses the
// digests that inventories record.
func (r *Rendered) digest(hub lynq.HubKey) string {
	sum := sha256.New()
	for _, n := range r.Nodes[hub] {
		_, _ = fmt.Fprintf(sum, "%s\n", n.Key()) // a hash never fails
		for i := range n.Objects {
			_, _ = fmt.Fprintf(sum, "%s %s\n", n.Objects[i].ID, n.Objects[i].Digest)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
