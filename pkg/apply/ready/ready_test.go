package ready

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// object reads YAML with the types of an API server's JSON.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return o
}

type readinessTest struct {
	name   string
	object string
	want   Readiness
}

func testReadiness(t *testing.T, tests []readinessTest) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := object(t, test.object)
			before := o.DeepCopy()
			got := Of(o)
			got.Part = Version{} // TestPodsLost checks it
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(Readiness{})); diff != "" {
				t.Errorf("readiness (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, o); diff != "" {
				t.Errorf("the object was changed:\n%s", diff)
			}
		})
	}
}

func TestReadinessOfDeployments(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: apps/v1\nkind: Deployment\n"
	testReadiness(t, []readinessTest{
		{"no status", head + `
metadata: {name: web, generation: 1}
spec: {replicas: 3}
`, Waiting(unseenObject)},
		{"an older generation was available", head + `
metadata: {name: web, generation: 2}
spec: {replicas: 1}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1}
`, Waiting(unseenChange)},
		{"some are available", head + `
metadata: {name: web, generation: 1}
spec: {replicas: 3}
status:
  observedGeneration: 1
  replicas: 3
  updatedReplicas: 3
  availableReplicas: 1
  conditions:
  - {type: Available, status: "False", reason: MinimumReplicasUnavailable}
  - {type: Progressing, status: "True", reason: ReplicaSetUpdated}
`, Waiting("1 of 3 replicas available")},
		{"replicas not given, none yet", head + `
metadata: {name: web, generation: 1}
spec: {}
status: {observedGeneration: 1}
`, Waiting("0 of 1 replicas available")},
		{"rolling", head + `
metadata: {name: web, generation: 2}
spec: {replicas: 3}
status: {observedGeneration: 2, replicas: 4, updatedReplicas: 1, readyReplicas: 3, availableReplicas: 3}
`, Waiting("1 of 3 replicas updated")},
		{"an old one is left", head + `
metadata: {name: web, generation: 2}
spec: {replicas: 3}
status: {observedGeneration: 2, replicas: 4, updatedReplicas: 3, readyReplicas: 4, availableReplicas: 4}
`, Waiting("1 old replica is terminating")},
		{"all are available", head + `
metadata: {name: web, generation: 2}
spec: {replicas: 3}
status:
  observedGeneration: 2
  replicas: 3
  updatedReplicas: 3
  readyReplicas: 3
  availableReplicas: 3
  conditions:
  - {type: Available, status: "True", reason: MinimumReplicasAvailable}
  - {type: Progressing, status: "True", reason: NewReplicaSetAvailable}
`, ready("")},
		{"zero, not observed", head + `
metadata: {name: web, generation: 1}
spec: {replicas: 0}
`, Waiting(unseenObject)},
		{"zero", head + `
metadata: {name: web, generation: 1}
spec: {replicas: 0}
status: {observedGeneration: 1}
`, ready("")},
		{"scaled to zero after it failed", head + `
metadata: {name: web, generation: 2}
spec: {replicas: 0}
status:
  observedGeneration: 2
  conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: late}]
`, ready("")},
		{"scaling to zero", head + `
metadata: {name: web, generation: 2}
spec: {replicas: 0}
status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2}
`, Waiting("2 old replicas are terminating")},
		{"past its deadline", head + `
metadata: {name: web, generation: 2}
spec: {replicas: 2}
status:
  observedGeneration: 2
  replicas: 2
  updatedReplicas: 2
  conditions:
  - {type: Available, status: "False", reason: MinimumReplicasUnavailable}
  - {type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: 'ReplicaSet "web-5d" has timed out progressing.'}
`, Failed(`0 of 2 replicas available: ProgressDeadlineExceeded: ReplicaSet "web-5d" has timed out progressing.`)},
		{"an older generation is past its deadline", head + `
metadata: {name: web, generation: 3}
spec: {replicas: 2}
status:
  observedGeneration: 2
  conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]
`, Waiting(unseenChange)},
		{"quota", head + `
metadata: {name: web, generation: 1}
spec: {replicas: 2}
status:
  observedGeneration: 1
  conditions: [{type: ReplicaFailure, status: "True", reason: FailedCreate, message: "pods \"web-1\" is forbidden:\n exceeded quota"}]
`, Waiting(`0 of 2 replicas available: FailedCreate: pods "web-1" is forbidden: exceeded quota`)},
		{"paused", head + `
metadata: {name: web, generation: 2}
spec: {replicas: 2, paused: true}
status: {observedGeneration: 2, replicas: 2, updatedReplicas: 0, availableReplicas: 2}
`, Waiting("0 of 2 replicas updated: the rollout is paused")},
		{"paused with nothing to do", head + `
metadata: {name: web, generation: 2}
spec: {replicas: 1, paused: true}
status:
  observedGeneration: 2
  replicas: 1
  updatedReplicas: 1
  availableReplicas: 1
  conditions: [{type: Progressing, status: Unknown, reason: DeploymentPaused}]
`, ready("")},
		{"being deleted", head + `
metadata: {name: web, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [foregroundDeletion]}
`, Readiness{State: StateDeleting, Message: "is being deleted since 2026-01-01T00:00:00Z; finalizer foregroundDeletion holds it"}},
	})
}

