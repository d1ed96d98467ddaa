package apiserver

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The headers of requests to a server that lags. No real server has them.
const (
	// Behind is the number of changes that a read doesn't see.
	Behind = "Test-Behind"
	// Late is the time after which each event of a watch arrives.
	Late = "Test-Late"
)

// cacheLags is the number of changes that lists of version 0 don't see. Servers answer those
// from a cache, which may lag by any time.
const cacheLags = 30

// lagging reads the headers of a request.
func (q *query) lagging(h http.Header) {
	q.behind, _ = strconv.Atoi(h.Get(Behind))   // "" means 0
	q.late, _ = time.ParseDuration(h.Get(Late)) // "" means 0
}

// old answers a read like a server that hasn't seen the latest changes.
func (s *Server) old(q *query) ([]byte, error) {
	version := max(s.version-q.behind, 0)
	objects := map[key]*stored{}
	for _, e := range s.log {
		switch {
		case e.version > version:
		case e.what == "DELETED":
			delete(objects, e.object.at)
		default:
			objects[e.object.at] = e.object
		}
	}
	if q.verb == "get" {
		if o := objects[q.at]; o != nil {
			return s.one(q, o)
		}
		return nil, apierrors.NewNotFound(q.resource(), q.at.name)
	}
	all := slices.SortedFunc(maps.Values(objects), func(a, b *stored) int { return a.at.compare(b.at) })
	return s.many(q, slices.DeleteFunc(all, func(o *stored) bool { return !q.selects(o) }), version)
}
