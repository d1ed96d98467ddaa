package ready

import (
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// replicas are the counts of a workload's controller.
type replicas struct {
	want, exist, updated, ready, available int
}

func countReplicas(o *unstructured.Unstructured) replicas {
	count := func(path string) int { return status.GetIntField(o.Object, path, 0) }
	if o.GetKind() == "DaemonSet" {
		return replicas{
			want:      count(".status.desiredNumberScheduled"),
			exist:     count(".status.currentNumberScheduled"),
			updated:   count(".status.updatedNumberScheduled"),
			ready:     count(".status.numberReady"),
			available: count(".status.numberAvailable"),
		}
	}
	c := replicas{
		want:      status.GetIntField(o.Object, ".spec.replicas", 1),
		exist:     count(".status.replicas"),
		updated:   count(".status.updatedReplicas"),
		ready:     count(".status.readyReplicas"),
		available: count(".status.availableReplicas"),
	}
	if o.GetKind() == "ReplicaSet" {
		c.updated = c.exist // a ReplicaSet has only one revision
	}
	return c
}

// partOf returns the version of a workload that has some of its replicas, all with its
// current revision. It returns the zero version for other objects.
func partOf(o *unstructured.Unstructured) Version {
	kind := o.GroupVersionKind().GroupKind()
	if _, seen := observedGeneration(o); !seen || kind.Group != "apps" || kind.Kind == "ControllerRevision" {
		return Version{}
	}
	c := countReplicas(o)
	if c.available == 0 || c.available >= c.want || c.updated < c.exist {
		return Version{}
	}
	return Version{UID: string(o.GetUID()), Generation: o.GetGeneration()}
}

// lack says what is missing, or returns "" if the counts are as desired.
func (c replicas) lack() string {
	switch {
	case c.updated < c.want && c.updated < c.exist:
		return fmt.Sprintf("%d of %d replicas updated", c.updated, c.want)
	case c.updated < c.want || c.available < c.want:
		return fmt.Sprintf("%d of %d replicas available", min(c.updated, c.available), c.want)
	case c.exist > c.want:
		return terminating(c.exist - c.want)
	}
	return ""
}

// terminating says how many old replicas haven't ended.
func terminating(old int) string {
	if old == 1 {
		return "1 old replica is terminating"
	}
	return phrase.Count(old, "old replica") + " are terminating"
}

// deploymentReadiness uses the counts, as kubectl rollout status does. kstatus also
// requires conditions that never come while a rollout is paused, and that are late when one
// is scaled to zero.
func deploymentReadiness(o *unstructured.Unstructured) Readiness {
	if _, seen := observedGeneration(o); !seen {
		return Waiting(unseenObject)
	}
	lack := countReplicas(o).lack()
	if lack == "" {
		return ready("")
	}
	if c, ok := findCondition(o, "Progressing"); ok && c.Reason == "ProgressDeadlineExceeded" {
		return Failed(lack + ": " + c.describe())
	}
	if paused, _, err := unstructured.NestedBool(o.Object, "spec", "paused"); err == nil && paused {
		return Waiting("%s: the rollout is paused", lack)
	}
	return Waiting("%s", lack+whyNoPods(o))
}

// workloadReadiness is for StatefulSets, DaemonSets and ReplicaSets.
func workloadReadiness(o *unstructured.Unstructured) Readiness {
	if _, seen := observedGeneration(o); !seen {
		return Waiting(unseenObject)
	}
	c := countReplicas(o)
	if c.want == 0 && o.GetKind() != "DaemonSet" {
		if c.exist > 0 {
			return Waiting("%s", c.lack())
		}
		return ready("")
	}
	// With OnDelete, pods keep their revision until somebody deletes them.
	if status.GetStringField(o.Object, ".spec.updateStrategy.type", "") == "OnDelete" {
		if c.ready < c.want {
			return Waiting("%s", fmt.Sprintf("%d of %d replicas ready", c.ready, c.want)+whyNoPods(o))
		}
		return ready("")
	}
	result, err := status.Compute(o)
	if err != nil {
		return Waiting("its status cannot be understood: %v", err)
	}
	r := kstatusReadiness(result)
	if lack := c.lack(); r.State == StateWaiting && lack != "" {
		r.Message = lack + whyNoPods(o)
	}
	return r
}

// whyNoPods says why a controller can't create pods, for example a quota.
func whyNoPods(o *unstructured.Unstructured) string {
	if c, ok := isTrue(o, "ReplicaFailure"); ok {
		return ": " + c.describe()
	}
	return ""
}

// jobReadiness calls a job ready when it is complete. A suspended job is ready too, because
// nothing more happens. FailureTarget comes before Failed, and both are permanent.
func jobReadiness(o *unstructured.Unstructured) Readiness {
	if _, ok := isTrue(o, "Complete"); ok {
		return Readiness{State: StateReady, Final: true}
	}
	for _, conditionType := range []string{"Failed", "FailureTarget"} {
		if c, ok := isTrue(o, conditionType); ok {
			return Readiness{State: StateFailed, Message: "Job failed: " + c.describe(), Final: true}
		}
	}
	if suspended, _, err := unstructured.NestedBool(o.Object, "spec", "suspend"); err == nil && suspended {
		return ready("suspended")
	}
	succeeded := status.GetIntField(o.Object, ".status.succeeded", 0)
	message := fmt.Sprintf("%d pods succeeded", succeeded)
	if wanted := status.GetIntField(o.Object, ".spec.completions", 0); wanted > 0 {
		message = fmt.Sprintf("%d of %d completions", succeeded, wanted)
	}
	if n := status.GetIntField(o.Object, ".status.failed", 0); n > 0 {
		message += fmt.Sprintf(", %d pods failed", n)
	}
	return Waiting("%s", message)
}

// podReadiness lets a pod wait if it can't be scheduled or its containers crash, because
// nodes and services may still come.
func podReadiness(o *unstructured.Unstructured) Readiness {
	phase := status.GetStringField(o.Object, ".status.phase", "")
	switch phase {
	case "":
		return Waiting(unseenObject)
	case "Succeeded":
		return Readiness{State: StateReady, Final: true}
	case "Failed":
		why := describe(status.GetStringField(o.Object, ".status.reason", ""),
			status.GetStringField(o.Object, ".status.message", ""))
		return Readiness{State: StateFailed, Message: "Pod failed: " + why, Final: true}
	}
	if _, ok := isTrue(o, "Ready"); ok {
		return ready("")
	}
	if why := stuckContainer(o); why != "" {
		return Waiting("%s", why)
	}
	for _, conditionType := range []string{"PodScheduled", "Ready"} {
		if c, ok := findCondition(o, conditionType); ok && c.Status == "False" {
			return Waiting("%s", c.describe())
		}
	}
	return Waiting("its phase is %s", phase)
}

// stuckContainer says which container doesn't start, and why.
func stuckContainer(o *unstructured.Unstructured) string {
	for _, field := range []string{"initContainerStatuses", "containerStatuses"} {
		v, _, err := unstructured.NestedFieldNoCopy(o.Object, "status", field)
		list, ok := v.([]any)
		if err != nil || !ok {
			continue
		}
		for _, item := range list {
			container, _ := item.(map[string]any)
			state, _ := container["state"].(map[string]any)
			if wait, ok := state["waiting"].(map[string]any); ok {
				return "container " + text(container, "name") + ": " + describe(text(wait, "reason"), text(wait, "message"))
			}
		}
	}
	return ""
}

// ClaimKind returns the kind of claims. Their readiness depends on storage classes.
func ClaimKind() schema.GroupKind { return schema.GroupKind{Kind: "PersistentVolumeClaim"} }

// ClassKind returns the kind of storage classes.
func ClassKind() schema.GroupKind {
	return schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}
}