func TestReadinessOfOtherWorkloads(t *testing.T) {
	t.Parallel()
	const set = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, generation: 1}\n"
	const daemons = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, generation: 1}\n"
	const replicaSet = "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web, generation: 1}\n"
	testReadiness(t, []readinessTest{
		{"stateful set, no status", set + "spec: {replicas: 0}", Waiting(unseenObject)},
		{"stateful set, some", set + `
spec: {replicas: 3}
status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, currentReplicas: 2, readyReplicas: 1, availableReplicas: 1}
`, Waiting("1 of 3 replicas available")},
		{"stateful set, rolling", set + `
spec: {replicas: 3}
status: {observedGeneration: 1, replicas: 3, updatedReplicas: 1, currentReplicas: 2, readyReplicas: 3, availableReplicas: 3, currentRevision: a, updateRevision: b}
`, Waiting("1 of 3 replicas updated")},
		{"stateful set, revision", set + `
spec: {replicas: 1}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, currentReplicas: 1, readyReplicas: 1, availableReplicas: 1, currentRevision: a, updateRevision: b}
`, Waiting("RevisionMismatch: Waiting for updated revision to match current")},
		{"stateful set, all", set + `
spec: {replicas: 2}
status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, currentReplicas: 2, readyReplicas: 2, availableReplicas: 2, currentRevision: a, updateRevision: a}
`, ready("")},
		{"stateful set, partition", set + `
spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 2}}}
status: {observedGeneration: 1, replicas: 3, updatedReplicas: 1, readyReplicas: 3, availableReplicas: 3, currentRevision: a, updateRevision: b}
`, ready("")},
		{"stateful set, zero", set + "spec: {replicas: 0}\nstatus: {observedGeneration: 1, replicas: 0}", ready("")},
		{"stateful set, to zero", set + "spec: {replicas: 0}\nstatus: {observedGeneration: 1, replicas: 1}",
			Waiting("1 old replica is terminating")},
		{"stateful set, on delete", set + `
spec: {replicas: 2, updateStrategy: {type: OnDelete}}
status: {observedGeneration: 1, replicas: 2, readyReplicas: 1}
`, Waiting("1 of 2 replicas ready")},
		{"stateful set, on delete, all", set + `
spec: {replicas: 2, updateStrategy: {type: OnDelete}}
status: {observedGeneration: 1, replicas: 2, readyReplicas: 2, updatedReplicas: 0}
`, ready("")},
		{"stateful set, bad conditions", set + `
spec: {replicas: 1}
status: {observedGeneration: 1, conditions: none}
`, Waiting(`its status cannot be understood: cannot restore slice from string`)},
		{"daemon set, no status", daemons, Waiting(unseenObject)},
		{"daemon set, some", daemons + `
status: {observedGeneration: 1, desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: 3, numberReady: 2, numberAvailable: 2}
`, Waiting("2 of 3 replicas available")},
		{"daemon set, all", daemons + `
status: {observedGeneration: 1, desiredNumberScheduled: 1, currentNumberScheduled: 1, updatedNumberScheduled: 1, numberReady: 1, numberAvailable: 1}
`, ready("")},
		{"daemon set, no nodes", daemons + `
status: {observedGeneration: 1, desiredNumberScheduled: 0, currentNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0}
`, ready("")},
		{"daemon set, on delete", daemons + `
spec: {updateStrategy: {type: OnDelete}}
status: {observedGeneration: 1, desiredNumberScheduled: 1, currentNumberScheduled: 1, numberReady: 1, numberAvailable: 1}
`, ready("")},
		{"replica set, quota", replicaSet + `
spec: {replicas: 2}
status:
  observedGeneration: 1
  conditions: [{type: ReplicaFailure, status: "True", reason: FailedCreate, message: exceeded quota}]
`, Waiting("0 of 2 replicas available: FailedCreate: exceeded quota")},
		{"replica set, all", replicaSet + `
spec: {replicas: 2}
status: {observedGeneration: 1, replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 2, availableReplicas: 2}
`, ready("")},
		{"replica set, zero", replicaSet + "spec: {replicas: 0}\nstatus: {observedGeneration: 1, replicas: 0}", ready("")},
	})
}

