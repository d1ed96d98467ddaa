package inventory_test

import (
	"context"
	"errors"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

var cluster harness.Shared

// api is a cluster behind a fault proxy, as the package sees it.
type api struct {
	*harness.Env // around the proxy
	proxy        *faultproxy.Server
	configMaps   configMaps
	leases       leaseClient
}

func newAPI(t *testing.T) *api {
	t.Helper()
	env := cluster.Env(t)
	through, proxy := env.Proxy(t, faultproxy.Options{})
	client := func(path string, gv schema.GroupVersion) *rest.RESTClient {
		config, err := clientcmd.BuildConfigFromFlags("", through.Kubeconfig)
		if err != nil {
			t.Fatal(err)
		}
		config.QPS, config.APIPath, config.GroupVersion = -1, path, &gv
		config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
		c, err := rest.RESTClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	return &api{
		Env: env, proxy: proxy,
		configMaps: configMaps{client("/api", corev1.SchemeGroupVersion)},
		leases:     leaseClient{client("/apis", coordinationv1.SchemeGroupVersion)},
	}
}

// send sends a request and, where its answer was lost, sends it again.
func send[T any, O interface {
	*T
	runtime.Object
}](ctx context.Context, r *rest.Request) (*T, error) {
	for try := 0; ; try++ {
		out := new(T)
		err := r.Do(ctx).Into(O(out))
		var status apierrors.APIStatus
		if err == nil || errors.As(err, &status) || try == 2 {
			return out, err
		}
	}
}

// configMaps is inventory.ConfigMaps.
type configMaps struct{ *rest.RESTClient }

func (c configMaps) at(r *rest.Request, namespace, name string) *rest.Request {
	return r.Namespace(namespace).Resource("configmaps").Name(name)
}

func (c configMaps) List(ctx context.Context, namespace, selector string, each func(*corev1.ConfigMap)) error {
	r := c.RESTClient.Get().NamespaceIfScoped(namespace, namespace != "").Resource("configmaps").Param("labelSelector", selector)
	list, err := send[corev1.ConfigMapList](ctx, r)
	if err != nil {
		return err
	}
	for i := range list.Items {
		each(&list.Items[i])
	}
	return nil
}

func (c configMaps) Get(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	return send[corev1.ConfigMap](ctx, c.at(c.RESTClient.Get(), namespace, name))
}

func (c configMaps) Create(ctx context.Context, cm *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	return send[corev1.ConfigMap](ctx, c.Post().Namespace(cm.Namespace).Resource("configmaps").Param("fieldManager", "lynq").Body(cm))
}

func (c configMaps) Update(ctx context.Context, cm *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	return send[corev1.ConfigMap](ctx, c.at(c.Put(), cm.Namespace, cm.Name).Param("fieldManager", "lynq").Body(cm))
}

func (c configMaps) Delete(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error {
	o := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
	if resourceVersion != "" {
		o.Preconditions.ResourceVersion = &resourceVersion
	}
	_, err := send[metav1.Status](ctx, c.at(c.RESTClient.Delete(), namespace, name).Body(o))
	return err
}

func (c configMaps) Patch(ctx context.Context, namespace, name string, patch []byte) (*corev1.ConfigMap, error) {
	return send[corev1.ConfigMap](ctx, c.at(c.RESTClient.Patch(types.JSONPatchType), namespace, name).Body(patch))
}

// leaseClient is inventory.Leases.
type leaseClient struct{ *rest.RESTClient }

func (c leaseClient) Get(ctx context.Context, namespace, name string) (*coordinationv1.Lease, error) {
	return send[coordinationv1.Lease](ctx, c.RESTClient.Get().Namespace(namespace).Resource("leases").Name(name))
}

func (c leaseClient) Create(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return send[coordinationv1.Lease](ctx, c.Post().Namespace(l.Namespace).Resource("leases").Param("fieldManager", "lynq").Body(l))
}

func (c leaseClient) Update(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return send[coordinationv1.Lease](ctx, c.Put().Namespace(l.Namespace).Resource("leases").Name(l.Name).Param("fieldManager", "lynq").Body(l))
}

func (c leaseClient) Delete(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error {
	o := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &resourceVersion}}
	_, err := send[metav1.Status](ctx, c.RESTClient.Delete().Namespace(namespace).Resource("leases").Name(name).Body(o))
	return err
}

// requests gives the verbs that were asked for since the last time.
func (a *api) requests() []string {
	var verbs []string
	for _, r := range a.proxy.Records() {
		verbs = append(verbs, r.Verb)
	}
	a.proxy.Reset()
	return verbs
}
