package index

import (
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Scope names the hubs and forms whose files a run may change.
type Scope struct {
	Hubs []HubScope
	// Only, where it is not nil, are the names of the nodes that were asked for.
	Only map[string]bool
	// Selected: a selector leaves objects out. No one knows which of those that
	// are wanted no more it would have left, so that nothing goes.
	Selected bool
}

// HubScope is a hub of a run, and the forms of it that take part.
type HubScope struct {
	lynq.HubKey
	Forms []lynq.FormKey
	// Grace is how long forms keep nodes whose rows are gone; one that is not in it keeps
	// none.
	Grace map[lynq.FormKey]time.Duration
}

// Covers tells whether a file is of the hubs, forms and nodes of the run.
func (s *Scope) Covers(e *Entry) bool {
	return s.TakesPart(e) && (s.Only == nil || s.Only[e.Node.Name])
}

// TakesPart tells whether a file is of the hubs and forms of the run.
func (s *Scope) TakesPart(e *Entry) bool {
	return slices.ContainsFunc(s.Hubs, func(h HubScope) bool { return s.IsOf(&h, e) && slices.ContainsFunc(h.Forms, e.OfForm) })
}

// Stranger is the first file of a node that the run has no say on, by its hub and form as
// people call them.
func (s *Scope) Stranger(x *Index) (hub, form string, found bool) {
	for i := range x.Entries {
		if e := &x.Entries[i]; !e.Shared() && !s.Covers(e) {
			hub, form = s.Called(&e.Owned)
			return hub, form, true
		}
	}
	return "", "", false
}

// HubOf is the hub of a file: that of the run, where the file is of one.
func (s *Scope) HubOf(e *Entry) lynq.HubKey {
	for i := range s.Hubs {
		if s.IsOf(&s.Hubs[i], e) {
			return s.Hubs[i].HubKey
		}
	}
	return e.Hub
}

// Called are the hub and the form of a file as people call them: with a namespace
// only where the run has another one of that name.
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

// IsOf tells whether a file is of a hub. One that was written when the hub had no
// namespace is, unless the run has a hub of that name without one.
func (s *Scope) IsOf(h *HubScope, e *Entry) bool {
	if h.HubKey == e.Hub {
		return true
	}
	exact := func(o HubScope) bool { return o.HubKey == e.Hub }
	return h.Name == e.Hub.Name && e.Hub.Namespace == "" && !slices.ContainsFunc(s.Hubs, exact)
}

// Period tells how long the form of a file keeps nodes whose rows are gone. An old index doesn't
// have the namespace of the form: of several forms, the longest period counts.
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
