package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	applywait "github.com/lynqctl/lynqctl/pkg/apply/wait"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Watch reports objects and their changes to the handler, see apply.Cluster. The objects
// have no managedFields. It returns nil when the context ends.
//
// client-go's Reflector does the work. It never gives up by itself, so Watch cancels it
// after an error that won't pass. The watcher decodes objects one by one as they come, and
// passes sights of them to the Reflector.
func (c *Client) Watch(ctx context.Context, r lynq.APIResource, in applywait.Scope, h applywait.Handler) error {
	return c.reflect(ctx, &watcher{client: c, resource: r, scope: in, handler: h, read: h.Read})
}

// WatchMetadata works like Watch, for metadata alone, see applywait.MetadataHandler.
func (c *Client) WatchMetadata(ctx context.Context, r lynq.APIResource, in applywait.Scope, h applywait.MetadataHandler) error {
	return c.reflect(ctx, &watcher{client: c, resource: r, scope: in, handler: h, readMetadata: h.ReadMetadata})
}

// reflect watches until the context ends, or an error won't pass.
func (c *Client) reflect(ctx context.Context, w *watcher) error {
	r := w.resource
	within, cancel := context.WithCancelCause(c.logging(ctx, &request{resource: r}))
	defer cancel(nil)
	w.giveUp = cancel
	reflector := cache.NewReflectorWithOptions(
		&cache.ListWatch{ListWithContextFunc: w.list, WatchFuncWithContext: w.watch},
		&sight{}, newSeen(w.handler), cache.ReflectorOptions{Name: resourceName(r), Backoff: c.relist()},
	)
	reflector.WatchListPageSize = c.pageSize
	reflector.RunWithContext(within)
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(within)
}

// relist returns the pauses before a failed watch begins again.
func (*Client) relist() *wait.Backoff {
	return &wait.Backoff{Duration: firstPause, Factor: 2, Jitter: 1, Steps: maxTries, Cap: longestAsked}
}

// watcher implements what a Reflector needs from a server.
type watcher struct {
	client   *Client
	resource lynq.APIResource
	scope    applywait.Scope
	handler  goneHandler
	// read reads whole objects, and readMetadata only metadata. One of them is set.
	read         func(*unstructured.Unstructured) (note func())
	readMetadata func(*metav1.PartialObjectMetadata) (note func())
	giveUp       context.CancelCauseFunc
}

// goneHandler receives deleted objects from any watch.
type goneHandler interface {
	Gone(namespace, name string, uid types.UID)
	Synced()
}

// request returns a request for the objects in the scope.
func (w *watcher) request(verb string, o metav1.ListOptions) *request {
	o.LabelSelector = w.scope.Labels
	if w.scope.Name != "" {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, w.scope.Name).String()
	}
	accept := acceptJSON
	switch {
	case w.readMetadata != nil && verb == "list":
		accept = acceptJSONMetadataList
	case w.readMetadata != nil:
		accept = acceptJSONMetadata
	}
	return &request{
		verb: verb, method: http.MethodGet, accept: accept,
		resource: w.resource, namespace: w.scope.Namespace, params: listParams(o),
	}
}

// see decodes an object. there says that it exists.
func (w *watcher) see(text []byte, there bool) (*sight, error) {
	if w.readMetadata != nil {
		m := &metav1.PartialObjectMetadata{}
		if err := utiljson.Unmarshal(text, m); err != nil {
			return nil, err
		}
		s := sightOf(m)
		if there {
			s.note = w.readMetadata(m)
		}
		return s, nil
	}
	o := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(text, &o.Object); err != nil {
		return nil, err
	}
	o.SetManagedFields(nil)
	s := sightOf(o)
	if there {
		s.note = w.read(o)
	}
	return s, nil
}

// seeItem works like see, for an object of a list.
func (w *watcher) seeItem(o *unstructured.Unstructured, text []byte) (*sight, error) {
	if w.readMetadata != nil {
		return w.see(text, true)
	}
	s := sightOf(o)
	s.note = w.read(o)
	return s, nil
}

// list reads one page.
func (w *watcher) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if o.ResourceVersion == "0" {
		o.ResourceVersion = "" // a cache may lack our own writes
	}
	req := w.request("list", o)
	var body io.ReadCloser
	err := w.client.patience.try(ctx, func() (err error) {
		body, err = w.client.stream(ctx, req)
		return err
	})
	if err != nil {
		return nil, w.judge(err)
	}
	defer func() { _ = body.Close() }()
	page := &sights{}
	var unread error
	page.ListMeta, err = readItems(body, w.resource, func(o *unstructured.Unstructured, text []byte) {
		s, err := w.seeItem(o, text)
		if err != nil {
			unread = err
			return
		}
		page.Items = append(page.Items, *s)
	})
	if err = cmp.Or(err, unread); err != nil {
		return nil, w.judge(fmt.Errorf("%s: %w", req.text(), err))
	}
	return page, nil
}

// watch opens a stream of events.
func (w *watcher) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.Watch = true
	req := w.request("watch", o)
	body, err := w.client.stream(ctx, req)
	if err != nil {
		if o.SendInitialEvents != nil && (apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)) {
			return nil, err // an older server: the Reflector then lists
		}
		return nil, w.judge(err)
	}
	reporter := apierrors.NewClientErrorReporter(http.StatusInternalServerError, req.verb, "ClientWatchDecoding")
	return watch.NewStreamWatcher(&events{watcher: w, body: body, decoder: json.NewDecoder(body)}, reporter), nil
}

// judge ends the watch after an error that won't pass.
func (w *watcher) judge(err error) error {
	if !passing(err) && !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		w.giveUp(err)
	}
	return err
}

// events decodes a stream of watch events. It implements watch.Decoder.
type events struct {
	watcher *watcher
	body    io.ReadCloser
	decoder *json.Decoder
}

// Decode implements watch.Decoder.
func (e *events) Decode() (watch.EventType, runtime.Object, error) {
	var event struct {
		Type   watch.EventType `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if err := e.decoder.Decode(&event); err != nil {
		if passing(err) && !errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // the Reflector then continues from where it was
		}
		return "", nil, err
	}
	if event.Type == watch.Error {
		status := &metav1.Status{}
		err := utiljson.Unmarshal(event.Object, status)
		return event.Type, status, err
	}
	s, err := e.watcher.see(event.Object, event.Type == watch.Added || event.Type == watch.Modified)
	if err != nil {
		return "", nil, err
	}
	return event.Type, s, nil
}

// Close implements watch.Decoder.
func (e *events) Close() {
	_ = e.body.Close() // nothing more of it is needed
}
