package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// The accepted formats of answers. Servers without protobuf for a kind, or without metadata
// alone, send the last one.
const (
	acceptJSON     = "application/json"
	acceptProtobuf = contentProtobuf + "," + acceptJSON
	acceptMetadata = contentProtobuf + ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io," +
		acceptJSON + ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io," + acceptJSON
	acceptMetadataList = contentProtobuf + ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io," +
		acceptJSON + ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io," + acceptJSON
)

// Watches ask for JSON events.
const (
	acceptJSONMetadata     = acceptJSON + ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io," + acceptJSON
	acceptJSONMetadataList = acceptJSON + ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io," + acceptJSON
)

// The formats of bodies.
const (
	contentJSON     = "application/json"
	contentProtobuf = "application/vnd.kubernetes.protobuf"
)

// request is a request to the server. The client can send it any number of times.
type request struct {
	verb   string // as people know it; errors name it
	method string
	accept string

	// path is set for a request without a resource, otherwise "".
	path            string
	resource        lynq.APIResource
	namespace, name string

	params      url.Values
	body        []byte
	contentType string
}

// text describes the request: "update deployments.apps shop/web".
func (r *request) text() string {
	if r.path != "" {
		return r.verb + " " + r.path
	}
	b := r.verb + " " + resourceName(r.resource)
	switch {
	case r.name != "" && r.namespace != "":
		b += " " + r.namespace + "/" + r.name
	case r.name != "":
		b += " " + r.name
	case r.namespace != "":
		b += " in namespace " + r.namespace
	case r.resource.Namespaced:
		b += " in all namespaces"
	}
	if r.params.Has("dryRun") {
		b += " (dry run)"
	}
	return b
}

// check refuses a request with an unintended meaning: deleting an object without a name
// would delete all.
func (r *request) check() error {
	if r.path != "" {
		return nil
	}
	ofAll := r.method == http.MethodPost || r.verb == "list" || r.verb == "watch"
	switch {
	case r.name == "" && !ofAll:
		return fmt.Errorf("%s: there is no name", r.text())
	case r.namespace == "" && r.resource.Namespaced && r.verb != "list" && r.verb != "watch":
		return fmt.Errorf("%s: kind %s has namespaces, and there is none", r.text(), r.resource.Kind)
	case r.namespace != "" && !r.resource.Namespaced:
		return fmt.Errorf("%s: kind %s has no namespaces", r.text(), r.resource.Kind)
	}
	return nil
}

// check refuses a request with an unintended meaning, or outside of the client's namespaces.
func (c *Client) check(r *request) error {
	if err := r.check(); err != nil {
		return err
	}
	return c.within(r)
}

// build makes the request for one try.
func (c *Client) build(r *request) *rest.Request {
	req := c.rest.Verb(r.method).MaxRetries(0).SetHeader("Accept", r.accept)
	if r.path != "" {
		req.AbsPath(r.path)
	} else {
		root := []string{"/api", r.resource.Version}
		if r.resource.Group != "" {
			root = []string{"/apis", r.resource.Group, r.resource.Version}
		}
		req.AbsPath(root...).Resource(r.resource.Plural)
		req.NamespaceIfScoped(r.namespace, r.namespace != "")
		if r.name != "" && r.method != http.MethodPost {
			req.Name(r.name)
		}
	}
	for key, values := range r.params {
		for _, v := range values {
			req.Param(key, v)
		}
	}
	if r.body != nil {
		req.SetHeader("Content-Type", r.contentType).Body(r.body)
	}
	return req
}

// send sends a request until an answer comes, and returns the answer's body.
func (c *Client) send(ctx context.Context, r *request) ([]byte, error) {
	if err := c.check(r); err != nil {
		return nil, err
	}
	ctx = hiding(ctx, r)
	var body []byte
	var refused error
	err := c.patience.try(ctx, func() error {
		if refused = c.refused(r); refused != nil {
			return errNotSent
		}
		result := c.build(r).Do(c.sending(ctx, r))
		var err error
		if body, err = result.Raw(); err == nil {
			return nil
		}
		if refused = c.refused(r); refused != nil {
			return errNotSent
		}
		return result.Error() // this is the Status in the body, if it has one
	})
	switch {
	case refused != nil:
		return nil, fmt.Errorf("%s: %w", r.text(), refused)
	case err != nil:
		return nil, c.explain(ctx, r, err)
	}
	return body, nil
}

