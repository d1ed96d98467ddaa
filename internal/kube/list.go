package kube

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// pagedTries is how often a list is begun in pages. The pages of one list show
// one moment; if reading them takes longer than the server remembers that, it
// answers 410 and the list begins anew. The last try is in one piece, which
// cannot fail so.
const pagedTries = 2

// List gives the metadata of objects, see apply.Cluster. It calls each when the
// whole list has come.
func (c *Client) List(ctx context.Context, r lynq.APIResource, namespace, selector string, each func(*metav1.PartialObjectMetadata)) error {
	req := listRequest(r, namespace, acceptMetadataList)
	pages, err := readList(ctx, c, req, selector, func() *metav1.PartialObjectMetadataList { return &metav1.PartialObjectMetadataList{} },
		"PartialObjectMetadataList", r.Kind+"List")
	if err != nil {
		return err
	}
	for i, page := range pages {
		pages[i] = nil // what each does not keep can go
		for j := range page.Items {
			page.Items[j].TypeMeta = typeMeta(r)
			each(&page.Items[j])
		}
	}
	return nil
}

// listConfigMaps gives whole ConfigMaps.
func (c *Client) listConfigMaps(ctx context.Context, namespace, selector string, each func(*corev1.ConfigMap)) error {
	req := listRequest(configMapResource(), namespace, acceptProtobuf)
	pages, err := readList(ctx, c, req, selector, func() *corev1.ConfigMapList { return &corev1.ConfigMapList{} }, "ConfigMapList")
	if err != nil {
		return err
	}
	for i, page := range pages {
		pages[i] = nil
		for j := range page.Items {
			each(&page.Items[j])
		}
	}
	return nil
}

func listRequest(r lynq.APIResource, namespace, accept string) request {
	return request{verb: "list", method: http.MethodGet, accept: accept, resource: r, namespace: namespace}
}

// typeMeta names the kind of an object whose metadata came alone.
func typeMeta(r lynq.APIResource) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: r.APIVersion(), Kind: r.Kind}
}

// page is a list type of k8s.io.
type page interface {
	message
	metav1.ListInterface
}

// readList reads all pages of a list before it gives any.
func readList[P page](ctx context.Context, c *Client, r request, selector string, empty func() P, kinds ...string) ([]P, error) {
	var pages []P
	err := c.inPages(func(limit int64) error {
		var err error
		pages, err = readPages(ctx, c, r, metav1.ListOptions{LabelSelector: selector, Limit: limit}, empty, kinds)
		return err
	})
	return pages, err
}

// inPages tries a list until its pages show one moment. A limit of 0 asks for
// one piece.
func (c *Client) inPages(list func(limit int64) error) error {
	for try := 0; ; try++ {
		limit := c.pageSize
		if try == pagedTries {
			limit = 0
		}
		err := list(limit)
		if limit == 0 || !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			return err
		}
	}
}

// readPages is one try of readList. No resource version is given, so that what
// was written before is in the list.
func readPages[P page](ctx context.Context, c *Client, r request, o metav1.ListOptions, empty func() P, kinds []string) ([]P, error) {
	var pages []P
	for {
		r.params = listParams(o)
		body, err := c.send(ctx, &r)
		if err != nil {
			return nil, err
		}
		p := empty()
		if err := decode(body, p, kinds...); err != nil {
			return nil, fmt.Errorf("%s: %w", r.text(), err)
		}
		pages = append(pages, p)
		if o.Continue = p.GetContinue(); o.Continue == "" {
			return pages, nil
		}
	}
}
