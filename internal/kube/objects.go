package kube

import (
	"bytes"
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Objects gives all objects that a label selector selects, in one namespace or,
// with "", in all, without their managedFields. It calls each when the whole
// list has come; the object may be kept.
func (c *Client) Objects(ctx context.Context, r lynq.APIResource, namespace, selector string, each func(*unstructured.Unstructured)) error {
	page := func(body []byte) (runtime.Object, error) {
		list := &unstructured.UnstructuredList{}
		m, err := readItems(bytes.NewReader(body), r, func(o *unstructured.Unstructured) { list.Items = append(list.Items, *o) })
		list.SetContinue(m.Continue)
		return list, err
	}
	return readList(ctx, c, listRequest(r, namespace, acceptJSON), selector, page, each)
}
