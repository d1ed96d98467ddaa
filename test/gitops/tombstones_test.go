package gitops

import (
	"slices"
	"testing"

	"github.com/lynqctl/lynqctl/test/harness"
)

// TestArgoTombstones wants Argo CD to run the hooks that delete tombstones' objects after
// everything else, permissions before calls. It must remove the hooks each time.
func TestArgoTombstones(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	a := newArgo(t, env)
	a.write(t, "forms.yaml", `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: tombstones}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: tombstones
  configMaps: [{id: new, nameTemplate: "{{ .uid }}-new", spec: {apiVersion: v1, kind: ConfigMap}}]
  tombstones:
    - {apiVersion: v1, kind: ConfigMap, nameTemplate: "{{ .uid }}-old", matchLabels: {tenant: "{{ .uid }}"}}
`)
	a.rows(t, "acme,1,basic,v1")
	a.renderTree(t, "--target=argo", "--tombstone-hooks", "--emit-apps=applications", "--repo-url=https://git.example/tenants", "--repo-path=tree")
	app := a.apps(t, "Application")["acme-web"]
	for range 2 {
		messages, waves := a.sync(t, "acme-web", app)
		if !slices.Equal(waves, []int{0, -1, 0}) {
			t.Errorf("the waves were %v", waves)
		}
		for _, hook := range []string{"ServiceAccount/tombstones-acme-web", "Role/lynqctl:tombstones:" + env.Namespace + ":acme-web",
			"RoleBinding/lynqctl:tombstones:" + env.Namespace + ":acme-web", "Job/tombstones-acme-web"} {
			if _, ran := messages[hook]; !ran {
				t.Errorf("%s did not run: %v", hook, messages)
			}
			env.Wait(t, hook, harness.Gone()) // Argo CD deletes in the foreground, so a Job leaves after its pods
		}
		env.Get(t, "configmap/acme-new")
	}
}
