package ready

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Event is an event that Kubernetes recorded about an object.
type Event struct {
	UID        string // the object's uid, "" if it isn't known
	Kind, Name string
	Warning    bool
	Reason     string
	Message    string
	Time       time.Time
}

// Explains reports whether Cause may know why an object of a kind isn't ready.
func Explains(group, kind string) bool {
	switch group {
	case "apps":
		return kind == "Deployment" || kind == "StatefulSet" || kind == "DaemonSet" || kind == "ReplicaSet"
	case "batch":
		return kind == "Job"
	case "":
		return kind == "Pod" || kind == "PersistentVolumeClaim"
	}
	return false
}

// Cause returns one line that says why a workload or a claim isn't ready, or "". It
// describes the newest pod that isn't ready. Without one, it describes the newest warning
// about the object. pods and events may include those of other objects in the namespace.
func Cause(o *unstructured.Unstructured, pods []*unstructured.Unstructured, events []Event) string {
	if o.GetKind() == "Pod" {
		return podCause(o, events)
	}
	var newest *unstructured.Unstructured
	cause := ""
	for _, pod := range pods {
		if !made(o, pod) || newest != nil && !newest.GetCreationTimestamp().Time.Before(pod.GetCreationTimestamp().Time) {
			continue
		}
		if why := podCause(pod, events); why != "" {
			newest, cause = pod, "pod "+pod.GetName()+": "+why
		}
	}
	if cause != "" {
		return cause
	}
	if _, told := isTrue(o, "ReplicaFailure"); told {
		return "" // its readiness already says why there are no pods
	}
	if e := newestWarning(events, func(e *Event) bool { return concerns(e, o) }); e != nil {
		if e.Kind != o.GetKind() {
			return e.Kind + " " + e.Name + ": " + describe(e.Reason, e.Message)
		}
		return describe(e.Reason, e.Message)
	}
	return ""
}

// made reports whether a workload created a pod. A Deployment creates pods through its
// ReplicaSets.
func made(o, pod *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	switch {
	case owner == nil:
		return false
	case o.GetKind() == "Deployment":
		return owner.Kind == "ReplicaSet" && isReplicaSetOf(o, owner.Name)
	}
	return owner.UID == o.GetUID()
}

// isReplicaSetOf reports whether a Deployment created the ReplicaSet with this name, which
// is its own name and a hash. The check excludes Deployments with a longer name.
func isReplicaSetOf(deployment *unstructured.Unstructured, name string) bool {
	hash, of := strings.CutPrefix(name, deployment.GetName()+"-")
	return of && !strings.Contains(hash, "-")
}

// concerns reports whether an event is about an object, or about a ReplicaSet of a
// Deployment.
func concerns(e *Event, o *unstructured.Unstructured) bool {
	if o.GetKind() == "Deployment" && e.Kind == "ReplicaSet" {
		return isReplicaSetOf(o, e.Name)
	}
	return e.Kind == o.GetKind() && e.Name == o.GetName() && (e.UID == "" || e.UID == string(o.GetUID()))
}

func newestWarning(events []Event, of func(*Event) bool) *Event {
	var newest *Event
	for i := range events {
		if e := &events[i]; e.Warning && of(e) && (newest == nil || newest.Time.Before(e.Time)) {
			newest = e
		}
	}
	return newest
}

// podCause says why a pod isn't ready. It returns "" if the pod is ready or ends.
func podCause(pod *unstructured.Unstructured, events []Event) string {
	if r := Of(pod); r.State == StateReady || r.State == StateDeleting {
		return ""
	}
	if c, ok := findCondition(pod, "PodScheduled"); ok && c.Status == "False" {
		// The scheduler appends remarks on preemption, which aren't a cause.
		c.Message, _, _ = strings.Cut(c.Message, " no new claims to deallocate")
		c.Message, _, _ = strings.Cut(c.Message, " preemption: ")
		return c.describe()
	}
	if why := containerCause(pod); why != "" {
		return why
	}
	if e := newestWarning(events, func(e *Event) bool { return concerns(e, pod) }); e != nil {
		return describe(e.Reason, e.Message)
	}
	return ""
}

// containerCause says which container of a pod doesn't run, and why.
func containerCause(pod *unstructured.Unstructured) string {
	for _, field := range []string{"initContainerStatuses", "containerStatuses"} {
		list, _, _ := unstructured.NestedSlice(pod.Object, "status", field) // ignore a field that isn't a list
		for _, item := range list {
			container, _ := item.(map[string]any)
			if why := whyStopped(container); why != "" {
				return "container " + text(container, "name") + ": " + why
			}
		}
	}
	return ""
}

// whyStopped says why a container doesn't run. It names the state that it waits in and its
// last exit, or only its exit. It returns "" for a container that is being created.
func whyStopped(container map[string]any) string {
	state, _ := container["state"].(map[string]any)
	last, _ := container["lastState"].(map[string]any)
	if waiting, ok := state["waiting"].(map[string]any); ok {
		reason := text(waiting, "reason")
		switch ended := exit(last); {
		case reason == "ContainerCreating" || reason == "PodInitializing":
			return ""
		case ended != "": // the message only says when it starts again
			return reason + ", " + ended + restarts(container)
		}
		return describe(reason, text(waiting, "message"))
	}
	if why := exit(state); why != "" {
		return why + restarts(container)
	}
	return ""
}

// exit describes the failed exit of a container, or returns "".
func exit(state map[string]any) string {
	ended, ok := state["terminated"].(map[string]any)
	if !ok {
		return ""
	}
	code, _ := toInt64(ended["exitCode"])
	reason := text(ended, "reason")
	switch {
	case code == 0 && reason == "Completed":
		return ""
	case reason == "" || reason == "Error":
		return fmt.Sprintf("exit code %d", code)
	}
	return fmt.Sprintf("exit code %d (%s)", code, reason)
}

func restarts(container map[string]any) string {
	switch n, _ := toInt64(container["restartCount"]); n {
	case 0:
		return ""
	case 1:
		return ", 1 restart"
	default:
		return fmt.Sprintf(", %d restarts", n)
	}
}
