package gitops

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// lifeStories are about the creation and deletion of objects.
func lifeStories() []story {
	return []story{rolloutStory(), lifeStory(), deleteStory()}
}

// rolloutStory has a node that never becomes ready, and another one in the rollout.
func rolloutStory() story {
	return story{
		name: "rollout", form: formOf("web", "rollout: {maxSkew: 1, stages: [{rows: 1}]}", "n1: "+never),
		cells: []cell{{"web", "rollout.maxSkew", "rollout.maxSkew"}, {"web", "rollout.onFailure", "rollout.maxSkew"}, {"web", "rollout.stages", "rollout.stages"}},
		tell: func(t *testing.T, w *world) map[string]string {
			w.rows(t, "acme,1,v1,", "bolt,1,v1,")
			w.carry(t)
			return map[string]string{"web": w.value(t, "deployments", "bolt-n1", "kind")}
		},
	}
}

// lifeStory creates, rewrites, recreates, purges and deletes objects, while a row changes
// and then disappears.
func lifeStory() story {
	const (
		job     = `spec: {apiVersion: batch/v1, kind: Job, spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: "{{ .plan }}"}]}}}}`
		changed = `spec: {apiVersion: v1, kind: ConfigMap, data: {plan: "{{ .plan }}"}}`
		image   = `spec: {apiVersion: v1, kind: ConfigMap, data: {image: "{{ .image }}"}}`
		hook    = `runOn: Delete, spec: {apiVersion: batch/v1, kind: Job, spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}`
	)
	form := formOf("purge", "", "p: purgeOrder: 0, "+plain, "p2: "+image) +
		formOf("again", "", "e: reconcilePolicy: OnObjectOrNodeChange, "+plain) +
		formOf("anew", "", "k: patchStrategy: recreate, waitForReady: false, "+job) +
		formOf("anew2", "", "l: patchStrategy: recreate, "+changed) +
		formOf("last", "", "m: "+hook, "q: "+plain)
	of := func(id, row string) cell { return cell{id: id, row: row, policy: row} }
	return story{
		name: "life", form: form,
		cells: []cell{
			of("p", "purgeOrder"), of("e", "reconcilePolicy: OnObjectOrNodeChange"),
			of("k", "patchStrategy: recreate"), of("l", "patchStrategy: recreate"), of("m", "runOn: Delete"),
		},
		tell: func(t *testing.T, w *world) map[string]string {
			w.rows(t, "acme,1,v1,i1", "bolt,1,v1,i1")
			w.carry(t)
			jobBefore, mapBefore := w.value(t, "jobs", "acme-k", "metadata.uid"), w.value(t, "configmaps", "acme-l", "metadata.uid")
			w.asked.Reset()
			w.rows(t, "acme,1,v1,i2", "bolt,1,v1,i1")
			w.carry(t)
			becomes := map[string]string{"e": w.writes("acme-e")}
			becomes["p"] = w.value(t, "configmaps", "acme-p", "kind") + w.writes("acme-p")
			w.asked.Reset()
			w.rows(t, "acme,1,v2,i2")
			w.carry(t)
			becomes["k"] = fmt.Sprint(jobBefore == w.value(t, "jobs", "acme-k", "metadata.uid"))
			becomes["l"] = fmt.Sprint(mapBefore == w.value(t, "configmaps", "acme-l", "metadata.uid"))
			becomes["m"] = w.writes("bolt-m")
			return becomes
		},
	}
}

// deleteStory drops two objects from the form. A finalizer blocks one of them.
func deleteStory() story {
	const held = `deleteOrder: -1, spec: {apiVersion: v1, kind: ConfigMap, metadata: {finalizers: [test.lynq.sh/held]}}`
	return story{
		name: "delete", form: formOf("drop", "", "i: "+held, "j: "+plain, "z: "+plain),
		cells: []cell{{"i", "deleteOrder", "deleteOrder"}},
		tell: func(t *testing.T, w *world) map[string]string {
			w.rows(t, "acme,1,v1,")
			w.carry(t)
			if a, ok := w.carrier.(*applier); ok {
				a.flags = []string{"--timeout=5s"} // it waits for i, and can only do less then
			}
			w.write(t, "forms.yaml", cellsHub+formOf("drop", "", "z: "+plain))
			w.carry(t)
			w.patch(t, "test", "configmaps", "acme-i", types.MergePatchType, `{"metadata":{"finalizers":null}}`)
			becomes := "deleted"
			if w.value(t, "configmaps", "acme-j", "metadata.deletionTimestamp") == "[null]" {
				becomes = "there"
			}
			return map[string]string{"i": becomes}
		},
	}
}

// writes reports whether a carrier asked the server to write an object, even as a dry run.
func (w *world) writes(name string) string {
	for _, r := range w.asked.Records() {
		if r.Name == name && (r.Verb == "patch" || r.Verb == "create" || r.Verb == "update") {
			return "written"
		}
	}
	return "not written"
}
