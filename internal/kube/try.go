package kube

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Try sends a write as a dry run, see apply.Cluster.
func (c *Client) Try(ctx context.Context, r lynq.APIResource, w write.Request) (*unstructured.Unstructured, *metav1.PartialObjectMetadata, error) {
	w.DryRun = true
	req := writeRequest(r, w)
	req.accept = acceptJSON
	body, err := c.send(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	obj, err := decodeObject(body, r.Kind)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", req.text(), err)
	}
	m := &metav1.PartialObjectMetadata{}
	if err := decode(body, m, r.Kind); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", req.text(), err)
	}
	m.TypeMeta = typeMeta(r)
	return obj, m, nil
}
