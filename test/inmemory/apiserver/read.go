package apiserver

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// where are the objects that are selected, in order.
func (s *Server) where(is func(key) bool) []*unstructured.Unstructured {
	var keys []key
	for k := range s.objects {
		if is(k) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(strings.Compare(a.group, b.group), strings.Compare(a.kind, b.kind), strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
	})
	all := make([]*unstructured.Unstructured, 0, len(keys))
	for _, k := range keys {
		all = append(all, s.objects[k])
	}
	return all
}

// selects tells whether a list or a watch is about an object.
func (q *query) selects(k key, o *unstructured.Unstructured) bool {
	if k.group != q.kind.group || k.kind != q.kind.name || q.at.namespace != "" && k.namespace != q.at.namespace || q.name != "" && k.name != q.name {
		return false
	}
	if q.labels == "" {
		return true
	}
	selector, err := labels.Parse(q.labels)
	return err == nil && selector.Matches(labels.Set(o.GetLabels()))
}

// sees is what a change is to a watch, "" for nothing. An object that the watch is about
// no more is a deleted one.
func (q *query) sees(e *event) string {
	is := q.selects(e.key, e.object)
	was := e.before != nil && q.selects(e.key, e.before)
	switch {
	case is && !was && e.what == "MODIFIED":
		return "ADDED"
	case is:
		return e.what
	case was:
		return "DELETED"
	}
	return ""
}

func (s *Server) selected(q *query) []*unstructured.Unstructured {
	return s.where(func(k key) bool { return q.selects(k, s.objects[k]) })
}

// encoded is a stored object as JSON.
func (s *Server) encoded(o *unstructured.Unstructured) (json.RawMessage, error) {
	if text, known := s.texts[o]; known {
		return text, nil
	}
	text, err := o.MarshalJSON()
	if err == nil {
		s.texts[o] = text
	}
	return text, err
}

// All are the objects of a kind in a namespace, "" for all, in order. They must not be
// changed.
func (s *Server) All(group, plural, namespace string) []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kinds() {
		if k.group == group && k.plural == plural {
			return s.where(func(at key) bool {
				return at.group == group && at.kind == k.name && (namespace == "" || at.namespace == namespace)
			})
		}
	}
	return nil
}

// list answers with one page.
func (s *Server) list(q *query) ([]byte, error) {
	items := []json.RawMessage{}
	for _, o := range s.selected(q) {
		text, err := s.encoded(o)
		if err != nil {
			return nil, err
		}
		items = append(items, text)
	}
	return json.Marshal(map[string]any{
		"apiVersion": q.kind.apiVersion(), "kind": q.kind.name + "List", "items": items,
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version)},
	})
}

// serveWatch tells of all changes after a version, until the client goes.
func (s *Server) serveWatch(w http.ResponseWriter, r *http.Request, q *query) {
	from, err := strconv.Atoi(q.from)
	if err != nil {
		fail(w, apierrors.NewBadRequest("a watch begins after a version"))
		return
	}
	ended := false
	go func() {
		<-r.Context().Done()
		s.mu.Lock()
		ended = true
		s.mu.Unlock()
		s.changed.Broadcast()
	}()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	stream := http.NewResponseController(w)
	_ = stream.Flush() // where it fails, so does the next write
	next := 0
	for {
		s.mu.Lock()
		for !ended && next == len(s.log) {
			s.changed.Wait()
		}
		events := s.log[next:len(s.log):len(s.log)]
		next = len(s.log)
		stop := ended
		s.mu.Unlock()
		if stop {
			return
		}
		for _, e := range events {
			what := q.sees(&e)
			if e.version <= from || what == "" {
				continue
			}
			err = json.NewEncoder(w).Encode(map[string]any{"type": what, "object": e.object.Object})
			if err == nil {
				err = stream.Flush()
			}
			if err != nil {
				return
			}
		}
	}
}
