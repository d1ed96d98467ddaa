package apiserver

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Server is an API server in memory: an http.Handler, which Transport carries requests to.
type Server struct {
	// Allowed tells whether a user may do something; nil is that everybody may do all.
	// The user is "" where nobody is impersonated.
	Allowed func(user, verb, resource string) bool

	builtIn  []kind
	managers *Managers

	mu      sync.Mutex
	changed *sync.Cond
	version int
	objects map[key]*unstructured.Unstructured             // none of them is changed
	log     []event                                        // all that happened: watches read it
	texts   map[*unstructured.Unstructured]json.RawMessage // of objects as they are stored
}

// key names an object.
type key struct{ group, kind, namespace, name string }

// event is a change of an object.
type event struct {
	version int
	what    string // ADDED, MODIFIED, DELETED
	key     key
	before  *unstructured.Unstructured // nil where there was none
	object  *unstructured.Unstructured
}

// New makes a server without objects.
func New(managers *Managers) *Server {
	s := &Server{
		builtIn: builtIn(), managers: managers,
		objects: map[key]*unstructured.Unstructured{}, texts: map[*unstructured.Unstructured]json.RawMessage{},
	}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q, err := s.parse(r)
	if err == nil && q.watch {
		s.serveWatch(w, r, q)
		return
	}
	var body []byte
	if err == nil {
		s.mu.Lock()
		body, err = s.answer(q)
		s.mu.Unlock()
	}
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		fail(w, err)
		return
	}
	_, _ = w.Write(body) // a client that went away needs no answer
}

// fail answers with a Status.
func fail(w http.ResponseWriter, err error) {
	known := (*apierrors.StatusError)(nil)
	if !errors.As(err, &known) {
		known = apierrors.NewInternalError(err)
	}
	status := known.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status) // a client that went away needs no answer
}

// query is what a request asks for.
type query struct {
	verb    string
	core    bool // of discovery: the core group
	kind    kind
	at      key // the name is "" for a collection
	watch   bool
	from    string // the resource version that a watch begins after
	labels  string
	name    string // of a field selector
	dryRun  bool
	force   bool
	manager string
	content string
	body    []byte
}

func (q *query) resource() schema.GroupResource {
	return schema.GroupResource{Group: q.kind.group, Resource: q.kind.plural}
}

// answer does what a request asks for.
func (s *Server) answer(q *query) ([]byte, error) {
	switch q.verb {
	case "discover":
		return s.discovery(q.core)
	case "review":
		return s.review(q)
	case "list":
		return s.list(q)
	case "deletecollection":
		for _, o := range s.selected(q) {
			one := *q
			one.at.name, one.body = o.GetName(), nil
			if _, err := s.delete(&one); err != nil {
				return nil, err
			}
		}
		return success()
	case "delete":
		return s.delete(q)
	case "get":
		o := s.objects[q.at]
		if o == nil {
			return nil, apierrors.NewNotFound(q.resource(), q.at.name)
		}
		return s.encoded(o)
	}
	return s.write(q)
}

// review answers that the user may do all: only requests are refused.
func (s *Server) review(q *query) ([]byte, error) {
	var review map[string]any
	if err := json.Unmarshal(q.body, &review); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	review["status"] = map[string]any{"allowed": true}
	return json.Marshal(review)
}

func success() ([]byte, error) {
	return json.Marshal(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
}

// of are the objects of a kind, in order.
func (s *Server) of(group, kindName string) []*unstructured.Unstructured {
	return s.where(func(k key) bool { return k.group == group && k.kind == kindName })
}

func forbidden(q *query) error {
	return apierrors.NewForbidden(q.resource(), q.at.name, errors.New("user may not "+strings.ToUpper(q.verb)))
}
