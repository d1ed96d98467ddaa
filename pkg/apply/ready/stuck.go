package ready

import (
	"slices"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Stuck returns the cause why an object can't become ready until somebody changes
// something, or "". It returns only causes that the server, the kubelet or a registry
// states. Crashes, probes and lack of nodes may pass, so they aren't among them.
func Stuck(o *unstructured.Unstructured, pods []*unstructured.Unstructured, events []Event) string {
	if seen, ok := observedGeneration(o); ok && seen < o.GetGeneration() {
		return "" // the pods may be those of an earlier revision
	}
	switch o.GetKind() {
	case "Pod":
		return podStuck(o, events)
	case ClaimKind().Kind:
		return claimStuck(o, events)
	}
	var newest *unstructured.Unstructured
	for _, pod := range pods {
		if made(o, pod) && (newest == nil || newest.GetCreationTimestamp().Time.Before(pod.GetCreationTimestamp().Time)) {
			newest = pod
		}
	}
	if newest != nil {
		if why := podStuck(newest, events); why != "" {
			return "pod " + newest.GetName() + ": " + why
		}
	}
	if c, ok := isTrue(o, "ReplicaFailure"); ok && refusedForGood(c.Reason, c.Message) {
		return c.describe()
	}
	e := newestWarning(events, func(e *Event) bool { return concerns(e, o) })
	current := e != nil && (newest == nil || newest.GetCreationTimestamp().Time.Before(e.Time))
	if current && refusedForGood(e.Reason, e.Message) {
		return describe(e.Reason, e.Message)
	}
	return ""
}

// refusedForGood reports whether the server refuses a controller's pods for a cause that
// doesn't pass.
func refusedForGood(reason, message string) bool {
	return reason == "FailedCreate" && says(message, "exceeded quota: ", "failed quota: ", `serviceaccount "*" not found`, `violates PodSecurity "`, "is invalid: ")
}

// claimStuck says why a claim never binds.
func claimStuck(o *unstructured.Unstructured, events []Event) string {
	if status.GetStringField(o.Object, ".status.phase", "") != "Pending" || status.GetStringField(o.Object, ".spec.volumeName", "") != "" {
		return ""
	}
	class, named := claimClass(o)
	if !named {
		return "it names no storage class, and there is no default one"
	}
	if e := newestWarning(events, func(e *Event) bool { return concerns(e, o) }); e != nil && strings.Contains(e.Message, `"`+class+`" not found`) {
		return describe(e.Reason, e.Message)
	}
	return ""
}

// podStuck says why a pod never runs.
func podStuck(pod *unstructured.Unstructured, events []Event) string {
	if r := Of(pod); r.State != StateWaiting {
		return ""
	}
	if c, ok := findCondition(pod, "PodScheduled"); ok && c.Status == "False" {
		if says(c.Message, `persistentvolumeclaim "*" not found`) {
			return c.describe()
		}
		return ""
	}
	for _, field := range []string{"initContainerStatuses", "containerStatuses"} {
		list, _, _ := unstructured.NestedSlice(pod.Object, "status", field) // ignore a field that isn't a list
		for _, item := range list {
			container, _ := item.(map[string]any)
			state, _ := container["state"].(map[string]any)
			waiting, _ := state["waiting"].(map[string]any)
			if reason, message := text(waiting, "reason"), text(waiting, "message"); neverStarts(reason, message) {
				return "container " + text(container, "name") + ": " + describe(reason, message)
			}
		}
	}
	e := newestWarning(events, func(e *Event) bool { return concerns(e, pod) })
	if e != nil && e.Reason == "FailedMount" && lacksConfig(e.Message) {
		return describe(e.Reason, e.Message)
	}
	return ""
}

// lacksConfig reports whether the kubelet misses a Secret, a ConfigMap or a key.
func lacksConfig(message string) bool {
	return says(message, `secret "*" not found`, `configmap "*" not found`, "couldn't find key", "references non-existent secret key", "references non-existent config key")
}

// neverStarts reports whether a container that waits for this reason never starts by
// itself. A registry's answer counts only if it says that it doesn't have the image, or
// doesn't give it to this user.
func neverStarts(reason, message string) bool {
	switch reason {
	case "InvalidImageName", "ErrImageNeverPull":
		return true
	case "ErrImagePull", "ImagePullBackOff":
		return says(message, "code = NotFound", "manifest unknown", ": not found", "repository does not exist", "pull access denied", "401 Unauthorized", "403 Forbidden")
	case "CreateContainerConfigError":
		return lacksConfig(message) || says(message, "runAsNonRoot", "run as root")
	}
	return false
}

// says reports whether a message has one of the signs. A * stands for any text.
func says(message string, signs ...string) bool {
	return slices.ContainsFunc(signs, func(sign string) bool {
		begin, end, _ := strings.Cut(sign, "*")
		at := strings.Index(message, begin)
		return at >= 0 && strings.Contains(message[at+len(begin):], end)
	})
}
