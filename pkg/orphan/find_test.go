package orphan_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

func now() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

// marked returns an orphan with lynqctl's marks.
func marked(kind, namespace, name, from string) object {
	return object{kind: kind, meta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(kind + "/" + namespace + "/" + name),
		Labels: map[string]string{wellknown.LabelOrphaned: "true"},
		Annotations: map[string]string{
			wellknown.AnnotationOrphanedAt:     "2026-03-04T04:06:07Z",
			wellknown.AnnotationOrphanedReason: wellknown.ReasonNodeDeleted,
			wellknown.AnnotationOrphanedFrom:   from,
			wellknown.AnnotationDeletionPolicy: "Retain",
		},
	}}
}

func mustFind(t *testing.T, m *memory, q orphan.Query) *orphan.Found {
	t.Helper()
	q.Now = now()
	found, err := orphan.Find(t.Context(), m, q)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// texts returns one line for each orphan, with object, reason, time and origin.
func texts(found *orphan.Found) []string {
	lines := []string{}
	for _, o := range found.Orphans {
		since := "unknown"
		if !o.Since.IsZero() {
			since = now().Sub(o.Since).String()
		}
		from := strings.Join([]string{o.From.Hub.Name, o.From.Namespace, o.From.Name, o.From.ID}, "/")
		words := []string{o.Full(), o.Reason, since, from, string(o.Deletion), string(o.Creation), o.Size}
		lines = append(lines, strings.TrimRight(strings.Join(words, " "), " "))
	}
	return lines
}

func wantTexts(t *testing.T, found *orphan.Found, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), texts(found)); diff != "" {
		t.Errorf("orphans (-want +got):\n%s", diff)
	}
}

func wantWarnings(t *testing.T, found *orphan.Found, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string(nil), want...), found.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestFindReadsMarkers(t *testing.T) {
	operator := marked("Secret", "shop", "of-the-operator", "")
	delete(operator.meta.Annotations, wellknown.AnnotationOrphanedFrom)
	labelled := marked("Secret", "shop", "labelled", "")
	labelled.meta.Labels[wellknown.LabelHub], labelled.meta.Labels[wellknown.LabelNode], labelled.meta.Labels[wellknown.LabelNodeNamespace] = "crm", "acme-web", "hubs"
	odd := marked("Secret", "shop", "odd", "not four parts")
	odd.meta.Annotations[wellknown.AnnotationOrphanedAt] = "yesterday"
	odd.meta.Annotations[wellknown.AnnotationOrphanedReason] = ""
	once := marked("ConfigMap", "shop", "once", "crm/hubs/acme-web/a/b")
	once.meta.Annotations[wellknown.AnnotationCreatedOnce] = "true"
	not := marked("ConfigMap", "shop", "not", "crm/hubs/acme-web/x")
	not.meta.Labels[wellknown.LabelOrphaned] = "false"
	m := &memory{
		kinds:   []lynq.APIResource{kind("", "ConfigMap"), kind("", "Secret"), clusterKind("", "Namespace")},
		objects: []object{operator, labelled, odd, once, not, marked("Namespace", "", "acme", "crm/hubs/acme-web/ns")},
	}
	wantTexts(t, mustFind(t, m, orphan.Query{}),
		"Namespace/acme LynqNodeDeleted 1h0m0s crm/hubs/acme-web/ns Retain",
		"ConfigMap/shop/once LynqNodeDeleted 1h0m0s crm/hubs/acme-web/a/b Retain Once",
		"Secret/shop/labelled LynqNodeDeleted 1h0m0s crm/hubs/acme-web/ Retain",
		"Secret/shop/odd  unknown /// Retain",
		"Secret/shop/of-the-operator LynqNodeDeleted 1h0m0s /// Retain",
	)
}

