package kube

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A client with namespaces serves people who have permissions only in these. It sends no
// request about objects of another namespace. It answers such a request with Forbidden, as
// the server would, and so it answers a list of all namespaces. A list therefore never lacks
// objects: whoever can't see an object knows that, and doesn't take it for absent.
//
// Records and LynqNodes come from several lists (see listRecords, and listIn of observe),
// because their readers know in which namespaces a hub has records.

// within refuses a request about objects outside of the client's namespaces.
func (c *Client) within(r *request) error {
	if len(c.namespaces) == 0 || r.path != "" || !r.resource.Namespaced || slices.Contains(c.namespaces, r.namespace) {
		return nil
	}
	where := "namespace " + r.namespace + " isn't one of them"
	if r.namespace == "" {
		where = "it concerns all namespaces"
	}
	why := apierrors.NewForbidden(schema.GroupResource{Group: r.resource.Group, Resource: r.resource.Plural}, r.name,
		fmt.Errorf("this run works only in --namespaces %s, and %s", strings.Join(c.namespaces, ","), where))
	return fmt.Errorf("%s: %w", r.text(), why)
}

// listRecords lists ConfigMaps. Without a namespace, a client with namespaces lists them in
// each of these.
func (c *Client) listRecords(ctx context.Context, namespace, selector string, read func(*corev1.ConfigMap) (note func())) error {
	namespaces := []string{namespace}
	if namespace == "" && len(c.namespaces) > 0 {
		namespaces = c.namespaces
	}
	for _, namespace := range namespaces {
		if err := c.listConfigMaps(ctx, namespace, selector, read); err != nil {
			return err
		}
	}
	return nil
}

// Namespaces returns the namespaces to which the client keeps, nil for all.
func (c *Client) Namespaces() []string { return c.namespaces }
