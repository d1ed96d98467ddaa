package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// movedHub is a hub whose rows name their objects in a column.
const movedHub = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: NAME}
spec:
  source: {type: csv, syncInterval: 1s, csv: {path: NAME.csv}}
  valueMappings: {uid: id, activate: active, previousUid: was}
  extraValueMappings: {slug: slug}
`

// movedForm is a form with every way of tracking objects.
const movedForm = `apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: FORM}
spec:
  hubId: NAME
`

const movedResources = `  configMaps:
    - {id: text, nameTemplate: "{{ .slug }}-text", spec: {apiVersion: v1, kind: ConfigMap, data: {slug: "{{ .slug }}"}}}
    - {id: once, nameTemplate: "{{ .slug }}-once", creationPolicy: Once, spec: {apiVersion: v1, kind: ConfigMap, data: {uid: "{{ .uid }}"}}}
  persistentVolumeClaims:
    - id: data
      nameTemplate: "{{ .slug }}-data"
      deletionPolicy: Retain
      waitForReady: false
      spec: {apiVersion: v1, kind: PersistentVolumeClaim, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
  deployments:
    - id: app
      nameTemplate: "{{ .slug }}-app"
      spec:
        apiVersion: apps/v1
        kind: Deployment
        spec:
          selector: {matchLabels: {app: "{{ .slug }}"}}
          template:
            metadata: {labels: {app: "{{ .slug }}"}}
            spec: {containers: [{name: app, image: example.com/app}]}
  jobs:
    - id: backup
      nameTemplate: "{{ .slug }}-backup"
      runOn: Delete
      spec:
        apiVersion: batch/v1
        kind: Job
        spec: {template: {spec: {restartPolicy: Never, containers: [{name: backup, image: example.com/backup}]}}}
`

// moving is a shop whose objects move to another node in each generation.
type moving struct {
	*shop
	before string   // the objects and pods, with their uids
	want   []string // the inventories
}

// hubFiles writes a hub with its rows.
func (m *moving) hubFiles(t *testing.T, name, rows string) {
	t.Helper()
	m.write(t, name+"-hub.yaml", strings.ReplaceAll(movedHub, "NAME", name))
	m.write(t, name+".csv", "id,was,slug,active\n"+rows)
}

// formFile writes a form of a hub.
func (m *moving) formFile(t *testing.T, file, hub, name, resources string) {
	t.Helper()
	m.write(t, file, strings.NewReplacer("NAME", hub, "FORM", name).Replace(movedForm)+resources)
}

// hubToHub moves the row from one hub to the other.
func (m *moving) hubToHub(t *testing.T, n int) {
	t.Helper()
	other, row := m.hub()+"-b", []string{"", "acme,,acme,1\n"}
	m.hubFiles(t, m.hub(), row[n%2])
	m.hubFiles(t, other, row[(n+1)%2])
	m.formFile(t, "a.yaml", m.hub(), "a", movedResources)
	m.formFile(t, "b.yaml", other, "b", movedResources)
	m.want = []string{[]string{"lynqnode-acme-b", "lynqnode-acme-a"}[n%2]}
}

// killedMove kills a run that moves all objects of a node to another hub.
func killedMove(t *testing.T) *kills {
	t.Helper()
	m := &moving{shop: newShop(t, "", 0, faultproxy.Options{})}
	apply := []string{"apply", "-f", m.dir, "--concurrency=1", "--events=false", "--allow-empty", "--max-delete=0"}
	m.hubToHub(t, 0)
	m.start(t, apply...).want(t, 0)
	m.before = m.objects(t)
	return &kills{
		shop: m.shop, args: apply, least: 8,
		begin: func(t *testing.T, n int) { t.Helper(); m.hubToHub(t, n) },
		left: func(t *testing.T, _ bool) {
			t.Helper()
			if now := m.objects(t); now != m.before {
				t.Errorf("objects and pods are\n%s\nand were\n%s", now, m.before)
			}
			m.Kubectl(t, "", "delete", "leases", "--all")
		},
		wrong: func(t *testing.T) []string { t.Helper(); return m.unmoved(t) },
		whole: func(t *testing.T) { t.Helper(); m.whole(t, apply) },
	}
}

// objects lists the node's objects and pods, with their uids and generations. A Deployment's
// generation counts annotations, and the digest of a moved object is one. So its
// ReplicaSets show that its content is the same.
func (m *moving) objects(t *testing.T) string {
	t.Helper()
	all := m.Kubectl(t, "", "get", "deployments,replicasets,persistentvolumeclaims,pods,jobs,configmaps", "-l", "!lynq.sh/record",
		"-o", "custom-columns=KIND:.kind,NAME:.metadata.name,UID:.metadata.uid,GENERATION:.metadata.generation", "--no-headers")
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(all), "\n"), func(line string) bool { return strings.Contains(line, "kube-root-ca.crt") })
	for i, line := range lines {
		if f := strings.Fields(line); f[0] == "Deployment" {
			lines[i] = strings.Join(f[:3], " ")
		}
	}
	return strings.Join(lines, "\n")
}

// whole wants all objects in the new node, and another run to change nothing.
func (m *moving) whole(t *testing.T, apply []string) {
	t.Helper()
	complain(t, m.unmoved(t))
	m.start(t, apply...).want(t, 0, "4 objects: 4 unchanged")
}

// unmoved returns the differences from the same objects and pods in the new nodes'
// inventories.
func (m *moving) unmoved(t *testing.T) []string {
	t.Helper()
	var wrong []string
	if now := m.objects(t); now != m.before {
		wrong = append(wrong, fmt.Sprintf("objects and pods are\n%s\nand were\n%s", now, m.before))
	}
	inventories := strings.Fields(m.Kubectl(t, "", "get", "configmaps", "-l", "lynq.sh/record=node", "-o", "custom-columns=NAME:.metadata.name", "--no-headers"))
	if !slices.Equal(inventories, m.want) {
		wrong = append(wrong, fmt.Sprintf("the inventories are %v, want %v", inventories, m.want))
	}
	return wrong
}