func TestFindNarrows(t *testing.T) {
	m := &memory{
		kinds: []lynq.APIResource{kind("", "ConfigMap"), clusterKind("", "Namespace")},
		objects: []object{
			marked("ConfigMap", "shop", "web", "crm/hubs/acme-web/x"), marked("ConfigMap", "other", "web", "crm/hubs/bolt-web/x"),
			marked("Namespace", "", "acme", "crm/hubs/acme-web/ns"),
		},
	}
	wantTexts(t, mustFind(t, m, orphan.Query{Namespace: "shop"}), "ConfigMap/shop/web LynqNodeDeleted 1h0m0s crm/hubs/acme-web/x Retain")
	if want := []string{"list ConfigMap shop lynq.sh/orphaned=true"}; !slices.Equal(m.requests, want) {
		t.Errorf("requests %q, want %q", m.requests, want)
	}
	found := mustFind(t, m, orphan.Query{Filter: orphan.Filter{Nodes: []string{"bolt-web"}}})
	wantTexts(t, found, "ConfigMap/other/web LynqNodeDeleted 1h0m0s crm/hubs/bolt-web/x Retain")
	m.objects[0].meta.Labels["team"] = "blue"
	wantTexts(t, mustFind(t, m, orphan.Query{Selector: "team in (blue)"}), "ConfigMap/shop/web LynqNodeDeleted 1h0m0s crm/hubs/acme-web/x Retain")
}

// TestFindTellsObjectsOnce lists objects that only reflect others.
func TestFindTellsObjectsOnce(t *testing.T) {
	service := marked("Service", "shop", "web", "crm/shop/acme-web/svc")
	copied := func(kind string) object {
		o := marked(kind, "shop", "web", "")
		o.meta.Annotations = nil
		return o
	}
	slice := copied("EndpointSlice")
	slice.meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Service", Name: "web", UID: service.meta.UID}}
	metrics := copied("PodMetrics")
	metrics.meta.UID = ""
	event := marked("Event", "shop", "e", "crm/shop/acme-web/e")
	m := &memory{
		kinds: []lynq.APIResource{
			kind("", "Endpoints"), kind("", "Event"), kind("", "Service"),
			kind("discovery.k8s.io", "EndpointSlice"), kind("events.k8s.io", "Event"), kind("metrics.k8s.io", "PodMetrics"),
		},
		objects: []object{copied("Endpoints"), event, service, slice, metrics},
	}
	wantTexts(t, mustFind(t, m, orphan.Query{}),
		"Event/shop/e LynqNodeDeleted 1h0m0s crm/shop/acme-web/e Retain",
		"Service/shop/web LynqNodeDeleted 1h0m0s crm/shop/acme-web/svc Retain")

	// A form created these Endpoints, so they have their own marks.
	m.objects[0] = marked("Endpoints", "shop", "web", "crm/shop/acme-web/ep")
	wantTexts(t, mustFind(t, m, orphan.Query{Filter: orphan.Filter{Nodes: []string{"acme-web"}}}),
		"Endpoints/shop/web LynqNodeDeleted 1h0m0s crm/shop/acme-web/ep Retain",
		"Event/shop/e LynqNodeDeleted 1h0m0s crm/shop/acme-web/e Retain",
		"Service/shop/web LynqNodeDeleted 1h0m0s crm/shop/acme-web/svc Retain")
}

func TestFindReadsSizes(t *testing.T) {
	storage := func(path ...string) map[string]any {
		content := map[string]any{"storage": "5Gi"}
		for _, p := range slices.Backward(path) {
			content = map[string]any{p: content}
		}
		return content
	}
	bound, pending, lost, volume := marked("PersistentVolumeClaim", "shop", "bound", ""), marked("PersistentVolumeClaim", "shop", "pending", ""),
		marked("PersistentVolumeClaim", "shop", "strange", ""), marked("PersistentVolume", "", "volume", "")
	bound.content = map[string]any{"spec": storage("resources", "requests"), "status": map[string]any{"capacity": map[string]any{"storage": "8Gi"}}}
	pending.content = map[string]any{"spec": storage("resources", "requests")}
	volume.content = map[string]any{"spec": storage("capacity")}
	m := &memory{
		kinds:   []lynq.APIResource{kind("", "PersistentVolumeClaim"), clusterKind("", "PersistentVolume"), kind("", "Secret")},
		objects: []object{bound, pending, lost, volume, marked("Secret", "shop", "s", "")},
	}
	wantTexts(t, mustFind(t, m, orphan.Query{}),
		"PersistentVolume/volume LynqNodeDeleted 1h0m0s /// Retain  5Gi",
		"PersistentVolumeClaim/shop/bound LynqNodeDeleted 1h0m0s /// Retain  8Gi",
		"PersistentVolumeClaim/shop/pending LynqNodeDeleted 1h0m0s /// Retain  5Gi",
		"PersistentVolumeClaim/shop/strange LynqNodeDeleted 1h0m0s /// Retain",
		"Secret/shop/s LynqNodeDeleted 1h0m0s /// Retain")
	if gets := slices.DeleteFunc(m.requests, func(r string) bool { return !strings.HasPrefix(r, "get ") }); len(gets) != 4 {
		t.Errorf("objects were read: %q, want the claims and the volume", gets)
	}

	// One object was deleted meanwhile, and the user may list but not read one kind.
	m.fail = map[string]error{
		"get PersistentVolume":      apierrors.NewNotFound(schema.GroupResource{}, "volume"),
		"get PersistentVolumeClaim": forbidden("persistentvolumeclaims"),
	}
	found := mustFind(t, m, orphan.Query{Filter: orphan.Filter{}})
	wantWarnings(t, found, "these kinds can't be read, and lynqctl doesn't know everything about them (get: Forbidden): PersistentVolumeClaim")
	if len(found.Orphans) != 5 {
		t.Errorf("found %q, want all five", texts(found))
	}
}

