package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// access reads and waits for objects as the administrator.
type access struct {
	// Dynamic is a client without a rate limit.
	Dynamic dynamic.Interface

	mapper *restmapper.DeferredDiscoveryRESTMapper
}

func newAccess(kubeconfig string) (*access, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))
	return &access{Dynamic: client, mapper: mapper}, nil
}

// resource returns the client for a reference such as "deployment/web" or
// "widgets.example.com/w", and the object's name.
func (a *access) resource(namespace, ref string) (dynamic.ResourceInterface, string, error) {
	kind, name, ok := strings.Cut(ref, "/")
	if !ok || kind == "" || name == "" {
		return nil, "", fmt.Errorf("%q is no reference: want KIND/NAME, such as deployment/web", ref)
	}
	mapping, err := a.mapping(schema.ParseGroupResource(kind))
	if err != nil {
		return nil, "", err
	}
	client := a.Dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return client.Namespace(namespace), name, nil
	}
	return client, name, nil
}

// resourceInTime works like resource, for a new kind that the server may not list yet
// although its definition is established.
func (a *access) resourceInTime(ctx context.Context, namespace, ref string) (dynamic.ResourceInterface, string, error) {
	for {
		client, name, err := a.resource(namespace, ref)
		if !meta.IsNoMatchError(err) || !pause(ctx) {
			return client, name, err
		}
	}
}

// mapping finds a kind by its plural or singular name. For an unknown one, it asks the
// server again.
func (a *access) mapping(gr schema.GroupResource) (*meta.RESTMapping, error) {
	gvk, err := a.mapper.KindFor(gr.WithVersion(""))
	if meta.IsNoMatchError(err) {
		a.mapper.Reset()
		gvk, err = a.mapper.KindFor(gr.WithVersion(""))
	}
	if err != nil {
		return nil, err
	}
	return a.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
}

// get returns an object, or nil if it doesn't exist.
func (a *access) get(ctx context.Context, namespace, ref string) (*unstructured.Unstructured, error) {
	client, name, err := a.resource(namespace, ref)
	if err != nil {
		return nil, err
	}
	obj, err := client.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return obj, err
}

// retryPause is the pause between two tries.
const retryPause = 100 * time.Millisecond

// wait watches an object until it meets the condition. Even with an error, it returns the
// object as it last saw it, or nil if it doesn't exist.
func (a *access) wait(ctx context.Context, namespace, ref string, met func(*unstructured.Unstructured) bool) (*unstructured.Unstructured, error) {
	client, name, err := a.resourceInTime(ctx, namespace, ref)
	if err != nil {
		return nil, err
	}
	selector := fields.OneTermEqualSelector("metadata.name", name).String()
	var last *unstructured.Unstructured
	for {
		list, err := client.List(ctx, metav1.ListOptions{FieldSelector: selector})
		if err != nil {
			return last, err
		}
		last = nil
		if len(list.Items) > 0 {
			last = &list.Items[0]
		}
		if met(last) {
			return last, nil
		}
		events, err := client.Watch(ctx, metav1.ListOptions{
			FieldSelector: selector, ResourceVersion: list.GetResourceVersion(),
		})
		if err != nil {
			return last, err
		}
		seen, done := follow(events, last, met)
		if last = seen; done {
			return last, nil
		}
		if !pause(ctx) {
			return last, context.Cause(ctx)
		}
	}
}

// pause keeps a loop from overloading the server. It returns false if ctx is done.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(retryPause):
		return true
	}
}

// follow reads events until one meets the condition or the watch ends.
func follow(events watch.Interface, last *unstructured.Unstructured, met func(*unstructured.Unstructured) bool) (*unstructured.Unstructured, bool) {
	defer events.Stop()
	for event := range events.ResultChan() {
		obj, ok := event.Object.(*unstructured.Unstructured)
		if !ok || event.Type == watch.Error || event.Type == watch.Bookmark {
			return last, false
		}
		last = obj
		if event.Type == watch.Deleted {
			last = nil
		}
		if met(last) {
			return last, true
		}
	}
	return last, false
}

// errDeadline says that a wait took too long.
var errDeadline = errors.New("deadline exceeded")
