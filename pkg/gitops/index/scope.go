package index

import (
	"cmp"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Scope names the hubs and forms whose files a run may change.
type Scope struct {
	Hubs []HubScope
	// Only has the names of the selected nodes, or is nil.
	Only map[string]bool
	// Selected means that a label selector limits the objects. The run removes nothing
	// then, because nobody knows which unneeded objects the selector would match.
	Selected bool
}

// HubScope is a hub of a run, with its forms in the run.
type HubScope struct {
	lynq.HubKey
	Forms []lynq.FormKey
	// Grace is the grace period of each form. Forms without one are absent.
	Grace map[lynq.FormKey]time.Duration
}

// Covers reports whether a file belongs to the hubs, forms and nodes of the run.
func (s *Scope) Covers(e *Entry) bool {
	return s.TakesPart(e) && (s.Only == nil || s.Only[e.Node.Name])
}

// TakesPart reports whether a file belongs to the hubs and forms of the run. Hubs and forms
// with the same name in different namespaces are different ones.
func (s *Scope) TakesPart(e *Entry) bool {
	return slices.ContainsFunc(s.Hubs, func(h HubScope) bool {
		return h.HubKey == e.Hub && slices.ContainsFunc(h.Forms, func(f lynq.FormKey) bool { return h.inHub(f) == h.inHub(e.Form) })
	})
}

// inHub returns the form with its namespace. A form without one is in its hub's.
func (h *HubScope) inHub(f lynq.FormKey) lynq.FormKey {
	return lynq.FormKey{Namespace: cmp.Or(f.Namespace, h.Namespace), Name: f.Name}
}

// MayInherit reports whether a file may be of a hub or form of the run, from a time when it
// had no namespace.
func (s *Scope) MayInherit(e *Entry) bool {
	return slices.ContainsFunc(s.Hubs, func(h HubScope) bool {
		return h.Name == e.Hub.Name && (e.Hub.Namespace == "" || e.Hub.Namespace == h.Namespace) && slices.ContainsFunc(h.Forms, func(f lynq.FormKey) bool {
			return f.Name == e.Form.Name && (e.Form.Namespace == "" || h.inHub(f) == h.inHub(e.Form))
		})
	})
}

// Stranger returns the hub and form of the first file that no hub of the run has or may have
// had.
func (s *Scope) Stranger(x *Index) (hub, form string, found bool) {
	for i := range x.Entries {
		if e := &x.Entries[i]; !e.Shared() && !s.Covers(e) && !s.MayInherit(e) {
			hub, form = s.Called(e.Owner)
			return hub, form, true
		}
	}
	return "", "", false
}

// Called returns the names of a file's hub and form for messages. They have a namespace
// only if the run has another one with that name.
func (s *Scope) Called(o *Owner) (hub, form string) {
	hub, form = o.Hub.Name, o.Form.Name
	for _, h := range s.Hubs {
		if h.Name == o.Hub.Name && h.Namespace != o.Hub.Namespace {
			hub = o.Hub.String()
		}
		for _, f := range h.Forms {
			if f.Name == o.Form.Name && f.Namespace != o.Form.Namespace {
				form = o.Form.String()
			}
		}
	}
	return hub, form
}