func forbidden(resource string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("who are you?"))
}

func TestFindTellsWhatItMayNotRead(t *testing.T) {
	m := &memory{
		kinds:    []lynq.APIResource{kind("", "ConfigMap"), kind("", "Secret"), kind("apps", "Deployment"), kind("example.com", "Gone"), kind("example.com", "Odd"), kind("example.com", "Converted"), kind("example.com", "Loading")},
		objects:  []object{marked("ConfigMap", "shop", "web", "crm/shop/acme-web/x"), marked("Secret", "shop", "web", "crm/shop/acme-web/x")},
		discover: errors.New("the API metrics.k8s.io/v1beta1 is not available"),
		fail: map[string]error{
			"list Secret":                forbidden("secrets"),
			"list Deployment.apps":       forbidden("deployments"),
			"list Gone.example.com":      &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "example.com", Kind: "Gone"}},
			"list Converted.example.com": apierrors.NewInternalError(errors.New(`conversion webhook for example.com/v1, Kind=Converted failed: Post "https://c.shop.svc/?a=hunter2": dial tcp 127.0.0.1:1: connect: connection refused`)),
			"list Loading.example.com":   apierrors.NewTooManyRequests("storage is (re)initializing", 30),
			"list Odd.example.com":       apierrors.NewMethodNotSupported(schema.GroupResource{Resource: "odds"}, "list"),
		},
	}
	found := mustFind(t, m, orphan.Query{})
	wantTexts(t, found, "ConfigMap/shop/web LynqNodeDeleted 1h0m0s crm/shop/acme-web/x Retain")
	wantWarnings(t, found,
		"some kinds are unknown, and there may be orphans of them: the API metrics.k8s.io/v1beta1 is not available",
		"these kinds can't be listed, and lynqctl misses orphans among them (list: Forbidden): Deployment.apps, Secret",
		"these kinds can't be listed, and lynqctl misses orphans among them (list: MethodNotAllowed): Odd.example.com",
		"these kinds can't be listed, and lynqctl misses orphans among them (list: conversion webhook for example.com/v1, Kind=Converted failed: dial tcp 127.0.0.1:1: connect: connection refused): Converted.example.com",
		"these kinds can't be listed, and lynqctl misses orphans among them (list: not served): Gone.example.com",
		"these kinds can't be listed, and lynqctl misses orphans among them (list: storage is (re)initializing; the conversion webhook in their CustomResourceDefinition may be down): Loading.example.com",
	)
	if len(found.Unreadable) != 7 {
		t.Errorf("%d things are unreadable, want 7: %+v", len(found.Unreadable), found.Unreadable)
	}
	for n, want := range map[int]string{
		7: ", as far as lynqctl could look: it couldn't list 7 kinds",
		2: ", as far as lynqctl could look: it couldn't list kinds of a group that the API server can't list, Converted.example.com",
		0: "",
	} {
		some := orphan.Found{Unreadable: found.Unreadable[:n]}
		if got := some.Except(); got != want {
			t.Errorf("with %d gaps, the summary says %q", n, got)
		}
	}
}

