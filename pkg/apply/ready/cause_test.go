package ready

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// causePod returns a pod of a controller, created in some minute, with a status.
func causePod(t *testing.T, name, owner string, minute int, status string) *unstructured.Unstructured {
	t.Helper()
	return object(t, fmt.Sprintf(`{kind: Pod, apiVersion: v1, metadata: {name: %s, uid: u-%s, creationTimestamp: "2026-01-01T00:%02d:00Z", ownerReferences: [%s]}, status: %s}`,
		name, name, minute, owner, status))
}

// TestCause explains unready objects from their pods and events.
func TestCause(t *testing.T) {
	const (
		app      = `{kind: Deployment, apiVersion: apps/v1, metadata: {name: app, uid: d}}`
		job      = `{kind: Job, apiVersion: batch/v1, metadata: {name: app, uid: j}}`
		claim    = `{kind: PersistentVolumeClaim, apiVersion: v1, metadata: {name: app, uid: c}}`
		set      = `{kind: StatefulSet, apiVersion: apps/v1, metadata: {name: app, uid: s}}`
		ofApp    = `{kind: ReplicaSet, name: app-5f, uid: r, controller: true}`
		ofOther  = `{kind: ReplicaSet, name: app-two-5f, uid: r, controller: true}`
		ofJob    = `{kind: Job, name: app, uid: j, controller: true}`
		running  = `{phase: Running, conditions: [{type: Ready, status: "True"}]}`
		unready  = `{phase: Running, containerStatuses: [{name: main, state: {running: {}}}]}`
		creating = `{phase: Pending, containerStatuses: [{name: main, state: {waiting: {reason: ContainerCreating}}}]}`
		crashing = `{phase: Running, containerStatuses: [{name: main, restartCount: 4, state: {waiting: {reason: CrashLoopBackOff, message: back-off 40s}}, lastState: {terminated: {exitCode: 3, reason: Error}}}]}`
		killed   = `{phase: Running, containerStatuses: [{name: main, restartCount: 1, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}]}`
		pulling  = `{phase: Pending, containerStatuses: [{name: main, state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image "nginx:nope"'}}}]}`
		inInit   = `{phase: Pending, initContainerStatuses: [{name: migrate, state: {terminated: {exitCode: 1, reason: Error}}}], containerStatuses: [{name: main, state: {waiting: {reason: PodInitializing}}}]}`
		inited   = `{phase: Pending, initContainerStatuses: [{name: migrate, state: {terminated: {exitCode: 0, reason: Completed}}}], containerStatuses: [{name: main, state: {waiting: {reason: CreateContainerConfigError, message: configmap "x" not found}}}]}`
		pending  = `{phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: "0/3 nodes are available: 3 Insufficient cpu."}]}`
	)
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }
	warning := func(minute int, kind, name, uid, reason, message string) Event {
		return Event{UID: uid, Kind: kind, Name: name, Warning: true, Reason: reason, Message: message, Time: at(minute)}
	}
	quota := `pods "app-5f-" is forbidden: exceeded quota: pods`
	for name, tt := range map[string]struct {
		object string
		pods   []*unstructured.Unstructured
		events []Event
		want   string
	}{
		"nothing is known":   {app, nil, nil, ""},
		"all pods are ready": {app, []*unstructured.Unstructured{causePod(t, "a", ofApp, 1, running)}, nil, ""},
		"unschedulable":      {app, []*unstructured.Unstructured{causePod(t, "a", ofApp, 1, pending)}, nil, "pod a: Unschedulable: 0/3 nodes are available: 3 Insufficient cpu."},
		"what is said of preemption": {app, []*unstructured.Unstructured{causePod(t, "a", ofApp, 1, strings.Replace(pending, "cpu.", "cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.", 1))}, nil,
			"pod a: Unschedulable: 0/3 nodes are available: 3 Insufficient cpu."},
		"no image":             {app, []*unstructured.Unstructured{causePod(t, "a", ofApp, 1, pulling)}, nil, `pod a: container main: ImagePullBackOff: Back-off pulling image "nginx:nope"`},
		"crashing":             {app, []*unstructured.Unstructured{causePod(t, "a", ofApp, 1, crashing)}, nil, "pod a: container main: CrashLoopBackOff, exit code 3, 4 restarts"},
		"out of memory":        {app, []*unstructured.Unstructured{causePod(t, "a", ofApp, 1, killed)}, nil, "pod a: container main: CrashLoopBackOff, exit code 137 (OOMKilled), 1 restart"},
		"in an init container": {app, []*unstructured.Unstructured{causePod(t, "a", ofApp, 1, inInit)}, nil, "pod a: container migrate: exit code 1"},
		"after init":           {app, []*unstructured.Unstructured{causePod(t, "a", ofApp, 1, inited)}, nil, `pod a: container main: CreateContainerConfigError: configmap "x" not found`},
		"the newest of those that are not ready": {app, []*unstructured.Unstructured{
			causePod(t, "old", ofApp, 1, pulling), causePod(t, "new", ofApp, 3, crashing), causePod(t, "older", ofApp, 2, pending), causePod(t, "newest", ofApp, 4, running),
		}, nil, "pod new: container main: CrashLoopBackOff, exit code 3, 4 restarts"},
		"another's pods":          {app, []*unstructured.Unstructured{causePod(t, "a", ofOther, 1, crashing), causePod(t, "b", "", 1, crashing)}, nil, ""},
		"a job's pod":             {job, []*unstructured.Unstructured{causePod(t, "a", ofJob, 1, crashing), causePod(t, "b", ofApp, 2, pulling)}, nil, "pod a: container main: CrashLoopBackOff, exit code 3, 4 restarts"},
		"a volume is not mounted": {app, []*unstructured.Unstructured{causePod(t, "a", ofApp, 1, creating)}, []Event{warning(1, "Pod", "a", "u-a", "FailedMount", "old"), warning(3, "Pod", "a", "u-a", "FailedMount", `secret "x" not found`), warning(4, "Pod", "b", "u-b", "Failed", "no")}, `pod a: FailedMount: secret "x" not found`},
		"a probe fails":           {app, []*unstructured.Unstructured{causePod(t, "a", ofApp, 1, unready)}, []Event{warning(1, "Pod", "a", "u-a", "Unhealthy", "Readiness probe failed: 503")}, "pod a: Unhealthy: Readiness probe failed: 503"},
		"an earlier pod's event":  {app, []*unstructured.Unstructured{causePod(t, "a", ofApp, 1, creating)}, []Event{warning(1, "Pod", "a", "u-before", "FailedMount", "old")}, ""},
		"exceeded quota":          {app, nil, []Event{warning(1, "ReplicaSet", "app-5f", "r", "FailedCreate", quota)}, "ReplicaSet app-5f: FailedCreate: " + quota},
		"what readiness says": {`{kind: Deployment, apiVersion: apps/v1, metadata: {name: app, uid: d}, status: {conditions: [{type: ReplicaFailure, status: "True"}]}}`, nil,
			[]Event{warning(1, "ReplicaSet", "app-5f", "r", "FailedCreate", quota)}, ""},
		"another's quota":          {app, nil, []Event{warning(1, "ReplicaSet", "app-two-5f", "r", "FailedCreate", quota)}, ""},
		"exceeded quota of a job":  {job, nil, []Event{warning(1, "Job", "app", "j", "FailedCreate", quota)}, "FailedCreate: " + quota},
		"exceeded quota of a set":  {set, nil, []Event{warning(1, "StatefulSet", "app", "s", "FailedCreate", quota)}, "FailedCreate: " + quota},
		"a claim":                  {claim, nil, []Event{warning(1, "PersistentVolumeClaim", "app", "c", "ProvisioningFailed", `storageclass "fast" not found`)}, `ProvisioningFailed: storageclass "fast" not found`},
		"what is no warning":       {claim, nil, []Event{{Kind: "PersistentVolumeClaim", Name: "app", UID: "c", Reason: "Provisioning", Message: "soon"}}, ""},
		"a pod of the form's own":  {`{kind: Pod, apiVersion: v1, metadata: {name: a, uid: p}, status: ` + crashing + `}`, nil, nil, "container main: CrashLoopBackOff, exit code 3, 4 restarts"},
		"statuses that are broken": {app, []*unstructured.Unstructured{causePod(t, "a", ofApp, 1, `{phase: Pending, containerStatuses: [1, {state: 2}]}`)}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Cause(object(t, tt.object), tt.pods, tt.events); got != tt.want {
				t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
			}
		})
	}
}

// TestExplains checks that Explains is true for the kinds that Cause can explain.
func TestExplains(t *testing.T) {
	for kind, want := range map[[2]string]bool{
		{"apps", "Deployment"}: true, {"apps", "StatefulSet"}: true, {"apps", "DaemonSet"}: true, {"apps", "ReplicaSet"}: true, {"batch", "Job"}: true,
		{"", "Pod"}: true, {"", "PersistentVolumeClaim"}: true, {"", "Service"}: false, {"batch", "CronJob"}: false, {"example.com", "Deployment"}: false,
	} {
		if got := Explains(kind[0], kind[1]); got != want {
			t.Errorf("%s: %t", kind, got)
		}
	}
}