// ClassResource returns how the server serves storage classes.
func ClassResource() lynq.APIResource {
	return lynq.APIResource{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass", Plural: "storageclasses"}
}

// These are annotations of claims. The first is the class from before the field existed.
// The second is the node of the first pod that uses the claim.
const (
	annotationClass        = "volume.beta.kubernetes.io/storage-class"
	annotationSelectedNode = "volume.kubernetes.io/selected-node"
)

// claimReadiness returns the readiness of a claim. How a claim binds depends on its storage
// class. If the class decides, the readiness names it, and waits until the caller asks the
// class. The API server writes the default class into the claim, so it needs no case here.
func claimReadiness(o *unstructured.Unstructured) Readiness {
	switch status.GetStringField(o.Object, ".status.phase", "") {
	case "Bound":
		return ready("")
	case "Lost":
		return Failed("its volume is lost")
	}
	class, named := claimClass(o)
	volume := status.GetStringField(o.Object, ".spec.volumeName", "")
	node := o.GetAnnotations()[annotationSelectedNode]
	switch {
	case volume != "":
		return Waiting("not bound to volume %q yet", volume)
	case node != "":
		return Waiting("waiting for a volume for its first consumer, on node %q", node)
	case !named:
		return Waiting("not bound: it names no storage class, and there is no default one")
	case class == "":
		return Waiting("not bound: no volume without a storage class suits it yet")
	}
	return Readiness{State: StateWaiting, Message: fmt.Sprintf("not bound; how storage class %q binds is not known", class), Class: class}
}

func claimClass(o *unstructured.Unstructured) (class string, named bool) {
	if class, named = o.GetAnnotations()[annotationClass]; named {
		return class, true
	}
	class, named, err := unstructured.NestedString(o.Object, "spec", "storageClassName")
	return class, named && err == nil
}

// serviceReadiness makes a Service of type LoadBalancer wait for its address.
func serviceReadiness(o *unstructured.Unstructured) Readiness {
	if status.GetStringField(o.Object, ".spec.type", "") != "LoadBalancer" {
		return ready("")
	}
	v, _, err := unstructured.NestedFieldNoCopy(o.Object, "status", "loadBalancer", "ingress")
	if list, ok := v.([]any); err != nil || !ok || len(list) == 0 {
		return Waiting("its load balancer has no address yet")
	}
	return ready("")
}

func namespaceReadiness(o *unstructured.Unstructured) Readiness {
	if phase := status.GetStringField(o.Object, ".status.phase", "unknown"); phase != "Active" {
		return Waiting("its phase is %s", phase)
	}
	return ready("")
}
