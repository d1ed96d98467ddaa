package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Server is an API server in memory. It is an http.RoundTripper, so its clients need no
// network.
type Server struct {
	// Allowed reports whether a user has a permission. With nil, everybody has all. The
	// user is "" without impersonation.
	Allowed func(user, verb, resource string) bool

	builtIn  []kind
	managers *Managers

	mu      sync.Mutex
	changed *sync.Cond
	store
	served   []kind          // nil after a definition changed
	catalogs map[bool][]byte // the answers of discovery
	loose    []string        // see Loose
	// selectors has the label selectors of all requests, by text.
	selectors map[string]labels.Selector
}

// New returns a server without objects.
func New(managers *Managers) *Server {
	s := &Server{builtIn: builtIn(), managers: managers, store: newStore(), catalogs: map[bool][]byte{}, selectors: map[string]labels.Selector{}}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// RoundTrip implements http.RoundTripper.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }() // nothing more of it is needed
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	q, err := s.parse(r)
	if err == nil && q.watch {
		return s.watch(r, q)
	}
	var body []byte
	if err == nil {
		s.mu.Lock()
		body, err = s.answer(q)
		s.mu.Unlock()
	}
	if err != nil {
		return failed(r, err), nil
	}
	return response(r, http.StatusOK, q.form.contentType(), io.NopCloser(bytes.NewReader(body))), nil
}

func response(r *http.Request, status int, contentType string, body io.ReadCloser) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, Body: body, ContentLength: -1, Request: r,
	}
}

// failed returns an answer with a Status.
func failed(r *http.Request, err error) *http.Response {
	known := (*apierrors.StatusError)(nil)
	if !errors.As(err, &known) {
		known = apierrors.NewInternalError(err)
	}
	status := known.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	text, _ := json.Marshal(status) // JSON supports all of its values
	return response(r, int(status.Code), jsonType, io.NopCloser(bytes.NewReader(text)))
}

// query is a parsed request.
type query struct {
	verb    string
	core    bool // for discovery: the core group
	kind    kind
	view    *View // under which the client named the kind, or nil
	at      key   // the name is "" for a collection
	watch   bool
	from    string          // the resource version before the first event of a watch
	labels  labels.Selector // nil for all
	name    string          // of a field selector
	behind  int             // see Behind
	late    time.Duration   // see Late
	dryRun  bool
	force   bool
	manager string
	content string
	form    form
	body    []byte
	sent    *draft // the decoded protobuf body
	review  *authorizationv1.SelfSubjectAccessReview
}

func (q *query) resource() schema.GroupResource {
	return schema.GroupResource{Group: q.kind.group, Resource: q.kind.plural}
}

// answer carries out a query.
func (s *Server) answer(q *query) ([]byte, error) {
	if q.verb == "list" && q.from == "0" {
		q.behind = max(q.behind, cacheLags)
	}
	if q.behind > 0 && (q.verb == "list" || q.verb == "get") {
		return s.old(q)
	}
	switch q.verb {
	case "discover":
		return s.discovery(q.core)
	case "review":
		return review(q)
	case "list":
		return s.many(q, s.selected(q), s.version)
	case "deletecollection":
		for _, o := range s.selected(q) {
			one := *q
			one.at.name, one.body = o.at.name, nil
			if _, err := s.delete(&one); err != nil {
				return nil, err
			}
		}
		return success(q)
	case "delete":
		return s.delete(q)
	case "get":
		o := s.objects[q.at]
		if o == nil {
			return nil, apierrors.NewNotFound(q.resource(), q.at.name)
		}
		return s.one(q, o)
	}
	return s.write(q)
}

// review answers that the user has every permission. Only requests themselves are refused.
func review(q *query) ([]byte, error) {
	if q.review == nil {
		return nil, apierrors.NewBadRequest("a review comes in protobuf")
	}
	q.review.Status.Allowed = true
	text, err := q.review.Marshal()
	if err != nil {
		return nil, err
	}
	return enveloped("authorization.k8s.io/v1", "SelfSubjectAccessReview", text)
}

func success(q *query) ([]byte, error) {
	status := metav1.Status{Status: metav1.StatusSuccess}
	if q.form == asJSON {
		status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		return json.Marshal(status)
	}
	text, err := status.Marshal()
	if err != nil {
		return nil, err
	}
	return enveloped("v1", "Status", text)
}

// put stores an object, and wakes watches.
func (s *Server) put(at key, live *stored, next *draft) {
	s.store.put(live, at, next)
	if at.kind == definitionKind {
		s.served = nil
		clear(s.catalogs)
	}
	s.changed.Broadcast()
}

func forbidden(q *query) error {
	return apierrors.NewForbidden(q.resource(), q.at.name, errors.New("user may not "+strings.ToUpper(q.verb)))
}