func TestReadinessOfJobsAndPods(t *testing.T) {
	t.Parallel()
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate, generation: 1}\n"
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: shell}\n"
	done := Readiness{State: StateReady, Final: true}
	testReadiness(t, []readinessTest{
		{"job, no status", job + "spec: {completions: 1, parallelism: 1}", Waiting("0 of 1 completions")},
		{"job, running", job + `
spec: {completions: 5}
status: {startTime: "2026-01-01T00:00:00Z", active: 2, succeeded: 1, failed: 2}
`, Waiting("1 of 5 completions, 2 pods failed")},
		{"job, queue", job + "spec: {parallelism: 2}\nstatus: {active: 2}", Waiting("0 pods succeeded")},
		{"job, complete", job + `
spec: {completions: 1}
status:
  succeeded: 1
  conditions:
  - {type: SuccessCriteriaMet, status: "True", reason: CompletionsReached}
  - {type: Complete, status: "True", reason: CompletionsReached}
`, done},
		{"job, failed", job + `
status:
  failed: 1
  conditions:
  - {type: FailureTarget, status: "True", reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit}
  - {type: Failed, status: "True", reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit}
`, Readiness{State: StateFailed, Final: true,
			Message: "Job failed: BackoffLimitExceeded: Job has reached the specified backoff limit"}},
		{"job, about to fail", job + `
status:
  active: 1
  conditions: [{type: FailureTarget, status: "True", reason: DeadlineExceeded}]
`, Readiness{State: StateFailed, Final: true, Message: "Job failed: DeadlineExceeded"}},
		{"job, suspended", job + "spec: {suspend: true}", ready("suspended")},
		{"job, resumed", job + `
spec: {suspend: false, completions: 1}
status: {conditions: [{type: Suspended, status: "False", reason: JobResumed}]}
`, Waiting("0 of 1 completions")},

		{"pod, no status", pod, Waiting(unseenObject)},
		{"pod, succeeded", pod + "status: {phase: Succeeded}", done},
		{"pod, failed", pod + "status: {phase: Failed, reason: Evicted, message: the node was low on memory}",
			Readiness{State: StateFailed, Final: true, Message: "Pod failed: Evicted: the node was low on memory"}},
		{"pod, ready", pod + `
status: {phase: Running, conditions: [{type: PodScheduled, status: "True"}, {type: Ready, status: "True"}]}
`, ready("")},
		{"pod, crashing", pod + `
status:
  phase: Running
  conditions: [{type: Ready, status: "False", reason: ContainersNotReady}]
  containerStatuses:
  - {name: log, state: {running: {}}}
  - {name: web, state: {waiting: {reason: CrashLoopBackOff, message: back-off 5m0s}}}
`, Waiting("container web: CrashLoopBackOff: back-off 5m0s")},
		{"pod, not ready", pod + `
status: {phase: Running, conditions: [{type: Ready, status: "False", reason: ContainersNotReady}]}
`, Waiting("ContainersNotReady")},
		{"pod, not schedulable", pod + `
status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: 0/1 nodes are available}]}
`, Waiting("Unschedulable: 0/1 nodes are available")},
		{"pod, pending", pod + "status: {phase: Pending}", Waiting("its phase is Pending")},
	})
}

