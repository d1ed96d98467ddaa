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
func (j *Job) inputs(hub lynq.HubKey) history.Inputs {
	var in history.Inputs
	for _, h := range j.Hubs {
		if h.Key != hub {
			continue
		}
		for _, p := range h.Programs {
			key := load.FormKey(p.Form, h.Key.Namespace)
			in.Forms = append(in.Forms, history.Form{Namespace: key.Namespace, Name: key.Name, Digest: p.Digest()})
		}
		r := j.reports[hub]
		in.Rows = &history.Rows{Rows: r.Rows, Active: r.Active, Digest: j.rendered(hub)}
		for _, line := range j.compared[hub] {
			in.Evidence = append(in.Evidence, j.Engine.Secrets.Hide(line))
		}
	}
	return in
}

// rendered returns a digest over all objects that the rows of a hub render. It uses the
// digests that inventories record.
func (j *Job) rendered(hub lynq.HubKey) string {
	sum := sha256.New()
	for _, n := range j.Nodes[hub] {
		_, _ = fmt.Fprintf(sum, "%s\n", n.Key()) // a hash never fails
		for i := range n.Objects {
			_, _ = fmt.Fprintf(sum, "%s %s\n", n.Objects[i].ID, n.Objects[i].Digest)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
