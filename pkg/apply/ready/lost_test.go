package ready

import "testing"

// TestPodsLost checks which workloads count as ready although they lack replicas. A run must
// have seen the same version ready.
func TestPodsLost(t *testing.T) {
	t.Parallel()
	const meta = "metadata: {name: web, uid: u1, generation: 2}\n"
	const deployment = "apiVersion: apps/v1\nkind: Deployment\n" + meta + "spec: {replicas: 3}\n"
	const some = "replicas: 3, updatedReplicas: 3, readyReplicas: 2, availableReplicas: 2}"
	for _, tt := range []struct {
		name, object string
		seen         Version // a run saw it ready
		want         bool
	}{
		{"a drain", deployment + "status: {observedGeneration: 2, " + some, Version{UID: "u1", Generation: 2}, true},
		{"a quota forbids new pods", deployment + "status: {observedGeneration: 2, replicas: 1, updatedReplicas: 1, availableReplicas: 1}", Version{UID: "u1", Generation: 2}, true},
		{"no run saw it ready", deployment + "status: {observedGeneration: 2, " + some, Version{}, false},
		{"it was scaled up", deployment + "status: {observedGeneration: 2, " + some, Version{UID: "u1", Generation: 1}, false},
		{"it was replaced", deployment + "status: {observedGeneration: 2, " + some, Version{UID: "u0", Generation: 2}, false},
		{"its controller is behind", deployment + "status: {observedGeneration: 1, " + some, Version{UID: "u1", Generation: 2}, false},
		{"no replica is available", deployment + "status: {observedGeneration: 2, replicas: 3, updatedReplicas: 3}", Version{UID: "u1", Generation: 2}, false},
		{"all are available", deployment + "status: {observedGeneration: 2, replicas: 3, updatedReplicas: 3, availableReplicas: 3}", Version{UID: "u1", Generation: 2}, false},
		{"old pods remain", deployment + "status: {observedGeneration: 2, replicas: 4, updatedReplicas: 2, availableReplicas: 2}", Version{UID: "u1", Generation: 2}, false},
		{"its rollout failed", deployment + "status: {observedGeneration: 2, replicas: 3, updatedReplicas: 3, availableReplicas: 2, conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}", Version{UID: "u1", Generation: 2}, false},
		{"it is being deleted", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, uid: u1, generation: 2, deletionTimestamp: '2026-01-01T00:00:00Z'}\nspec: {replicas: 3}\nstatus: {observedGeneration: 2, " + some, Version{UID: "u1", Generation: 2}, false},
		{"a StatefulSet", "apiVersion: apps/v1\nkind: StatefulSet\n" + meta + "spec: {replicas: 3}\nstatus: {observedGeneration: 2, " + some, Version{UID: "u1", Generation: 2}, true},
		{"a DaemonSet", "apiVersion: apps/v1\nkind: DaemonSet\n" + meta + "status: {observedGeneration: 2, desiredNumberScheduled: 3, currentNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 2, numberAvailable: 2}", Version{UID: "u1", Generation: 2}, true},
		{"a ReplicaSet", "apiVersion: apps/v1\nkind: ReplicaSet\n" + meta + "spec: {replicas: 3}\nstatus: {observedGeneration: 2, replicas: 3, readyReplicas: 2, availableReplicas: 2}", Version{UID: "u1", Generation: 2}, true},
		{"a kind of another group", "apiVersion: example.com/v1\nkind: Deployment\n" + meta + "spec: {replicas: 3}\nstatus: {observedGeneration: 2, conditions: [{type: Ready, status: 'False'}], " + some, Version{UID: "u1", Generation: 2}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			saw := func(v Version) bool { return v == tt.seen }
			if got := Of(object(t, tt.object)).PodsLost(saw); got != tt.want {
				t.Errorf("%s: %t", tt.name, got)
			}
		})
	}
}