// A definition may disappear between discovery and list. An extension that starts answers
// the same, and may have objects.
func TestFindForgetsKindsThatVanished(t *testing.T) {
	unlisted := "these kinds can't be listed, and lynqctl misses orphans among them (list: not served): Gone.example.com"
	for name, c := range map[string]struct {
		refresh func(*memory) error
		want    []string
	}{
		"the definition went":           {func(m *memory) error { m.kinds = m.kinds[:1]; return nil }, nil},
		"the server still names it":     {func(*memory) error { return nil }, []string{unlisted}},
		"the server doesn't name kinds": {func(*memory) error { return errors.New("the connection broke") }, []string{unlisted}},
	} {
		t.Run(name, func(t *testing.T) {
			m := &memory{
				kinds:   []lynq.APIResource{kind("", "ConfigMap"), kind("example.com", "Gone")},
				objects: []object{marked("ConfigMap", "shop", "web", "crm/shop/acme-web/x")},
				fail:    map[string]error{"list Gone.example.com": &meta.NoKindMatchError{}},
				refresh: c.refresh,
			}
			found := mustFind(t, m, orphan.Query{})
			wantTexts(t, found, "ConfigMap/shop/web LynqNodeDeleted 1h0m0s crm/shop/acme-web/x Retain")
			wantWarnings(t, found, c.want...)
		})
	}
}

func TestFindFails(t *testing.T) {
	broken := errors.New("the connection broke")
	for name, m := range map[string]*memory{
		"no kinds are known":  {discover: broken},
		"a list breaks":       {fail: map[string]error{"list Secret": broken}},
		"who is not known":    {fail: map[string]error{"list Secret": apierrors.NewUnauthorized("no")}},
		"a size is not known": {fail: map[string]error{"get PersistentVolumeClaim": broken}},
	} {
		t.Run(name, func(t *testing.T) {
			if m.discover == nil {
				m.kinds = []lynq.APIResource{kind("", "ConfigMap"), kind("", "Secret"), kind("", "PersistentVolumeClaim")}
			}
			m.objects = []object{marked("ConfigMap", "shop", "web", ""), marked("PersistentVolumeClaim", "shop", "web", "")}
			if found, err := orphan.Find(t.Context(), m, orphan.Query{Now: now()}); err == nil || found != nil {
				t.Errorf("got %+v, %v; want an error", found, err)
			}
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	m := &memory{kinds: []lynq.APIResource{kind("", "ConfigMap")}}
	if _, err := orphan.Find(ctx, m, orphan.Query{}); !errors.Is(err, broken) {
		t.Errorf("a context that ended gives %v, want its cause", err)
	}
}

// TestFindListsInParallel checks that exactly three lists run at a time. Each waits for
// two others.
func TestFindListsInParallel(t *testing.T) {
	const atOnce, kinds = 3, 99
	m := &memory{}
	for i := range kinds {
		m.kinds = append(m.kinds, kind("example.com", fmt.Sprintf("Kind%02d", i)))
	}
	c := &meeting{memory: m, size: atOnce, met: make(chan struct{})}
	if _, err := orphan.Find(t.Context(), c, orphan.Query{AtOnce: atOnce}); err != nil {
		t.Error(err)
	}
	if len(m.requests) != kinds {
		t.Errorf("%d requests, want one for each kind", len(m.requests))
	}
	if c.most != atOnce {
		t.Errorf("%d requests at once, want %d", c.most, atOnce)
	}
}

// meeting blocks lists until enough of them run.
type meeting struct {
	*memory
	size int

	mu        sync.Mutex
	now, most int
	came      int
	met       chan struct{}
}

func (c *meeting) List(ctx context.Context, r lynq.APIResource, namespace, selector string, read func(*metav1.PartialObjectMetadata) (note func())) error {
	c.mu.Lock()
	c.now++
	c.most = max(c.most, c.now)
	met := c.met
	if c.came++; c.came%c.size == 0 {
		close(c.met)
		c.met = make(chan struct{})
	}
	c.mu.Unlock()
	<-met
	c.mu.Lock()
	c.now--
	c.mu.Unlock()
	return c.memory.List(ctx, r, namespace, selector, read)
}
