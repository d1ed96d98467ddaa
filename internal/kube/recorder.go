package kube

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
)

// Recorder records events on inventories without waiting, and drops events that the server
// refuses. All Recorders of a client count events that happen again in one event. It
// implements report.Recorder.
type Recorder struct {
	client  *Client
	host    string
	sending errgroup.Group
}

var _ report.Recorder = (*Recorder)(nil)

const (
	// eventsAtOnce limits the events in progress. Recorder drops more.
	eventsAtOnce = 1000
	// maxEventMessage is the API server's limit, in bytes.
	maxEventMessage = 1024
)

// Recorder returns a Recorder. host is the machine that reports.
func (c *Client) Recorder(host string) *Recorder {
	r := &Recorder{client: c, host: host}
	r.sending.SetLimit(eventsAtOnce)
	return r
}

// Record implements report.Recorder.
func (r *Recorder) Record(ctx context.Context, e report.KubernetesEvent) {
	r.sending.TryGo(func() error {
		return r.client.events.send(ctx, r.client, keyOf(&e), r.event(e))
	})
}

// Flush implements report.Recorder.
func (r *Recorder) Flush(ctx context.Context) {
	sent := make(chan struct{})
	go func() {
		_ = r.sending.Wait() // a lost event isn't a failure
		close(sent)
	}()
	select {
	case <-sent:
	case <-ctx.Done():
	}
}

// event returns an event whose name depends on the inventory, reason, object and time. So
// sending it twice makes one event.
func (r *Recorder) event(e report.KubernetesEvent) *corev1.Event {
	sum := sha256.Sum256([]byte(e.UID + "\x00" + e.Reason + "\x00" + e.About + "\x00" + e.Time.UTC().String()))
	at := metav1.NewTime(e.Time)
	message := e.Message
	if len(message) > maxEventMessage {
		message = strings.ToValidUTF8(message[:maxEventMessage-3], "") + "..."
	}
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: e.Namespace, Name: "lynqctl-" + hex.EncodeToString(sum[:8])},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: e.Namespace, Name: e.Inventory, UID: types.UID(e.UID)},
		Type:           e.Type, Reason: e.Reason, Message: message,
		Source:         corev1.EventSource{Component: "lynqctl", Host: r.host},
		FirstTimestamp: at, LastTimestamp: at, Count: 1,
		ReportingController: "lynqctl", ReportingInstance: r.host,
	}
}