// receive works like send for a request that writes nothing, and reads the answer's body
// into a buffer. It overwrites an earlier answer there.
func (c *Client) receive(ctx context.Context, r *request, into *bytes.Buffer) error {
	if c.log.Level >= levelBodies { // only send logs bodies
		body, err := c.send(ctx, r)
		into.Reset()
		_, _ = into.Write(body) // a buffer never fails
		return err
	}
	if err := c.check(r); err != nil {
		return err
	}
	ctx = hiding(ctx, r)
	err := c.patience.try(ctx, func() error {
		body, err := c.build(r).Stream(c.logging(ctx, r))
		if err != nil {
			return err
		}
		defer func() { _ = body.Close() }() // nothing was written
		into.Reset()
		if _, err := into.ReadFrom(body); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		return nil
	})
	if err != nil {
		return c.explain(ctx, r, err)
	}
	return nil
}

// hiding returns the context of a request. No message quotes a Secret.
func hiding(ctx context.Context, r *request) context.Context {
	if isSecret(r.resource) {
		return redact.HideMessages(ctx)
	}
	return ctx
}

// errNotSent ends the tries of a request without permission.
var errNotSent = errors.New("not sent")

// asks reports whether a request needs permission.
func (c *Client) asks(r *request) bool {
	return c.mayWrite != nil && r.method != http.MethodGet && !r.params.Has("dryRun")
}

// refused says why a request may not be sent now, or returns nil.
func (c *Client) refused(r *request) error {
	if !c.asks(r) {
		return nil
	}
	return c.mayWrite()
}

// sending returns the context of a request.
func (c *Client) sending(ctx context.Context, r *request) context.Context {
	if c.asks(r) {
		ctx = withLeave(ctx, c.mayWrite)
	}
	return c.logging(ctx, r)
}

// stream sends a request once. The caller reads and closes the answer's body.
func (c *Client) stream(ctx context.Context, r *request) (io.ReadCloser, error) {
	if err := c.check(r); err != nil {
		return nil, err
	}
	ctx = hiding(ctx, r)
	body, err := c.build(r).Stream(c.logging(ctx, r))
	if err != nil {
		return nil, c.explain(ctx, r, err)
	}
	return body, nil
}

// logging makes client-go log what the client's options say, and nothing else.
func (c *Client) logging(ctx context.Context, r *request) context.Context {
	return klog.NewContext(ctx, c.log.of(r, c.bodies.Load()))
}

// listParams returns the parameters of a list or a watch.
func listParams(o metav1.ListOptions) url.Values {
	params := url.Values{}
	set := func(key, value string, given bool) {
		if given {
			params.Set(key, value)
		}
	}
	set("labelSelector", o.LabelSelector, o.LabelSelector != "")
	set("fieldSelector", o.FieldSelector, o.FieldSelector != "")
	set("continue", o.Continue, o.Continue != "")
	set("resourceVersion", o.ResourceVersion, o.ResourceVersion != "")
	set("resourceVersionMatch", string(o.ResourceVersionMatch), o.ResourceVersionMatch != "")
	set("limit", strconv.FormatInt(o.Limit, 10), o.Limit > 0)
	set("watch", "true", o.Watch)
	set("allowWatchBookmarks", "true", o.AllowWatchBookmarks)
	set("sendInitialEvents", "true", o.SendInitialEvents != nil && *o.SendInitialEvents)
	if o.TimeoutSeconds != nil {
		params.Set("timeoutSeconds", strconv.FormatInt(*o.TimeoutSeconds, 10))
	}
	return params
}

// resourceName returns kubectl's name for a kind: "deployments.apps".
func resourceName(r lynq.APIResource) string {
	return strings.TrimSuffix(r.Plural+"."+r.Group, ".")
}
