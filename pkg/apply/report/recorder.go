package report

import (
	"context"
	"time"
)

// Recorder records Kubernetes events. A lost event isn't an error.
type Recorder interface {
	// Record accepts an event and returns at once.
	Record(ctx context.Context, e KubernetesEvent)
	// Flush waits until the recorder has sent all events.
	Flush(ctx context.Context)
}

// KubernetesEvent is an event about the inventory ConfigMap of a node.
type KubernetesEvent struct {
	Namespace, Inventory, UID string
	Type                      string // Normal or Warning
	Reason, Message           string
	// About tells apart events with one reason: the object, or "" if the inventory has one
	// state at a time. Events that differ only in message and time are one series.
	About string
	Time  time.Time
}

// The types of Kubernetes events.
const (
	Normal  = "Normal"
	Warning = "Warning"
)
