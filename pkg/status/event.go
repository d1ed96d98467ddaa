package status

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Event is an event about an object, from Kubernetes or lynqctl.
type Event struct {
	Time      time.Time `json:"time,omitzero"` // when it last occurred
	Type      string    `json:"type"`          // Normal or Warning
	Reason    string    `json:"reason"`
	Kind      string    `json:"kind"`
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	Message   string    `json:"message,omitempty"`
	Count     int64     `json:"count"`
}

// EventOf reads an event, and returns the uid of its object.
func EventOf(o *unstructured.Unstructured) (Event, types.UID) {
	text := func(fields ...string) string {
		s, _, err := unstructured.NestedString(o.Object, fields...)
		if err != nil {
			return ""
		}
		return s
	}
	e := Event{
		Type: text("type"), Reason: text("reason"), Message: text("message"),
		Kind:      text("involvedObject", "kind"),
		Namespace: text("involvedObject", "namespace"),
		Name:      text("involvedObject", "name"),
		Count:     1,
	}
	for _, at := range [][]string{{"series", "lastObservedTime"}, {"lastTimestamp"}, {"eventTime"}, {"firstTimestamp"}} {
		if t, err := time.Parse(time.RFC3339, text(at...)); err == nil {
			e.Time = t
			break
		}
	}
	for _, at := range [][]string{{"series", "count"}, {"count"}} {
		if n, _, err := unstructured.NestedInt64(o.Object, at...); err == nil && n > 0 {
			e.Count = n
			break
		}
	}
	return e, types.UID(text("involvedObject", "uid"))
}

// SortEvents sorts events by time, with the newest one last.
func SortEvents(events []Event) {
	slices.SortFunc(events, func(a, b Event) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
}
