package lynq

import "strings"

// Renames says which nodes of a hub had another name before, because their form or the uid of
// their row had another one. It comes from the inputs alone.
type Renames struct {
	// Forms maps earlier names to the forms of the inputs.
	Forms map[FormKey]FormKey
	// UIDs maps earlier uids to those of active rows. Active has the uids of all active rows.
	// Both are without surrounding blanks.
	UIDs   map[string]string
	Active map[string]bool
}

// Of returns the form and the uid that a node has now. renamed reports whether one of them was
// another one before. An inventory may lack the namespace of its form.
func (r *Renames) Of(id NodeID) (form FormKey, uid string, renamed bool) {
	form, uid = id.Form, id.UID
	for before, now := range r.Forms {
		if before.Name == id.Form.Name && (id.Form.Namespace == "" || id.Form.Namespace == before.Namespace) {
			form, renamed = now, true
		}
	}
	if now, was := r.UIDs[strings.TrimSpace(id.UID)]; was {
		uid, renamed = now, true
	}
	return form, uid, renamed
}
