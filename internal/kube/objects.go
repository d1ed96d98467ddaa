package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Objects returns all objects that a label selector selects, in one namespace or, with "",
// in all. They have no managedFields. It calls each after the whole list has come, and each
// may keep the object.
func (c *Client) Objects(ctx context.Context, r lynq.APIResource, namespace, selector string, each func(*unstructured.Unstructured)) error {
	return c.objects(ctx, r, namespace, labelled(selector), each)
}

// Warnings works like Objects, for the warning events of a namespace. It leaves out those of
// lynqctl, which only repeat causes.
func (c *Client) Warnings(ctx context.Context, events lynq.APIResource, namespace string, each func(*unstructured.Unstructured)) error {
	return c.objects(ctx, events, namespace, metav1.ListOptions{FieldSelector: "type=Warning,source!=lynqctl"}, each)
}

func (c *Client) objects(ctx context.Context, r lynq.APIResource, namespace string, selector metav1.ListOptions, each func(*unstructured.Unstructured)) error {
	page := func(body []byte, keep func(note func())) (string, error) {
		m, err := readItems(bytes.NewReader(body), r, func(o *unstructured.Unstructured, _ []byte) { keep(func() { each(o) }) })
		return m.Continue, err
	}
	return c.readList(ctx, listRequest(r, namespace, acceptJSON), selector, page)
}

// ReadObjects reads all objects that a label selector selects, see observe.ObjectReader.
func (c *Client) ReadObjects(ctx context.Context, r lynq.APIResource, namespace, selector string, read func(*metav1.PartialObjectMetadata, *unstructured.Unstructured) (note func())) error {
	page := func(body []byte, keep func(note func())) (string, error) {
		var problems []error
		m, err := readItems(bytes.NewReader(body), r, func(o *unstructured.Unstructured, text []byte) {
			one, problem := metadataOf(r, text)
			problems = append(problems, problem)
			keep(read(one, o))
		})
		return m.Continue, errors.Join(append(problems, err)...)
	}
	return c.readList(ctx, listRequest(r, namespace, acceptJSON), labelled(selector), page)
}

// metadataOf decodes an object's metadata from its text, which has the server's exact
// managedFields.
func metadataOf(r lynq.APIResource, text []byte) (*metav1.PartialObjectMetadata, error) {
	m := &metav1.PartialObjectMetadata{}
	err := json.Unmarshal(text, m)
	m.TypeMeta = typeMeta(r)
	return m, err
}