func TestReadinessOfClaims(t *testing.T) {
	t.Parallel()
	const claim = "apiVersion: v1\nkind: PersistentVolumeClaim\n"
	testReadiness(t, []readinessTest{
		{"bound", claim + "metadata: {name: data}\nstatus: {phase: Bound}", ready("")},
		{"lost", claim + "metadata: {name: data}\nstatus: {phase: Lost}", Failed("its volume is lost")},
		{"class", claim + "metadata: {name: data}\nspec: {storageClassName: fast}\nstatus: {phase: Pending}",
			Readiness{State: StateWaiting, Message: `not bound; how storage class "fast" binds is not known`, Class: "fast"}},
		{"class as annotation", claim + `
metadata: {name: data, annotations: {volume.beta.kubernetes.io/storage-class: old}}
spec: {storageClassName: fast}
`, Readiness{State: StateWaiting, Message: `not bound; how storage class "old" binds is not known`, Class: "old"}},
		{"no class", claim + "metadata: {name: data}\nstatus: {phase: Pending}",
			Waiting("not bound: it names no storage class, and there is no default one")},
		{"empty class", claim + "metadata: {name: data}\nspec: {storageClassName: ''}\nstatus: {phase: Pending}",
			Waiting("not bound: no volume without a storage class suits it yet")},
		{"a certain volume", claim + "metadata: {name: data}\nspec: {storageClassName: fast, volumeName: v}\nstatus: {phase: Pending}",
			Waiting(`not bound to volume "v" yet`)},
		{"its consumer has come", claim + `
metadata: {name: data, annotations: {volume.kubernetes.io/selected-node: n1}}
spec: {storageClassName: fast}
status: {phase: Pending}
`, Waiting(`waiting for a volume for its first consumer, on node "n1"`)},
	})
}

func TestReadinessOfOtherKinds(t *testing.T) {
	t.Parallel()
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
	const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com, generation: 1}\n"
	const hpa = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\n"
	testReadiness(t, []readinessTest{
		{"config map", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}", ready("")},
		{"ingress", "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: c, generation: 1}\nstatus: {loadBalancer: {}}", ready("")},
		{"service", service + "spec: {type: ClusterIP}\nstatus: {loadBalancer: {}}", ready("")},
		{"load balancer, no status", service + "spec: {type: LoadBalancer, clusterIP: 10.0.0.1}",
			Waiting("its load balancer has no address yet")},
		{"load balancer, no address", service + "spec: {type: LoadBalancer}\nstatus: {loadBalancer: {ingress: []}}",
			Waiting("its load balancer has no address yet")},
		{"load balancer", service + "spec: {type: LoadBalancer}\nstatus: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}", ready("")},
		{"namespace", "apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\nstatus: {phase: Active}", ready("")},
		{"namespace, unknown", "apiVersion: v1\nkind: Namespace\nmetadata: {name: n}", Waiting("its phase is unknown")},
		{"definition, no status", crd, Waiting("Installing: Install in progress")},
		{"definition, accepted", crd + `
status:
  conditions:
  - {type: NamesAccepted, status: "True", reason: NoConflicts}
  - {type: Established, status: "False", reason: Installing}
`, Waiting("Installing: Install in progress")},
		{"definition, established", crd + `
status:
  conditions:
  - {type: NamesAccepted, status: "True", reason: NoConflicts}
  - {type: Established, status: "True", reason: InitialNamesAccepted}
`, ready("")},
		{"definition, names taken", crd + `
status:
  conditions:
  - {type: NamesAccepted, status: "False", reason: PluralConflict, message: '"widgets" is already in use'}
  - {type: Established, status: "False", reason: NotAccepted}
`, Failed(`PluralConflict: "widgets" is already in use`)},
		{"autoscaler, new", hpa, Waiting(unseenObject)},
		{"autoscaler, no target", hpa + `
status: {conditions: [{type: AbleToScale, status: "False", reason: FailedGetScale, message: no such deployment}]}
`, Waiting("AbleToScale is False: FailedGetScale: no such deployment")},
		{"autoscaler", hpa + `
status: {conditions: [{type: AbleToScale, status: "True", reason: ReadyForNewScale}, {type: ScalingActive, status: "False"}]}
`, ready("")},
		{"API service", `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.example.com}
status: {conditions: [{type: Available, status: "True", reason: Passed}]}
`, ready("")},
	})
}

