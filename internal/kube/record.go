package kube

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// ConfigMaps reads and writes whole ConfigMaps.
type ConfigMaps struct{ client *Client }

// ConfigMaps returns the ConfigMaps of the cluster.
func (c *Client) ConfigMaps() ConfigMaps { return ConfigMaps{c} }

// List reads ConfigMaps, see store.ConfigMaps.
func (m ConfigMaps) List(ctx context.Context, namespace, selector string, read func(*corev1.ConfigMap) (note func())) error {
	return m.client.listRecords(ctx, namespace, selector, read)
}

// Get returns one ConfigMap.
func (m ConfigMaps) Get(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	return read[corev1.ConfigMap](ctx, m.client, configMapResource(), namespace, name)
}

// Create creates a ConfigMap and returns it as the server stored it.
func (m ConfigMaps) Create(ctx context.Context, in *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	return create(ctx, m.client, configMapResource(), in)
}

// Update replaces a ConfigMap and returns it as the server stored it. If in has another
// resource version than the server, Update returns a conflict.
func (m ConfigMaps) Update(ctx context.Context, in *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	if in.UID == "" || in.ResourceVersion == "" {
		return nil, unbound(in.Namespace, in.Name)
	}
	return update(ctx, m.client, configMapResource(), in)
}

// Delete deletes the ConfigMap that a permit names, if it still has the permit's uid and
// version.
func (m ConfigMaps) Delete(ctx context.Context, permit decide.Permit) error {
	_, err := m.client.Delete(ctx, configMapResource(), permit, write.Deletion{})
	return err
}

// Patch sends a JSON patch to a ConfigMap and returns it as the server stored it.
func (m ConfigMaps) Patch(ctx context.Context, namespace, name string, patch []byte) (*corev1.ConfigMap, error) {
	if err := checkBound(&write.Request{Verb: write.JSONPatch, Namespace: namespace, Name: name, Body: patch}); err != nil {
		return nil, err
	}
	req := &request{
		verb: "patch", method: http.MethodPatch, accept: acceptProtobuf, resource: configMapResource(), namespace: namespace, name: name,
		params: url.Values{"fieldManager": {wellknown.FieldManager}}, body: patch, contentType: string(types.JSONPatchType),
	}
	out := &corev1.ConfigMap{}
	if err := m.client.exchange(ctx, req, out, "ConfigMap"); err != nil {
		return nil, err
	}
	return out, nil
}

func optional[S ~string](s S) *S {
	if s == "" {
		return nil
	}
	return &s
}

// Leases reads and writes Leases.
type Leases struct{ client *Client }

// Leases returns the Leases of the cluster.
func (c *Client) Leases() Leases { return Leases{c} }

// Get returns one Lease.
func (l Leases) Get(ctx context.Context, namespace, name string) (*coordinationv1.Lease, error) {
	return read[coordinationv1.Lease](ctx, l.client, leaseResource(), namespace, name)
}

// Create creates a Lease and returns it as the server stored it.
func (l Leases) Create(ctx context.Context, in *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return create(ctx, l.client, leaseResource(), in)
}

// Update replaces a Lease and returns it as the server stored it. If in has another
// resource version than the server, Update returns a conflict.
func (l Leases) Update(ctx context.Context, in *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	if in.UID == "" || in.ResourceVersion == "" {
		return nil, unbound(in.Namespace, in.Name)
	}
	return update(ctx, l.client, leaseResource(), in)
}

// Delete deletes a Lease if it has this uid and this resource version. It needs no permit,
// because a Lease owns nothing, and its holder may release it.
func (l Leases) Delete(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error {
	o := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &resourceVersion}}
	_, err := l.client.delete(ctx, leaseResource(), namespace, name, o)
	return err
}

// Event records an event in its namespace.
func (c *Client) Event(ctx context.Context, e *corev1.Event) error {
	e.Message = c.secrets.Hide(e.Message)
	_, err := create(ctx, c, eventResource(), e)
	return err
}

// Allowed reports whether the user has a verb for a kind, in a namespace or, with "", in
// all. With a name, it asks about one object.
func (c *Client) Allowed(ctx context.Context, verb, group, resource, namespace, name string) (bool, error) {
	r := lynq.APIResource{Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectAccessReview", Plural: "selfsubjectaccessreviews"}
	review, err := create(ctx, c, r, &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: group, Resource: resource, Name: name},
	}})
	if err != nil {
		return false, fmt.Errorf("ask the cluster what you may do: %w", err)
	}
	return review.Status.Allowed, nil
}

// secretValues reads keys of a Secret, all of one version.
func (c *Client) secretValues(ctx context.Context, namespace, name string, keys []string) ([]endpoint.Secret, error) {
	r := lynq.APIResource{Version: "v1", Kind: "Secret", Plural: "secrets", Namespaced: true}
	secret, err := read[corev1.Secret](ctx, c, r, namespace, name)
	if err != nil {
		return nil, err
	}
	values := make([]endpoint.Secret, len(keys))
	for i, key := range keys {
		value, ok := secret.Data[key]
		if !ok {
			return nil, fmt.Errorf("the cluster's Secret %s/%s has no key %q", namespace, name, key)
		}
		values[i] = endpoint.Secret(value)
	}
	return values, nil
}

func configMapResource() lynq.APIResource {
	return lynq.APIResource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true}
}

func leaseResource() lynq.APIResource {
	return lynq.APIResource{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Plural: "leases", Namespaced: true}
}

// object is a type of k8s.io that the client reads and writes whole.
type object[T any] interface {
	*T
	message
	metav1.Object
}

// read gets one whole object.
func read[T any, O object[T]](ctx context.Context, c *Client, r lynq.APIResource, namespace, name string) (*T, error) {
	req := &request{verb: "get", method: http.MethodGet, accept: acceptProtobuf, resource: r, namespace: namespace, name: name}
	out := new(T)
	if err := c.exchange(ctx, req, O(out), r.Kind); err != nil {
		return nil, err
	}
	return out, nil
}

// create sends a new object.
func create[T any, O object[T]](ctx context.Context, c *Client, r lynq.APIResource, in O) (*T, error) {
	return put[T, O](ctx, c, &request{verb: "create", method: http.MethodPost}, r, in)
}

// update replaces an object.
func update[T any, O object[T]](ctx context.Context, c *Client, r lynq.APIResource, in O) (*T, error) {
	return put[T, O](ctx, c, &request{verb: "update", method: http.MethodPut}, r, in)
}

// put completes a request with an object, sends it, and returns the object as the server
// stored it.
func put[T any, O object[T]](ctx context.Context, c *Client, req *request, r lynq.APIResource, in O) (*T, error) {
	body, err := encode(r.APIVersion(), r.Kind, in)
	if err != nil {
		return nil, err
	}
	req.accept, req.resource, req.namespace, req.name = acceptProtobuf, r, in.GetNamespace(), in.GetName()
	req.body, req.contentType = body, contentProtobuf
	req.params = url.Values{"fieldManager": {wellknown.FieldManager}}
	out := new(T)
	if err := c.exchange(ctx, req, O(out), r.Kind); err != nil {
		return nil, err
	}
	return out, nil
}
