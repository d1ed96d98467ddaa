package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Metadata returns the metadata of one object.
func (c *Client) Metadata(ctx context.Context, r lynq.APIResource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	return c.metadata(ctx, &request{verb: "get", method: http.MethodGet, accept: acceptMetadata, resource: r, namespace: namespace, name: name})
}

// Get returns one object.
func (c *Client) Get(ctx context.Context, r lynq.APIResource, namespace, name string) (*unstructured.Unstructured, error) {
	_, obj, err := c.ReadObject(ctx, r, namespace, name)
	return obj, err
}

// ReadObject returns one object, and its metadata as in ReadObjects.
func (c *Client) ReadObject(ctx context.Context, r lynq.APIResource, namespace, name string) (*metav1.PartialObjectMetadata, *unstructured.Unstructured, error) {
	req := &request{verb: "get", method: http.MethodGet, accept: acceptJSON, resource: r, namespace: namespace, name: name}
	body, err := c.send(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	obj, err := decodeObject(body, r.Kind)
	m, metaErr := metadataOf(r, body)
	if err = errors.Join(err, metaErr); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", req.text(), err)
	}
	return m, obj, nil
}

// Write sends one object, see apply.Cluster.
func (c *Client) Write(ctx context.Context, r lynq.APIResource, w write.Request) (*metav1.PartialObjectMetadata, error) {
	if err := errors.Join(checkOwners(&w), checkBound(&w)); err != nil {
		return nil, err
	}
	return c.metadata(ctx, writeRequest(r, w))
}

// writeRequest returns the request for a write.
func writeRequest(r lynq.APIResource, w write.Request) *request {
	req := &request{
		accept: acceptMetadata, resource: r, namespace: w.Namespace, name: w.Name,
		params: url.Values{"fieldManager": {wellknown.FieldManager}},
		body:   w.Body, contentType: contentJSON,
	}
	switch w.Verb {
	case write.Create:
		req.verb, req.method = "create", http.MethodPost
	case write.Update:
		req.verb, req.method = "update", http.MethodPut
	case write.Apply:
		req.verb, req.method, req.contentType = "apply", http.MethodPatch, string(w.Verb.PatchType())
		if w.Force {
			req.params.Set("force", "true")
		}
	default:
		req.verb, req.method, req.contentType = "patch", http.MethodPatch, string(w.Verb.PatchType())
	}
	if w.DryRun {
		req.params.Set("dryRun", metav1.DryRunAll)
	}
	return req
}

// Delete deletes the object that a permit names, see apply.Cluster.
func (c *Client) Delete(ctx context.Context, r lynq.APIResource, permit decide.Permit, how write.Deletion) (gone bool, err error) {
	if err := permit.Check(how.DryRun); err != nil {
		return false, err
	}
	o := metav1.DeleteOptions{Preconditions: preconditions(permit), PropagationPolicy: optional(how.Propagation)}
	if how.DryRun {
		o.DryRun = []string{metav1.DryRunAll}
	}
	return c.delete(ctx, r, permit.Ref().Namespace, permit.Ref().Name, o)
}

func preconditions(permit decide.Permit) *metav1.Preconditions {
	return &metav1.Preconditions{UID: optional(permit.UID()), ResourceVersion: optional(permit.Version())}
}

// delete deletes one object, and reports whether it is gone. A server that removed the
// object answers with a Status, or with the object as it was. A server that only marked it
// answers with the object and its deletionTimestamp. If an answer is lost, and the next try
// finds no object, the error is NotFound.
func (c *Client) delete(ctx context.Context, r lynq.APIResource, namespace, name string, o metav1.DeleteOptions) (gone bool, err error) {
	o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}
	body, err := json.Marshal(&o)
	if err != nil {
		return false, err
	}
	req := &request{
		verb: "delete", method: http.MethodDelete, accept: acceptMetadata,
		resource: r, namespace: namespace, name: name, body: body, contentType: contentJSON,
	}
	if len(o.DryRun) > 0 {
		req.params = url.Values{"dryRun": o.DryRun}
	}
	if body, err = c.send(ctx, req); err != nil {
		return false, err
	}
	obj, status := &metav1.PartialObjectMetadata{}, &metav1.Status{}
	switch {
	case decode(body, obj, "PartialObjectMetadata", r.Kind) == nil:
		return obj.DeletionTimestamp == nil, nil
	case decode(body, status, "Status") == nil:
		return status.Status == metav1.StatusSuccess, nil
	}
	return false, nil // whatever the answer says, the server did it
}

// metadata sends a request that the server answers with one object.
func (c *Client) metadata(ctx context.Context, r *request) (*metav1.PartialObjectMetadata, error) {
	obj := &metav1.PartialObjectMetadata{}
	if err := c.exchange(ctx, r, obj, "PartialObjectMetadata", r.resource.Kind); err != nil {
		return nil, err
	}
	obj.TypeMeta = typeMeta(r.resource)
	return obj, nil
}

// exchange sends a request for one object and decodes the answer.
func (c *Client) exchange(ctx context.Context, r *request, out message, kinds ...string) error {
	body, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	if err := decode(body, out, kinds...); err != nil {
		return fmt.Errorf("%s: %w", r.text(), err)
	}
	return nil
}
