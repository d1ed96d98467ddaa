package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Objects returns all objects that a label selector selects, in one namespace or, with "",
// in all. They have no managedFields. It calls each after the whole list has come, and each
// may keep the object.
func (c *Client) Objects(ctx context.Context, r lynq.APIResource, namespace, selector string, each func(*unstructured.Unstructured)) error {
	return c.objects(ctx, r, namespace, labelled(selector), each)
}

// Warnings works like Objects, for the warning events of a namespace.
func (c *Client) Warnings(ctx context.Context, events lynq.APIResource, namespace string, each func(*unstructured.Unstructured)) error {
	return c.objects(ctx, events, namespace, metav1.ListOptions{FieldSelector: "type=Warning"}, each)
}

func (c *Client) objects(ctx context.Context, r lynq.APIResource, namespace string, selector metav1.ListOptions, each func(*unstructured.Unstructured)) error {
	page := func(body []byte) (runtime.Object, error) {
		list := &unstructured.UnstructuredList{}
		m, err := readItems(bytes.NewReader(body), r, func(o *unstructured.Unstructured, _ []byte) { list.Items = append(list.Items, *o) })
		list.SetContinue(m.Continue)
		return list, err
	}
	return readList(ctx, c, listRequest(r, namespace, acceptJSON), selector, page, each)
}

// ReadObjects reads all objects that a label selector selects, see observe.ObjectReader.
func (c *Client) ReadObjects(ctx context.Context, r lynq.APIResource, namespace, selector string, read func(*metav1.PartialObjectMetadata, *unstructured.Unstructured) (note func())) error {
	page := func(body []byte) (runtime.Object, error) {
		list := &sights{}
		var problems []error
		m, err := readItems(bytes.NewReader(body), r, func(o *unstructured.Unstructured, text []byte) {
			one, problem := metadataOf(r, text)
			s := sightOf(o)
			s.note = read(one, o)
			list.Items, problems = append(list.Items, *s), append(problems, problem)
		})
		list.SetContinue(m.Continue)
		return list, errors.Join(append(problems, err)...)
	}
	return readList(ctx, c, listRequest(r, namespace, acceptJSON), labelled(selector), page, func(s *sight) { s.note() })
}

// metadataOf decodes an object's metadata from its text, which has the server's exact
// managedFields.
func metadataOf(r lynq.APIResource, text []byte) (*metav1.PartialObjectMetadata, error) {
	m := &metav1.PartialObjectMetadata{}
	err := json.Unmarshal(text, m)
	m.TypeMeta = typeMeta(r)
	return m, err
}
