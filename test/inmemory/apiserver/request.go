package apiserver

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// parse reads a request.
func (s *Server) parse(r *http.Request) (*query, error) {
	if path := strings.Trim(r.URL.Path, "/"); path == "api" || path == "apis" {
		return &query{verb: "discover", core: path == "api"}, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	asked, params := faultproxy.Parse(r.Method, r.URL), r.URL.Query()
	version := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	plural, group, _ := strings.Cut(asked.Resource, ".")
	q := &query{
		verb: asked.Verb, watch: asked.Verb == "watch", from: params.Get("resourceVersion"), labels: params.Get("labelSelector"),
		dryRun: asked.DryRun, manager: asked.Manager, force: params.Get("force") == "true",
		name:    strings.TrimPrefix(params.Get("fieldSelector"), "metadata.name="),
		content: r.Header.Get("Content-Type"), body: body,
	}
	if q.body, err = plain(q.content, body); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if plural == "selfsubjectaccessreviews" {
		q.verb = "review"
		return q, nil
	}
	at := 1
	if version[0] == "apis" {
		at = 2
	}
	if len(version) <= at {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: r.URL.Path}, "")
	}
	s.mu.Lock()
	found, served := s.find(group, version[at], plural)
	s.mu.Unlock()
	q.kind = found
	if !served {
		return nil, apierrors.NewGenericServerResponse(http.StatusNotFound, q.verb, schema.GroupResource{Group: group, Resource: plural}, "", "", 0, true)
	}
	q.at = key{found.group, found.name, asked.Namespace, asked.Name}
	if !found.namespaced {
		q.at.namespace = ""
	}
	user := r.Header.Get("Impersonate-User")
	if s.Allowed != nil && !s.Allowed(user, q.verb, asked.Resource) {
		return nil, forbidden(q)
	}
	if params.Get("sendInitialEvents") == "true" {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil) // clients list and watch then
	}
	return q, nil
}

// plain is a body as JSON.
func plain(content string, body []byte) ([]byte, error) {
	const magic = "k8s\x00"
	if !strings.HasPrefix(string(body), magic) {
		return body, nil
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(body[len(magic):]); err != nil {
		return nil, err
	}
	message, is := map[string]interface{ Unmarshal([]byte) error }{
		"ConfigMap": &corev1.ConfigMap{}, "Secret": &corev1.Secret{}, "Event": &corev1.Event{}, "Lease": &coordinationv1.Lease{},
		"SelfSubjectAccessReview": &authorizationv1.SelfSubjectAccessReview{}, "DeleteOptions": &metav1.DeleteOptions{},
	}[envelope.Kind]
	if !is {
		return nil, apierrors.NewBadRequest("no protobuf for " + envelope.Kind + " as " + content)
	}
	if err := message.Unmarshal(envelope.Raw); err != nil {
		return nil, err
	}
	text, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	var o map[string]any
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, err
	}
	o["apiVersion"], o["kind"] = envelope.APIVersion, envelope.Kind
	return json.Marshal(o)
}
