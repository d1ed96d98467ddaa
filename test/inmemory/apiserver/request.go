package apiserver

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// parse parses a request.
func (s *Server) parse(r *http.Request) (*query, error) {
	path := strings.Trim(r.URL.Path, "/")
	if path == "api" || path == "apis" {
		return &query{verb: "discover", core: path == "api", form: asProtobuf}, nil
	}
	asked, params := faultproxy.Parse(r.Method, r.URL), r.URL.Query()
	q := &query{
		verb: asked.Verb, watch: asked.Verb == "watch", from: params.Get("resourceVersion"),
		dryRun: asked.DryRun, manager: asked.Manager, force: params.Get("force") == "true",
		name:    strings.TrimPrefix(params.Get("fieldSelector"), "metadata.name="),
		content: r.Header.Get("Content-Type"),
	}
	q.lagging(r.Header)
	if err := s.selecting(q, params.Get("labelSelector")); err != nil {
		return nil, err
	}
	if err := q.read(r); err != nil {
		return nil, err
	}
	plural, group, _ := strings.Cut(asked.Resource, ".")
	if plural == "selfsubjectaccessreviews" {
		q.verb, q.form = "review", asProtobuf
		return q, nil
	}
	parts := strings.Split(path, "/")
	at := 1
	if parts[0] == "apis" {
		at = 2
	}
	if len(parts) <= at {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: r.URL.Path}, "")
	}
	s.mu.Lock()
	found, served := s.find(group, parts[at], plural)
	s.mu.Unlock()
	if !served {
		return nil, apierrors.NewGenericServerResponse(http.StatusNotFound, q.verb, schema.GroupResource{Group: group, Resource: plural}, "", "", 0, true)
	}
	q.kind, q.view = s.stores(found), found.view
	q.at = key{q.kind.group, q.kind.name, asked.Namespace, asked.Name}
	q.form = formOf(r.Header.Get("Accept"), found, q.watch)
	if !found.namespaced {
		q.at.namespace = ""
	}
	return q, s.admits(r, q, asked.Resource, params)
}

// selecting reads the label selector of a request.
func (s *Server) selecting(q *query, text string) error {
	if text == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.selectors[text] == nil {
		parsed, err := labels.Parse(text)
		if err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		s.selectors[text] = parsed
	}
	q.labels = s.selectors[text]
	return nil
}

// read reads the body of a request.
func (q *query) read(r *http.Request) (err error) {
	if r.Body == nil {
		return nil
	}
	if q.body, err = io.ReadAll(r.Body); err != nil {
		return err
	}
	if err := q.unpack(); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// admits refuses requests without permission, and unsupported ones.
func (s *Server) admits(r *http.Request, q *query, resource string, params url.Values) error {
	if s.Allowed != nil && !s.Allowed(r.Header.Get("Impersonate-User"), q.verb, resource) {
		return forbidden(q)
	}
	if params.Get("sendInitialEvents") == "true" {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil) // clients then list and watch
	}
	return nil
}

// unpack decodes a protobuf body.
func (q *query) unpack() error {
	inner, is := strings.CutPrefix(string(q.body), magic)
	if !is {
		return nil
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal([]byte(inner)); err != nil {
		return err
	}
	var sent message
	switch envelope.Kind {
	case "ConfigMap":
		sent = &corev1.ConfigMap{}
	case "Secret":
		sent = &corev1.Secret{}
	case "Event":
		sent = &corev1.Event{}
	case "Lease":
		sent = &coordinationv1.Lease{}
	case "SelfSubjectAccessReview":
		q.review = &authorizationv1.SelfSubjectAccessReview{}
		return q.review.Unmarshal(envelope.Raw)
	default:
		return apierrors.NewBadRequest("no protobuf for " + envelope.Kind)
	}
	if err := sent.Unmarshal(envelope.Raw); err != nil {
		return err
	}
	var fields []metav1.ManagedFieldsEntry
	if o, is := sent.(metav1.Object); is {
		fields = o.GetManagedFields()
		o.SetManagedFields(nil)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(sent)
	if err != nil {
		return err
	}
	q.sent = draftOf(content)
	q.sent.fields = fields
	q.sent.SetAPIVersion(envelope.APIVersion)
	q.sent.SetKind(envelope.Kind)
	return nil
}