func TestReadinessOfCustomResources(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, generation: 2}\n"
	testReadiness(t, []readinessTest{
		{"no status", head, ready("")},
		{"no known conditions", head + "status: {conditions: [{type: Synced, status: 'False'}]}", ready("")},
		{"conditions that are none", head + "status: {conditions: [nothing]}",
			Waiting("its status cannot be understood (cannot restore struct from: string); waitForReady: false takes it as it is")},
		{"not observed", head + "status: {observedGeneration: 1, conditions: [{type: Ready, status: 'True'}]}", Waiting(unseenChange)},
		{"not observed, as text", head + "status: {observedGeneration: '1', phase: Healthy}", Waiting(unseenChange)},
		{"observed, as text", head + "status: {observedGeneration: '2', phase: Healthy}", ready("")},
		{"observed, as a hash", head + "status: {observedGeneration: 5d7f, phase: Healthy}", ready("")},
		{"observed, as a fraction", head + "status: {observedGeneration: 1.5}",
			Waiting("its status cannot be understood (looking up status.observedGeneration from resource: " +
				".status.observedGeneration accessor error: 1.5 is of the type float64, expected int64); " +
				"waitForReady: false takes it as it is")},
		{"status is text", head + "status: fine",
			Waiting("its status cannot be understood (looking up status.observedGeneration from resource: " +
				".status.observedGeneration accessor error: fine is of the type string, expected map[string]interface{}); " +
				"waitForReady: false takes it as it is")},
		{"ready", head + "status: {observedGeneration: 2, conditions: [{type: Ready, status: 'True'}]}", ready("")},
		{"ready, of this generation", head + "status: {conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}", ready("")},
		{"ready, of an older generation", head + "status: {conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}", Waiting(unseenChange)},
		{"not ready", head + "status: {conditions: [{type: Ready, status: 'False', reason: Pending, message: no leader}]}",
			Waiting("Pending: no leader")},
		{"reconciling", head + "status: {conditions: [{type: Reconciling, status: 'True', reason: Progressing, message: step 2}, {type: Ready, status: 'True'}]}",
			Waiting("Progressing: step 2")},
		{"stalled", head + "status: {conditions: [{type: Stalled, status: 'True', reason: Bad, message: no such chart}, {type: Ready, status: 'False'}]}",
			Failed("Bad: no such chart")},
		{"stalled, before the change", head + "status: {conditions: [{type: Stalled, status: 'True', observedGeneration: 1}]}",
			Waiting(unseenChange)},
		{"failed", head + "status: {conditions: [{type: Failed, status: 'True', message: exit 1}, {type: Available, status: 'False'}]}",
			Failed("exit 1")},
		{"failed, before the change", head + "status: {conditions: [{type: Failed, status: 'True', observedGeneration: 1}]}", ready("")},
		{"failed once, ready now", head + "status: {conditions: [{type: Failed, status: 'True'}, {type: Ready, status: 'True'}]}", ready("")},
		{"available", head + "status: {conditions: [{type: Available, status: 'True'}]}", ready("")},
		{"not available", head + "status: {conditions: [{type: Available, status: Unknown}]}",
			Waiting("Available is Unknown: no reason given")},
		{"available, before the change", head + "status: {conditions: [{type: Available, status: 'True', observedGeneration: 1}]}",
			Waiting(unseenChange)},
		{"being deleted", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, deletionTimestamp: '2026-01-01T00:00:00Z'}",
			Readiness{State: StateDeleting, Message: "is being deleted since 2026-01-01T00:00:00Z"}},
		{"being deleted, and held by a custom resource's controller", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, deletionTimestamp: '2026-01-01T00:00:00Z'}\nstatus: {conditions: [{type: Deleting, status: 'True', reason: HasBackups}, {type: Terminating, status: 'False', message: no}]}",
			Readiness{State: StateDeleting, Message: "is being deleted since 2026-01-01T00:00:00Z; condition Deleting: HasBackups"}},
		{"a namespace with a kind that can't be listed", `apiVersion: v1
kind: Namespace
metadata: {name: shop, deletionTimestamp: '2026-01-01T00:00:00Z'}
spec: {finalizers: [kubernetes]}
status:
  phase: Terminating
  conditions:
  - {type: NamespaceDeletionDiscoveryFailure, status: 'False', reason: ResourcesDiscovered, message: All resources successfully discovered}
  - {type: NamespaceDeletionContentFailure, status: 'True', reason: ContentDeletionFailed, message: 'Failed to delete all resource types, 1 remaining: conversion webhook for x.io/v1, Kind=Conv failed'}
  - {type: NamespaceContentRemaining, status: 'True', reason: SomeResourcesRemain, message: 'Some resources are remaining: convs.x.io has 1 resource instances'}
  - {type: NamespaceFinalizersRemaining, status: 'True', reason: SomeFinalizersRemain, message: 'Some content in the namespace has finalizers remaining: x.io/hold in 1 resource instances'}
`, Readiness{State: StateDeleting, Message: "is being deleted since 2026-01-01T00:00:00Z; condition NamespaceDeletionContentFailure: Failed to delete all resource types, 1 remaining: conversion webhook for x.io/v1, Kind=Conv failed; condition NamespaceContentRemaining: Some resources are remaining: convs.x.io has 1 resource instances; condition NamespaceFinalizersRemaining: Some content in the namespace has finalizers remaining: x.io/hold in 1 resource instances"}},
		{"being deleted, with a grace period", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, finalizers: [a.example.com/x, b.example.com/y], deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30}",
			Readiness{State: StateDeleting, Message: "is being deleted since 2026-01-01T00:00:00Z; finalizers a.example.com/x, b.example.com/y hold it"}},
	})
}

// TestAtOnce checks which Services need no watch.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{"metadata":{"name":"a"},"spec":{"type":"ClusterIP"}}`:    true,
		`{"metadata":{"name":"a"}}`:                                true,
		`{"metadata":{"name":"a"},"spec":{"type":"LoadBalancer"}}`: false,
		`{`: false,
		`{"metadata":{"annotations":{"lynq.sh/status-hint":"values=x=1"}},"spec":{}}`: false,
	} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()

			if got := AtOnce([]byte(body)); got != want {
				t.Errorf("%s: %t", body, got)
			}
		})
	}
}

func TestDescribeIsShort(t *testing.T) {
	t.Parallel()
	got := describe("Long", strings.Repeat("ä", 400))
	if len(got) > maxMessage+len("…") || !strings.HasPrefix(got, "Long: ää") || !strings.HasSuffix(got, "ä…") {
		t.Errorf("describe: %d bytes: %s", len(got), got)
	}
}
