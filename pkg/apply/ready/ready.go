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
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// State is the state of an object on its way to ready.
type State string

// The states. Only StateWaiting can become StateReady by itself.
const (
	StateWaiting  State = "waiting"
	StateReady    State = "ready"
	StateFailed   State = "failed"   // its controller gave up
	StateDeleting State = "deleting" // it has a deletionTimestamp
	StateGone     State = "gone"     // the object no longer exists
)

// Readiness is the state of an object, with a short text about its wait or failure.
type Readiness struct {
	State   State
	Message string

	// Class is the storage class on which the readiness of an unbound claim depends, and ""
	// otherwise (see StorageClasses).
	Class string
	// Final is set if the object has finished, so that no later event changes its
	// readiness. Many finished jobs are deleted at once.
	Final bool
	// Part is the version of a workload that lacks some of its replicas, and has others. It
	// is zero for all other objects.
	Part Version
}

// Version identifies the spec of an object.
type Version struct {
	UID        string
	Generation int64
	// Altered is set if another client, such as an autoscaler, changed the object after
	// lynqctl's last write.
	Altered bool
}

// PodsLost reports whether a workload that finished lynqctl's last rollout lacks some of its
// pods. Such a workload is degraded, and counts as ready. saw reports whether a run saw what
// lynqctl wrote last ready, with all its replicas.
func (r Readiness) PodsLost(saw func(Version) bool) bool {
	return r.State == StateWaiting && r.Part != Version{} && saw(r.Part)
}

// AfterOthers notes whether another client changed a workload after lynqctl's last write.
func (r Readiness) AfterOthers(altered bool) Readiness {
	r.Part.Altered = altered && r.Part != Version{}
	return r
}

func ready(message string) Readiness { return Readiness{State: StateReady, Message: message} }

// Failed returns the readiness of an object that will not become ready.
func Failed(message string) Readiness { return Readiness{State: StateFailed, Message: message} }

// Waiting returns the readiness of an object that may still become ready.
func Waiting(format string, args ...any) Readiness {
	return Readiness{State: StateWaiting, Message: fmt.Sprintf(format, args...)}
}

// These messages are for objects with an unknown state.
const (
	unseenObject = "its controller has not seen it yet"
	unseenChange = "its controller has not seen the change yet"
)

// Of returns the readiness of an object from the object alone. It follows the rules of the
// kind and the annotation lynq.sh/status-hint.
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
	if r := ofKind(o); r.State == StateWaiting {
		r.Part = partOf(o)
		return r
	} else if r.State != StateReady || r.Final || o.GetAnnotations()[wellknown.AnnotationRunOn] != string(lynq.RunOnDelete) {
		return r
	}
	return Waiting("it has not completed yet")
}

// ofKind returns the readiness by the rules of the kind. kstatus decides for kinds without
// own rules. It calls an object ready as soon as it exists, unless it has one of the
// conditions Reconciling, Stalled, Ready, Failed and Available.
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

// AtOnce reports whether a Service is ready as soon as it exists, so that it needs no
// watch.
func AtOnce(service []byte) bool {
	return !isLoadBalancer(service) && !bytes.Contains(service, []byte(`"`+wellknown.AnnotationStatusHint+`"`))
}

// isLoadBalancer reports whether a Service's manifest asks for a load balancer. It returns
// true for an unreadable manifest.
func isLoadBalancer(body []byte) bool {
	var service struct {
		Spec struct {
			Type string `json:"type"`
		} `json:"spec"`
	}
	return json.Unmarshal(body, &service) != nil || service.Spec.Type == "LoadBalancer"
}

func deleting(o *unstructured.Unstructured) Readiness {
	message := Ending(o)
	if why := EndingConditions(o); why != "" {
		message += "; " + why
	}
	return Readiness{State: StateDeleting, Message: message}
}

// EndingConditions returns the conditions that say why Kubernetes hasn't deleted an object
// yet, or "". Namespaces, CustomResourceDefinitions and some custom resources have them.
func EndingConditions(o *unstructured.Unstructured) string {
	var said []string
	for _, name := range []string{
		"NamespaceDeletionDiscoveryFailure", "NamespaceDeletionGroupVersionParsingFailure", "NamespaceDeletionContentFailure",
		"NamespaceContentRemaining", "NamespaceFinalizersRemaining", "Terminating", "Deleting",
	} {
		c, ok := isTrue(o, name)
		if c.Message == "" {
			c.Message = c.Reason
		}
		if ok && c.Message != "" {
			said = append(said, "condition "+name+": "+describe("", c.Message))
		}
	}
	return strings.Join(said, "; ")
}

// Ending says that an object is being deleted, since when, and which finalizers block that.
// It returns "" if nobody deleted the object:
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

// genericReadiness uses kstatus and adds two checks that kstatus lacks. It checks the
// generation of each condition. It also checks the conditions Failed and Available of kinds
// without Ready.
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

// kstatusReadiness converts a result of kstatus.
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

// observedGeneration returns the generation that an object's controller has seen. Some
// controllers write it as a string.
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

// forKstatus hides an observedGeneration that isn't a number, because kstatus would fail on
// it. Of has already checked it.
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
