package apiserver

import "maps"

// View is a kind that shows the objects of another kind under their own uids. Events have a
// second group like that, and extensions serve such kinds.
type View struct {
	Group, Version, Kind, Plural string
	OfGroup, OfKind              string
	// Fields are the names of top-level fields that differ, by their names in the view.
	Fields map[string]string
}

// ServeView adds a view. The caller calls it before the first request.
func (s *Server) ServeView(v *View) {
	for _, k := range s.builtIn {
		if k.group == v.OfGroup && k.name == v.OfKind {
			s.builtIn = append(s.builtIn, kind{v.Group, v.Version, v.Kind, v.Plural, k.namespaced, v})
			return
		}
	}
}

// stores returns the kind of a view's objects. It returns other kinds as they are.
func (s *Server) stores(k kind) kind {
	if k.view == nil {
		return k
	}
	for _, other := range s.builtIn {
		if other.group == k.view.OfGroup && other.name == k.view.OfKind {
			return other
		}
	}
	return k
}

// shown returns the kind that the client named.
func (q *query) shown() kind {
	if v := q.view; v != nil {
		return kind{v.Group, v.Version, v.Kind, v.Plural, q.kind.namespaced, v}
	}
	return q.kind
}

// store converts an object of a view to its kind.
func (q *query) store() {
	if q.view == nil || q.sent == nil {
		return
	}
	renamed(q.sent.Object, q.view.Fields)
	if q.sent.GetKind() != "" {
		q.sent.SetAPIVersion(q.kind.apiVersion())
		q.sent.SetKind(q.kind.name)
	}
}

// show returns an object as the client's kind.
func (q *query) show(o *stored) *stored {
	if q.view == nil {
		return o
	}
	d := o.copied()
	back := map[string]string{}
	for view, own := range q.view.Fields {
		back[own] = view
	}
	renamed(d.Object, back)
	d.SetAPIVersion(q.shown().apiVersion())
	d.SetKind(q.view.Kind)
	return newStored(o.at, d)
}

// renamed renames the fields of an object.
func renamed(content map[string]any, names map[string]string) {
	was := maps.Clone(content)
	for from, to := range names {
		if value, is := was[from]; is {
			delete(content, from)
			content[to] = value
		}
	}
}
