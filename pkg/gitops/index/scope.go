package index

import (
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

// TakesPart reports whether a file belongs to the hubs and forms of the run.
func (s *Scope) TakesPart(e *Entry) bool {
	return slices.ContainsFunc(s.Hubs, func(h HubScope) bool { return s.IsOf(&h, e) && slices.ContainsFunc(h.Forms, e.OfForm) })
}

// Stranger returns the hub and form of the first file that the run may not change.
func (s *Scope) Stranger(x *Index) (hub, form string, found bool) {
	for i := range x.Entries {
		if e := &x.Entries[i]; !e.Shared() && !s.Covers(e) {
			hub, form = s.Called(&e.Owned)
			return hub, form, true
		}
	}
	return "", "", false
}

// HubOf returns the hub of a file, in the run's form if the run has it.
func (s *Scope) HubOf(e *Entry) lynq.HubKey {
	for i := range s.Hubs {
		if s.IsOf(&s.Hubs[i], e) {
			return s.Hubs[i].HubKey
		}
	}
	return e.Hub
}

// Called returns the names of a file's hub and form for messages. They have a namespace
// only if the run has another one with that name.
func (s *Scope) Called(o *Owned) (hub, form string) {
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

// IsOf reports whether a file belongs to a hub. A file without the hub's namespace belongs
// to it too, unless the run has a hub of that name without a namespace.
func (s *Scope) IsOf(h *HubScope, e *Entry) bool {
	if h.HubKey == e.Hub {
		return true
	}
	exact := func(o HubScope) bool { return o.HubKey == e.Hub }
	return h.Name == e.Hub.Name && e.Hub.Namespace == "" && !slices.ContainsFunc(s.Hubs, exact)
}

// Period returns the grace period of a file's form. An old index lacks the form's
// namespace. If several forms match, the longest period counts.
func (s *Scope) Period(e *Entry) time.Duration {
	var longest time.Duration
	for i := range s.Hubs {
		h := &s.Hubs[i]
		if !s.IsOf(h, e) {
			continue
		}
		for form, period := range h.Grace {
			if e.OfForm(form) {
				longest = max(longest, period)
			}
		}
	}
	return longest
}
