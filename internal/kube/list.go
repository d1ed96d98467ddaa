package kube

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// List reads the metadata of objects, see observe.Reader.
func (c *Client) List(ctx context.Context, r lynq.APIResource, namespace, selector string, read func(*metav1.PartialObjectMetadata) (note func())) error {
	page := func(body []byte, keep func(note func())) (string, error) {
		list := &metav1.PartialObjectMetadataList{}
		if err := decode(body, list, "PartialObjectMetadataList", r.Kind+"List"); err != nil {
			return "", err
		}
		for i := range list.Items {
			m := &list.Items[i]
			m.TypeMeta = typeMeta(r)
			keep(read(m))
		}
		return list.Continue, nil
	}
	return c.readList(ctx, listRequest(r, namespace, acceptMetadataList), labelled(selector), page)
}

// listConfigMaps reads whole ConfigMaps, like List.
func (c *Client) listConfigMaps(ctx context.Context, namespace, selector string, read func(*corev1.ConfigMap) (note func())) error {
	page := func(body []byte, keep func(note func())) (string, error) {
		list := &corev1.ConfigMapList{}
		if err := decode(body, list, "ConfigMapList"); err != nil {
			return "", err
		}
		for i := range list.Items {
			keep(read(&list.Items[i]))
		}
		return list.Continue, nil
	}
	return c.readList(ctx, listRequest(configMapResource(), namespace, acceptProtobuf), labelled(selector), page)
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

// readList reads all pages of a list. After the last page, it calls all notes that the pages
// kept. The pages show one moment. If reading takes longer than the server keeps that
// moment, it answers 410. readList then drops the notes, and asks for everything in one
// page, which can't expire. The request has no resource version, so the list contains all
// earlier writes. The bytes of a page are valid only during the call of page.
func (c *Client) readList(ctx context.Context, r *request, o metav1.ListOptions, page func(body []byte, keep func(note func())) (next string, err error)) error {
	var notes []func()
	keep := func(note func()) {
		if note != nil {
			notes = append(notes, note)
		}
	}
	var body bytes.Buffer
	for o.Limit = c.pageSize; ; {
		r.params = listParams(o)
		err := c.receive(ctx, r, &body)
		if apierrors.IsResourceExpired(err) && o.Continue != "" {
			notes, o.Limit, o.Continue = nil, 0, ""
			continue
		}
		if err != nil {
			return err
		}
		if o.Continue, err = page(body.Bytes(), keep); err != nil {
			return fmt.Errorf("%s: %w", r.text(), err)
		}
		if o.Continue == "" {
			break
		}
	}
	for i, note := range notes {
		notes[i] = nil // so that memory of unneeded objects becomes free
		note()
	}
	return nil
}
