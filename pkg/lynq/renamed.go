package lynq

import "strings"

// Renames says which nodes of a hub had another name before: their forms or the uids of
// their rows were other ones. It comes from the inputs alone.
type Renames struct {
	// Forms are the forms of the inputs by the names that they had before.
	Forms map[FormKey]FormKey
	// UIDs are the uids of active rows by those that the rows had before, and Active are the
	// uids of all active rows, without the blanks around them.
	UIDs   map[string]string
	Active map[string]bool
}

// Of is the form and the uid that a node has now, and whether either was another one
// before. A record may leave out the namespace of its form.
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
