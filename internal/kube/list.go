package kube

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// List returns the metadata of objects, see apply.Cluster. It calls each after the whole
// list has come.
func (c *Client) List(ctx context.Context, r lynq.APIResource, namespace, selector string, each func(*metav1.PartialObjectMetadata)) error {
	page := func(body []byte) (runtime.Object, error) {
		list := &metav1.PartialObjectMetadataList{}
		return list, decode(body, list, "PartialObjectMetadataList", r.Kind+"List")
	}
	return readList(ctx, c, listRequest(r, namespace, acceptMetadataList), labelled(selector), page, func(m *metav1.PartialObjectMetadata) {
		m.TypeMeta = typeMeta(r)
		each(m)
	})
}

// listConfigMaps returns whole ConfigMaps.
func (c *Client) listConfigMaps(ctx context.Context, namespace, selector string, each func(*corev1.ConfigMap)) error {
	page := func(body []byte) (runtime.Object, error) {
		list := &corev1.ConfigMapList{}
		return list, decode(body, list, "ConfigMapList")
	}
	return readList(ctx, c, listRequest(configMapResource(), namespace, acceptProtobuf), labelled(selector), page, each)
}

// labelled returns list options with a label selector.
func labelled(selector string) metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: selector}
}

func listRequest(r lynq.APIResource, namespace, accept string) *request {
	return &request{verb: "list", method: http.MethodGet, accept: accept, resource: r, namespace: namespace}
}

// typeMeta returns the kind of an object whose metadata came alone.
func typeMeta(r lynq.APIResource) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: r.APIVersion(), Kind: r.Kind}
}

// readList reads all pages of a list before it passes any object to each. The pages show
// one moment. If reading takes longer than the server keeps that moment, it answers 410.
// The pager then asks for everything in one page, which can't expire. The request has no
// resource version, so the list contains all earlier writes.
func readList[O runtime.Object](ctx context.Context, c *Client, r *request, selector metav1.ListOptions, page func(body []byte) (runtime.Object, error), each func(O)) error {
	p := pager.New(func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
		r.params = listParams(o)
		body, err := c.send(ctx, r)
		if err != nil {
			return nil, err
		}
		list, err := page(body)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.text(), err)
		}
		return list, nil
	})
	p.PageSize = c.pageSize
	list, _, err := p.List(context.WithoutCancel(ctx), selector) // send says what ended ctx
	if err != nil {
		return err
	}
	objects, err := meta.ExtractList(list)
	for i, o := range objects {
		objects[i] = nil // so that memory of unneeded objects becomes free
		object, ok := o.(O)
		if !ok {
			return fmt.Errorf("%s: there is a %T among the objects", r.text(), o)
		}
		each(object)
	}
	return err
}
