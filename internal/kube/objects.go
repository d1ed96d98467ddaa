package kube

import (
	"bytes"
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Objects gives all objects that a label selector selects, in one namespace or,
// with "", in all, without their managedFields. It calls each when the whole
// list has come; the object may be kept.
func (c *Client) Objects(ctx context.Context, r lynq.APIResource, namespace, selector string, each func(*unstructured.Unstructured)) error {
	var all []unstructured.Unstructured
	err := c.inPages(func(limit int64) error {
		var err error
		all, err = c.objects(ctx, r, namespace, metav1.ListOptions{LabelSelector: selector, Limit: limit})
		return err
	})
	for i := range all {
		each(&all[i])
	}
	return err
}

// objects is one try of Objects.
func (c *Client) objects(ctx context.Context, r lynq.APIResource, namespace string, o metav1.ListOptions) ([]unstructured.Unstructured, error) {
	req := listRequest(r, namespace, acceptJSON)
	var all []unstructured.Unstructured
	for {
		req.params = listParams(o)
		body, err := c.send(ctx, &req)
		if err != nil {
			return nil, err
		}
		page, err := readItems(bytes.NewReader(body), r, func(o *unstructured.Unstructured) { all = append(all, *o) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", req.text(), err)
		}
		if o.Continue = page.Continue; o.Continue == "" {
			return all, nil
		}
	}
}
