package kube

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// eventSeries are the events of a process that may happen again. The second event of a
// series patches the first, as client-go's EventCorrelator does. That package needs 12 MB
// more memory in each process, so this type counts on its own.
type eventSeries struct {
	mu    sync.Mutex
	known *lru.Cache // of *series by seriesKey
}

// mostSeries limits the known series, so that a process with many nodes stays small.
const mostSeries = 20000

// seriesKey is equal for events that tell the same again. Their messages may differ.
type seriesKey struct{ uid, kind, reason, about string }

// series is an event that happened before.
type series struct {
	name    string
	count   int32
	first   metav1.Time
	created time.Time
}

func newEventSeries() *eventSeries { return &eventSeries{known: lru.New(mostSeries)} }

// get returns a known series, or nil. The caller holds the lock.
func (s *eventSeries) get(key seriesKey) *series {
	had, _ := s.known.Get(key)
	known, _ := had.(*series)
	return known
}

// next counts an event. It returns the event that the server has, with its new count, or
// the event itself if it is the first of its series.
func (s *eventSeries) next(key seriesKey, e *corev1.Event) *corev1.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := s.get(key)
	if had == nil {
		s.known.Add(key, &series{name: e.Name, count: 1, first: e.FirstTimestamp, created: e.LastTimestamp.Time})
		return e
	}
	had.count++
	next := e.DeepCopy()
	next.Name, next.Count, next.FirstTimestamp = had.name, had.count, had.first
	return next
}

// begins notes the new event of a series, after the server forgot the earlier one.
func (s *eventSeries) begins(key seriesKey, e *corev1.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if had := s.get(key); had != nil {
		had.name, had.created = e.Name, e.LastTimestamp.Time
	}
}

// eventFor is how long the server keeps an event by default.
const eventFor = time.Hour

// expired reports whether the server has probably forgotten the event of a series.
func (s *eventSeries) expired(key seriesKey, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := s.get(key)
	return had == nil || now.Sub(had.created) > eventFor
}

// send records an event: it creates the first one of a series, and patches it later.
func (s *eventSeries) send(ctx context.Context, c *Client, key seriesKey, e *corev1.Event) error {
	next := s.next(key, e)
	if next.Count == 1 {
		return c.Event(ctx, e)
	}
	err := c.patchEvent(ctx, next)
	denied := apierrors.IsForbidden(err) && s.expired(key, e.LastTimestamp.Time) // then one event per hour is enough
	if !denied && !apierrors.IsNotFound(err) {
		return err
	}
	next.Name = e.Name
	s.begins(key, next)
	return c.Event(ctx, next)
}

// patchEvent says that an event happened again.
func (c *Client) patchEvent(ctx context.Context, e *corev1.Event) error {
	patch, err := json.Marshal(map[string]any{"count": e.Count, "lastTimestamp": e.LastTimestamp, "message": c.secrets.Hide(e.Message)})
	if err != nil {
		return err
	}
	return c.exchange(ctx, &request{
		verb: "patch", method: http.MethodPatch, accept: acceptProtobuf, resource: eventResource(), namespace: e.Namespace, name: e.Name,
		params: url.Values{"fieldManager": {wellknown.FieldManager}}, body: patch, contentType: string(types.MergePatchType),
	}, &corev1.Event{}, "Event")
}

func eventResource() lynq.APIResource {
	return lynq.APIResource{Version: "v1", Kind: "Event", Plural: "events", Namespaced: true}
}

// keyOf returns the key of an event's series.
func keyOf(e *report.KubernetesEvent) seriesKey {
	return seriesKey{uid: e.UID, kind: e.Type, reason: e.Reason, about: e.About}
}
