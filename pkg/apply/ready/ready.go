package ready

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// State says how far an object has come.
type State string

// The states. Only StateWaiting can become StateReady by itself.
const (
	StateWaiting  State = "waiting"
	StateReady    State = "ready"
	StateFailed   State = "failed"   // its controller gave up
	StateDeleting State = "deleting" // it has a deletionTimestamp
	StateGone     State = "gone"     // there is no such object any more
)

// Readiness says how far an object has come, and in a few words what it waits for or
// what failed.
type Readiness struct {
	State   State
	Message string

	// Class is the storage class that decides whether a claim which is not
	// bound yet is ready, "" for all else (see StorageClasses).
	Class string
	// Final: the object has run to its end, so that nothing which happens to it
	// later changes its readiness. Finished jobs are often deleted at once.
	Final bool
}

func ready(message string) Readiness { return Readiness{State: StateReady, Message: message} }

// Failed is the readiness of an object that does not become ready any more.
func Failed(message string) Readiness { return Readiness{State: StateFailed, Message: message} }

// Waiting is the readiness of an object that may yet become ready.
func Waiting(format string, args ...any) Readiness {
	return Readiness{State: StateWaiting, Message: fmt.Sprintf(format, args...)}
}

// The messages of objects that nothing is known of yet.
const (
	unseenObject = "its controller has not seen it yet"
	unseenChange = "its controller has not seen the change yet"
)

// Of tells how far an object has come, from the object alone: what its kind tells,
// and what annotation lynq.sh/status-hint asks for beside that.
func Of(o *unstructured.Unstructured) Readiness {
	if o.GetDeletionTimestamp() != nil {
		return deleting(o)
	}
	if seen, ok := observedGeneration(o); ok && seen < o.GetGeneration() {
		return Waiting(unseenChange)
	}
	if hint := hintOf(o); hint != "" {
		return hinted(o, hint)
	}
	if r := ofKind(o); r.State != StateReady || r.Final || o.GetAnnotations()[wellknown.AnnotationRunOn] != string(lynq.RunOnDelete) {
		return r
	}
	return Waiting("it has not completed yet")
}

// ofKind is what an object's kind tells. Kinds that have no rule of their own are
// judged by kstatus: an object without a status, or without any of the conditions
// Reconciling, Stalled, Ready, Failed and Available, is ready as soon as it exists.
func ofKind(o *unstructured.Unstructured) Readiness {
	switch o.GroupVersionKind().GroupKind() {
	case schema.GroupKind{Group: "apps", Kind: "Deployment"}:
		return deploymentReadiness(o)
	case schema.GroupKind{Group: "apps", Kind: "StatefulSet"},
		schema.GroupKind{Group: "apps", Kind: "DaemonSet"},
		schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}:
		return workloadReadiness(o)
	case schema.GroupKind{Group: "batch", Kind: "Job"}:
		return jobReadiness(o)
	case schema.GroupKind{Kind: "Pod"}:
		return podReadiness(o)
	case ClaimKind():
		return claimReadiness(o)
	case schema.GroupKind{Kind: "Service"}:
		return serviceReadiness(o)
	case schema.GroupKind{Kind: "Namespace"}:
		return namespaceReadiness(o)
	case schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:
		return conditionReadiness(o, "AbleToScale")
	case schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}:
		return conditionReadiness(o, "Available")
	}
	return genericReadiness(o)
}

// Always tells whether an object is ready as soon as it exists, so that it need not
// be watched.
func Always(group, kind string, body []byte) bool {
	if group == "" && kind == "Service" {
		return !isLoadBalancer(body) && !bytes.Contains(body, []byte(`"`+wellknown.AnnotationStatusHint+`"`))
	}
	return kinds.ReadyOnceThere(group, kind)
}

// isLoadBalancer tells whether a Service's manifest asks for a load balancer. A
// manifest that cannot be read may be one.
func isLoadBalancer(body []byte) bool {
	var service struct {
		Spec struct {
			Type string `json:"type"`
		} `json:"spec"`
	}
	return json.Unmarshal(body, &service) != nil || service.Spec.Type == "LoadBalancer"
}

func deleting(o *unstructured.Unstructured) Readiness {
	return Readiness{State: StateDeleting, Message: Ending(o)}
}

// Ending says of an object that it is being deleted, since when, and what holds it;
// "" where it is not:
//
//	is being deleted since 2026-01-31T10:02:00Z; finalizer example.com/x holds it
func Ending(o metav1.Object) string {
	at := o.GetDeletionTimestamp()
	if at == nil {
		return ""
	}
	since := at.UTC()
	if grace := o.GetDeletionGracePeriodSeconds(); grace != nil {
		since = since.Add(-time.Duration(*grace) * time.Second)
	}
	message := "is being deleted since " + since.Format(time.RFC3339)
	switch held := o.GetFinalizers(); len(held) {
	case 0:
		return message
	case 1:
		return message + "; finalizer " + held[0] + " holds it"
	default:
		return message + "; finalizers " + strings.Join(held, ", ") + " hold it"
	}
}

// genericReadiness is kstatus, and what that does not look at: conditions that
// say themselves which generation they are of, and the conditions Failed and
// Available of kinds that have no Ready.
func genericReadiness(o *unstructured.Unstructured) Readiness {
	stalled, isStalled := isTrue(o, "Stalled")
	c, hasReady := findCondition(o, "Ready")
	if isStalled && stalled.stale(o) || hasReady && c.stale(o) {
		return Waiting(unseenChange)
	}
	result, err := status.Compute(forKstatus(o))
	if err != nil {
		return Waiting("its status cannot be understood (%v); waitForReady: false takes it as it is", err)
	}
	if r := kstatusReadiness(result); r.State != StateReady {
		return r
	}
	if hasReady {
		return ready("")
	}
	if c, ok := isTrue(o, "Failed"); ok && !c.stale(o) {
		return Failed(c.describe())
	}
	if c, ok := findCondition(o, "Available"); ok {
		return c.wanted(o)
	}
	return ready("")
}

// kstatusReadiness translates what kstatus says.
func kstatusReadiness(result *status.Result) Readiness {
	message := result.Message
	if len(result.Conditions) > 0 {
		message = describe(result.Conditions[0].Reason, result.Conditions[0].Message)
	}
	switch result.Status {
	case status.CurrentStatus:
		return ready("")
	case status.FailedStatus:
		return Failed(message)
	default:
		return Waiting("%s", message)
	}
}

// conditionReadiness is for kinds that are ready when one condition is True.
func conditionReadiness(o *unstructured.Unstructured, conditionType string) Readiness {
	c, ok := findCondition(o, conditionType)
	if !ok {
		return Waiting(unseenObject)
	}
	return c.wanted(o)
}

// observedGeneration is which generation an object's controller says it has
// seen. Some write it as a string.
func observedGeneration(o *unstructured.Unstructured) (int64, bool) {
	v, _, err := unstructured.NestedFieldNoCopy(o.Object, "status", "observedGeneration")
	if err != nil {
		return 0, false
	}
	return toInt64(v)
}

func toInt64(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}

// forKstatus hides an observedGeneration that kstatus would stumble over
// because it is no number. Readiness has looked at it before.
func forKstatus(o *unstructured.Unstructured) *unstructured.Unstructured {
	state, ok := o.Object["status"].(map[string]any)
	if !ok {
		return o
	}
	if _, ok := state["observedGeneration"].(string); !ok {
		return o
	}
	shown := maps.Clone(o.Object)
	state = maps.Clone(state)
	delete(state, "observedGeneration")
	shown["status"] = state
	return &unstructured.Unstructured{Object: shown}
}
