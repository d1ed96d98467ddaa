package report

import (
	"context"
	"time"
)

// Recorder records Kubernetes events, as far as it can: a lost event is no
// failure.
type Recorder interface {
	// Record takes an event and returns at once.
	Record(ctx context.Context, e KubernetesEvent)
	// Flush waits until what was recorded has been sent.
	Flush(ctx context.Context)
}

// KubernetesEvent is about the inventory ConfigMap of a node.
type KubernetesEvent struct {
	Namespace, Inventory, UID string
	Type                      string // Normal or Warning
	Reason, Message           string
	Time                      time.Time
}

// The types of Kubernetes events.
const (
	Normal  = "Normal"
	Warning = "Warning"
)
