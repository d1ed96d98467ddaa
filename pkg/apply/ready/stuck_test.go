package ready

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// waitingPod returns a pod of ReplicaSet app-5d8f whose container waits.
func waitingPod(reason, message string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "app-5d8f-x", "creationTimestamp": "2026-11-01T12:00:00Z", "ownerReferences": []any{
			map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "app-5d8f", "uid": "r", "controller": true}}},
		"status": map[string]any{"phase": "Pending", "containerStatuses": []any{
			map[string]any{"name": "web", "state": map[string]any{"waiting": map[string]any{"reason": reason, "message": message}}}}},
	}}
}

// TestStuck walks the reasons for which containers wait, pods aren't created, and claims
// don't bind. Only those that the server states for good end a wait.
func TestStuck(t *testing.T) {
	const missing = `secret "db" not found`
	pulls := func(cause string) string { return `Back-off pulling image "nowhere/app:1": ErrImagePull: ` + cause }
	for _, tt := range []struct {
		reason, message string
		stuck           bool
	}{
		{"ContainerCreating", "", false},
		{"PodInitializing", "", false},
		{"CrashLoopBackOff", "back-off 5m0s restarting failed container", false},
		{"InvalidImageName", `couldn't parse image name "A:b"`, true},
		{"ErrImageNeverPull", `Container image "a" is not present with pull policy of Never`, true},
		{"ErrImagePull", `rpc error: code = NotFound desc = failed to pull and unpack image "nowhere/app:1": not found`, true},
		{"ErrImagePull", `rpc error: code = Unknown desc = dial tcp: lookup registry: no such host`, false},
		{"ErrImagePull", `rpc error: code = Unknown desc = toomanyrequests: You have reached your pull rate limit`, false},
		{"ImagePullBackOff", `Back-off pulling image "nowhere/app:1"`, false},
		{"ImagePullBackOff", pulls("manifest unknown"), true},
		{"ImagePullBackOff", pulls("pull access denied, repository does not exist or may require authorization"), true},
		{"ImagePullBackOff", pulls("dial tcp 10.0.0.1:443: i/o timeout"), false},
		{"ImageInspectError", "the runtime is busy", false},
		{"RegistryUnavailable", "it is down", false},
		{"CreateContainerConfigError", missing, true},
		{"CreateContainerConfigError", `configmap "settings" not found`, true},
		{"CreateContainerConfigError", "couldn't find key password in Secret shop/db", true},
		{"CreateContainerConfigError", "container has runAsNonRoot and image will run as root", true},
		{"CreateContainerConfigError", "failed to sync secret cache: timed out waiting for the condition", false},
		{"CreateContainerError", "context deadline exceeded", false},
		{"RunContainerError", "exec: not found in $PATH", false},
		{"PreStartHookError", "it failed", false},
		{"PostStartHookError", "it failed", false},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			deployment := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "app"}}}
			if got := Stuck(deployment, []*unstructured.Unstructured{waitingPod(tt.reason, tt.message)}, nil); (got != "") != tt.stuck {
				t.Errorf("%s %s: %q", tt.reason, tt.message, got)
			}
		})
	}
}

// TestStuckWithoutPods does the same for events and conditions.
func TestStuckWithoutPods(t *testing.T) {
	created := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	object := func(kind string, status map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"kind": kind, "metadata": map[string]any{"name": "app"}, "status": status}}
	}
	warning := func(kind, reason, message string) Event {
		return Event{Kind: kind, Name: "app", Warning: true, Reason: reason, Message: message, Time: created.Add(-time.Minute)}
	}
	failure := func(message string) map[string]any {
		return map[string]any{"conditions": []any{map[string]any{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}}}
	}
	unbound := map[string]any{"phase": "Pending"}
	const account = `error looking up service account shop/app: serviceaccount "app" not found`
	for name, tt := range map[string]struct {
		of    *unstructured.Unstructured
		event Event
		pods  []*unstructured.Unstructured
		stuck bool
	}{
		"quota of a Deployment":      {of: object("Deployment", failure("pods \"a\" is forbidden: exceeded quota: few")), stuck: true},
		"a webhook is down":          {of: object("Deployment", failure("failed calling webhook \"a.b\": refused"))},
		"account of a StatefulSet":   {of: object("StatefulSet", nil), event: warning("StatefulSet", "FailedCreate", account), stuck: true},
		"account of a Job":           {of: object("Job", nil), event: warning("Job", "FailedCreate", account), stuck: true},
		"account that was created":   {of: object("Deployment", nil), event: warning("Deployment", "FailedCreate", account), pods: []*unstructured.Unstructured{waitingPod("ContainerCreating", "")}},
		"event of another kind":      {of: object("StatefulSet", nil), event: warning("StatefulSet", "Unhealthy", account)},
		"claim without a class":      {of: object("PersistentVolumeClaim", unbound), stuck: true},
		"claim with a missing class": {of: classOf(object("PersistentVolumeClaim", unbound)), event: warning("PersistentVolumeClaim", "ProvisioningFailed", `storageclass.storage.k8s.io "fast" not found`), stuck: true},
		"claim of a slow class":      {of: classOf(object("PersistentVolumeClaim", unbound)), event: warning("PersistentVolumeClaim", "ProvisioningFailed", "timed out")},
		"bound claim":                {of: object("PersistentVolumeClaim", map[string]any{"phase": "Bound"})},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Stuck(tt.of, tt.pods, []Event{tt.event}); (got != "") != tt.stuck {
				t.Errorf("%q", got)
			}
		})
	}
}

func classOf(claim *unstructured.Unstructured) *unstructured.Unstructured {
	claim.Object["spec"] = map[string]any{"storageClassName": "fast"}
	return claim
}

// TestPodStuck checks causes of a pod's schedule and mounts.
func TestPodStuck(t *testing.T) {
	unscheduled := func(message string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"kind": "Pod", "metadata": map[string]any{"name": "p"}, "status": map[string]any{"phase": "Pending",
			"conditions": []any{map[string]any{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}}}}}
	}
	mounting := &unstructured.Unstructured{Object: map[string]any{"kind": "Pod", "metadata": map[string]any{"name": "p"}, "status": map[string]any{"phase": "Pending"}}}
	mount := func(message string) []Event {
		return []Event{{Kind: "Pod", Name: "p", Warning: true, Reason: "FailedMount", Message: message}}
	}
	for name, tt := range map[string]struct {
		pod    *unstructured.Unstructured
		events []Event
		stuck  bool
	}{
		"no room":         {pod: unscheduled("0/3 nodes are available: 3 Insufficient cpu.")},
		"no claim":        {pod: unscheduled(`persistentvolumeclaim "data" not found`), stuck: true},
		"unbound claim":   {pod: unscheduled("pod has unbound immediate PersistentVolumeClaims")},
		"missing secret":  {pod: mounting, events: mount(`MountVolume.SetUp failed for volume "a" : secret "db" not found`), stuck: true},
		"missing key":     {pod: mounting, events: mount(`MountVolume.SetUp failed for volume "a" : references non-existent secret key: b`), stuck: true},
		"a slow mount":    {pod: mounting, events: mount("timed out waiting for the condition")},
		"nothing is said": {pod: mounting},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Stuck(tt.pod, nil, tt.events); (got != "") != tt.stuck {
				t.Errorf("%q", got)
			}
		})
	}
}
