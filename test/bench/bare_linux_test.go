package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// The jobs of the bare client: the least that an apply must do.
const (
	// jobBareApply sends as many writes as a first apply: KUBECONFIG NAMESPACE MANIFESTS
	// WORKERS.
	jobBareApply = "bare-apply"
	// jobBareLists reads the metadata of all objects of a hub: KUBECONFIG HUB.
	jobBareLists = "bare-lists"
	// jobBareRun sends all requests of the least safe run: KUBECONFIG HUB.
	jobBareRun = "bare-run"
)

// kinds returns the resources of the kinds in the benchmark's form.
func kinds() map[string]schema.GroupVersionResource {
	return map[string]schema.GroupVersionResource{
		"ConfigMap":             {Version: "v1", Resource: "configmaps"},
		"PersistentVolumeClaim": {Version: "v1", Resource: "persistentvolumeclaims"},
		"Service":               {Version: "v1", Resource: "services"},
		"Deployment":            {Group: "apps", Version: "v1", Resource: "deployments"},
		"Ingress":               {Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"},
	}
}

func bareConfig(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err == nil {
		config.QPS = -1
	}
	return config, err
}

func bareClient(kubeconfig string) (*rest.Config, *dynamic.DynamicClient, error) {
	config, err := bareConfig(kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	client, err := dynamic.NewForConfig(config)
	return config, client, err
}

// bareApply creates a record for each node, applies all objects, and updates the records.
// Each worker takes the next item.
func bareApply(args []string) error {
	_, client, err := bareClient(args[0])
	if err != nil {
		return err
	}
	objects, err := readManifests(args[2])
	if err != nil {
		return err
	}
	workers, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	ctx, namespace := context.Background(), args[1]
	maps := client.Resource(kinds()["ConfigMap"]).Namespace(namespace)
	records := make([]*unstructured.Unstructured, len(objects)/len(kinds()))
	err = inParallel(workers, len(records), func(i int) (err error) {
		records[i], err = maps.Create(ctx, bareRecord(namespace, i), metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	err = inParallel(workers, len(objects), func(i int) error {
		o := &objects[i]
		resource := client.Resource(kinds()[o.kind]).Namespace(namespace)
		_, err := resource.Patch(ctx, o.name, types.ApplyPatchType, o.body, metav1.PatchOptions{FieldManager: "bare"})
		return err
	})
	if err != nil {
		return err
	}
	return inParallel(workers, len(records), func(i int) error {
		records[i].SetAnnotations(map[string]string{"done": "true"})
		_, err := maps.Update(ctx, records[i], metav1.UpdateOptions{})
		return err
	})
}

// bareObject is an object to apply.
type bareObject struct {
	kind, name string
	body       []byte
}

// readManifests reads the output of lynqctl render -o json.
func readManifests(path string) ([]bareObject, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var objects []bareObject
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var body json.RawMessage
		if err := d.Decode(&body); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		var head metav1.PartialObjectMetadata
		if err := json.Unmarshal(body, &head); err != nil {
			return nil, err
		}
		objects = append(objects, bareObject{kind: head.Kind, name: head.Name, body: body})
	}
}

// bareRecord returns a record as large as a node's inventory.
func bareRecord(namespace string, i int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": fmt.Sprintf("record-%d", i), "namespace": namespace},
		"data":     map[string]any{"resources": strings.Repeat(strings.Repeat("x", 350)+"\n", len(kinds()))},
	}}
}

// bareLists lists the metadata of all kinds, and whole inventories, at the same time. A run
// that changes nothing must read these.
func bareLists(args []string) error {
	config, err := bareConfig(args[0])
	if err != nil {
		return err
	}
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	var all []schema.GroupVersionResource
	for _, r := range kinds() {
		all = append(all, r)
	}
	return inParallel(len(all)+1, len(all)+1, func(i int) error {
		if i == len(all) {
			return bareInventories(config, args[1])
		}
		o := metav1.ListOptions{LabelSelector: "lynq.sh/hub=" + args[1] + ",!lynq.sh/record", Limit: 500}
		for {
			list, err := client.Resource(all[i]).List(context.Background(), o)
			if err != nil || list.Continue == "" {
				return err
			}
			o.Continue = list.Continue
		}
	})
}

// bareRun sends the lists between the other requests that a run needs, even if it changes
// nothing: for its Lease, the server's kinds, and the record of the hub. It has its own
// Lease and record.
func bareRun(args []string) error {
	config, client, err := bareClient(args[0])
	if err != nil {
		return err
	}
	named, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	leases := client.Resource(schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}).Namespace(args[1])
	maps := client.Resource(kinds()["ConfigMap"]).Namespace(args[1])
	lease, err := made(leases, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"name": "bare"},
	}})
	if err != nil {
		return err
	}
	if _, _, _, err := named.GroupsAndMaybeResources(); err != nil {
		return err
	}
	if lease, err = touched(leases, lease); err != nil {
		return err
	}
	var record *unstructured.Unstructured
	err = inParallel(2, 2, func(i int) (err error) {
		if i == 0 {
			return bareLists(args)
		}
		record, err = made(maps, bareRecord(args[1], 0))
		return err
	})
	if err != nil {
		return err
	}
	if _, err = touched(maps, record); err != nil {
		return err
	}
	_, err = touched(leases, lease)
	return err
}

// made reads an object, and creates it if it doesn't exist.
func made(c dynamic.ResourceInterface, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	now, err := c.Get(context.Background(), o.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return c.Create(context.Background(), o, metav1.CreateOptions{})
	}
	return now, err
}

// touched writes an object with a change.
func touched(c dynamic.ResourceInterface, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	o.SetAnnotations(map[string]string{"from": o.GetResourceVersion()})
	return c.Update(context.Background(), o, metav1.UpdateOptions{})
}

// bareInventories lists whole ConfigMaps as protobuf.
func bareInventories(config *rest.Config, hub string) error {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	for next := ""; ; {
		query := url.Values{"labelSelector": {"lynq.sh/record=node,lynq.sh/hub=" + hub}, "limit": {"500"}, "continue": {next}}
		req, err := http.NewRequest(http.MethodGet, config.Host+"/api/v1/configmaps?"+query.Encode(), nil)
		if err != nil {
			return err
		}
		req.Header.Set("Accept", runtime.ContentTypeProtobuf)
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			return err
		}
		var envelope runtime.Unknown
		var list corev1.ConfigMapList
		if err := envelope.Unmarshal(bytes.TrimPrefix(body, []byte("k8s\x00"))); err != nil {
			return err
		}
		if err := list.Unmarshal(envelope.Raw); err != nil {
			return err
		}
		if next = list.Continue; next == "" {
			return nil
		}
	}
}

// inParallel calls f for 0 to n-1, in that many workers, and returns all errors.
func inParallel(workers, n int, f func(int) error) error {
	var next atomic.Int64
	var working sync.WaitGroup
	errs := make([]error, n)
	for range workers {
		working.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				errs[i] = f(i)
			}
		})
	}
	working.Wait()
	return errors.Join(errs...)
}
