package inventory

import (
	"cmp"
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// MaxSuspensionText is the largest number of bytes of the texts in a suspension.
const MaxSuspensionText = 256

// Suspension says that a person keeps lynqctl off a node. It makes every run do less, so
// anybody who may write the inventory may suspend the node.
type Suspension struct {
	By     string    `json:"by,omitempty"`
	Since  time.Time `json:"since,omitzero"`
	Until  time.Time `json:"until,omitzero"` // zero for no end
	Reason string    `json:"reason,omitempty"`
}

// String says who suspended the node, until when, and why.
func (s *Suspension) String() string {
	text := "suspended by " + s.By
	if !s.Until.IsZero() {
		text += " until " + s.Until.UTC().Format(time.RFC3339)
	}
	if s.Reason != "" {
		text += " (" + s.Reason + ")"
	}
	return text
}

// Ended reports whether the suspension has ended at a time.
func (s *Suspension) Ended(now time.Time) bool { return !s.Until.IsZero() && !now.Before(s.Until) }

// Suspended returns the node's suspension at a time, or nil. A suspension that lynqctl can't
// read counts, because a run must not do more than a person allowed.
func (inv *Inventory) Suspended(now time.Time) *Suspension {
	if inv.Others == nil {
		return nil
	}
	text, said := inv.Others.Annotations[wellknown.AnnotationSuspended]
	if !said {
		return nil
	}
	s := &Suspension{}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return &Suspension{By: "unknown", Reason: "annotation " + wellknown.AnnotationSuspended + " can't be read"}
	}
	if s.Ended(now) {
		return nil
	}
	*s = s.Shown()
	return s
}

// Shown returns the suspension with texts that fit into a line, because anybody may have
// written it.
func (s Suspension) Shown() Suspension {
	s.By, s.Reason = cmp.Or(shortText(s.By), "unknown"), shortText(s.Reason)
	return s
}

func shortText(text string) string {
	return cut(phrase.OneLine(strings.TrimSpace(text)), MaxSuspensionText)
}

// Suspend returns the inventory with another suspension, or with none for nil. The
// annotation counts as another client's, so that saving a run's results keeps it.
func (inv *Inventory) Suspend(s *Suspension) (*Inventory, error) {
	text := ""
	if s != nil {
		var err error
		if text, err = phrase.JSON(s); err != nil {
			return nil, err
		}
	}
	next := inv.Clone()
	next.Others = inv.Others.annotated(wellknown.AnnotationSuspended, text)
	return next, nil
}

// AskedAt returns the record with a person's request to check the hub. The annotation counts
// as another client's, like a suspension.
func (h *Hub) AskedAt(now time.Time) *Hub {
	next := *h
	next.Others = h.Others.annotated(wellknown.AnnotationReconcileAt, now.UTC().Format(time.RFC3339Nano))
	return &next
}

// annotated returns the fields with another value of an annotation, or without it for "".
func (o *Others) annotated(key, value string) *Others {
	next := Others{}
	if o != nil {
		next = *o
	}
	next.Annotations = maps.Clone(next.Annotations)
	delete(next.Annotations, key)
	if value != "" {
		next.Annotations = merge(map[string]string{key: value}, next.Annotations)
	}
	return &next
}
