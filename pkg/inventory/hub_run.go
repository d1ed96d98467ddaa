package inventory

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// hubRun is how the last run on a hub ended, as its record has it.
type hubRun struct {
	// Time is that of the run, as the record says it too: a lynqctl that does not
	// know of this writes a later one there, and leaves this as it is.
	Time        time.Time `json:"time"`
	Interrupted time.Time `json:"interrupted,omitzero"`
}

// encodeRun says how the run ended, where it was not simply done.
func (h *Hub) encodeRun(to map[string]string) error {
	if h.Interrupted.IsZero() {
		return nil
	}
	text, err := lynq.JSON(hubRun{Time: h.Time.UTC(), Interrupted: h.Interrupted.UTC()})
	if err != nil {
		return err
	}
	to[keyRun] = text
	return nil
}

// run reads how the run ended.
func (d *decoder) run(h *Hub) error {
	if _, said := d.cm.Data[keyRun]; !said {
		return nil
	}
	var r hubRun
	if err := d.json(keyRun, &r); err != nil {
		return err
	}
	if r.Time.Equal(h.Time) {
		h.Interrupted = r.Interrupted.UTC()
	}
	return nil
}
