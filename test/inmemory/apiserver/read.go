package apiserver

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// selects reports whether a list or a watch contains an object.
func (q *query) selects(o *stored) bool {
	if o.at.group != q.kind.group || o.at.kind != q.kind.name || q.at.namespace != "" && o.at.namespace != q.at.namespace || q.name != "" && o.at.name != q.name {
		return false
	}
	return q.labels == nil || q.labels.Matches(labels.Set(o.labels))
}

// sees returns the type of a change for a watch, or "" for none. An object that leaves the
// watch counts as deleted.
func (q *query) sees(e *event) string {
	is := q.selects(e.object)
	was := e.before != nil && q.selects(e.before)
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

func (s *Server) selected(q *query) []*stored {
	return s.of(groupKind{q.kind.group, q.kind.name}, q.selects)
}

// All returns the objects of a kind in a namespace, "" for all, in order, without managed
// fields. Callers must not change them.
func (s *Server) All(group, plural, namespace string) []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*unstructured.Unstructured
	for _, k := range s.kinds() {
		if k.group == group && k.plural == plural {
			for _, o := range s.sorted[groupKind{group, k.name}] {
				if namespace == "" || o.at.namespace == namespace {
					all = append(all, o.Unstructured)
				}
			}
		}
	}
	return all
}

// watch sends all changes after a version until the client goes away.
func (s *Server) watch(r *http.Request, q *query) (*http.Response, error) {
	from, err := strconv.Atoi(q.from)
	if err != nil {
		return failed(r, apierrors.NewBadRequest("a watch begins after a version")), nil //nolint:nilerr // it is the answer
	}
	ctx := r.Context()
	reader, writer := io.Pipe()
	w := &watching{query: q, body: writer}
	s.mu.Lock()
	w.next, _ = slices.BinarySearchFunc(s.log, from+1, func(e event, version int) int { return e.version - version })
	s.mu.Unlock()
	stop := context.AfterFunc(ctx, func() {
		s.end(w)
		_ = reader.CloseWithError(ctx.Err()) // it never fails
	})
	go s.tell(w)
	return response(r, http.StatusOK, jsonType, &watchBody{reader, func() {
		stop()
		s.end(w)
	}}), nil
}

// watching is a watch in progress.
type watching struct {
	*query
	next  int // in the log
	ended bool
	body  *io.PipeWriter
}

// watchBody ends the watch when the client closes it.
type watchBody struct {
	*io.PipeReader
	end func()
}

// Close implements io.Closer.
func (b *watchBody) Close() error {
	b.end()
	return b.PipeReader.Close()
}

func (s *Server) end(w *watching) {
	s.mu.Lock()
	w.ended = true
	s.mu.Unlock()
	s.changed.Broadcast()
}

// tell writes changes until the watch ends.
func (s *Server) tell(w *watching) {
	for {
		text, err := s.news(w)
		if w.late > 0 {
			<-time.After(w.late)
		}
		if err == nil && text != nil {
			_, err = w.body.Write(text)
		}
		if err != nil || text == nil {
			_ = w.body.CloseWithError(err) // it never fails
			return
		}
	}
}

// news waits for changes, and returns them encoded. It returns nil when the watch has
// ended.
func (s *Server) news(w *watching) (text []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(text) == 0 {
		for !w.ended && w.next == len(s.log) {
			s.changed.Wait()
		}
		if w.ended {
			return nil, nil
		}
		for ; w.next < len(s.log) && err == nil; w.next++ {
			e := &s.log[w.next]
			what := w.sees(e)
			if what == "" {
				continue
			}
			var object []byte
			object, err = s.encoded(asJSON, w.show(e.object))
			text = append(append(append(text, `{"type":"`+what+`","object":`...), object...), "}\n"...)
		}
	}
	return text, err
}
