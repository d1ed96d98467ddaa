package e2e_test

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// rightsInputs are objects of the kinds of examples/shop, one of each way to go.
const rightsInputs = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: HUB}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
  extraValueMappings: {plan: plan}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: app}
spec:
  hubId: HUB
  configMaps:
    - {id: settings, nameTemplate: "{{ .uid }}", spec: {apiVersion: v1, kind: ConfigMap, data: {plan: "{{ .plan }}"}}}
  persistentVolumeClaims:
    - id: data
      nameTemplate: "{{ .uid }}"
      deletionPolicy: Retain
      spec: {apiVersion: v1, kind: PersistentVolumeClaim, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
  deployments:
    - id: app
      nameTemplate: "{{ .uid }}"
      dependIds: [settings]
      spec:
        apiVersion: apps/v1
        kind: Deployment
        spec:
          replicas: 1
          selector: {matchLabels: {app: "{{ .uid }}"}}
          template: {metadata: {labels: {app: "{{ .uid }}"}}, spec: {containers: [{name: app, image: "example.com/app:{{ .plan }}"}]}}
`

// TestRights: each file in examples/rights is enough for its commands, and no verb of it
// can be spared: without any one of them some of the commands fail. The server decides,
// with RBAC.
func TestRights(t *testing.T) {
	t.Parallel()
	for name, commands := range map[string]func(*rightsShop, *testing.T) string{
		"look": (*rightsShop).looks, "diff": (*rightsShop).diffs, "apply": (*rightsShop).applies,
	} {
		all := readRights(t, name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if why := commands(newRightsShop(t, name, all), t); why != "" {
				t.Errorf("not enough: %s", why)
			}
		})
		for _, one := range all.each() {
			t.Run(name+" without "+one.String(), func(t *testing.T) {
				t.Parallel()
				if commands(newRightsShop(t, name, all.without(one)), t) == "" {
					t.Error("nothing fails without it")
				}
			})
		}
	}
}

// right is one verb that a role gives.
type right struct{ kind, resource, verb string }

func (r right) String() string { return strings.Join([]string{r.verb, r.resource, "in", r.kind}, " ") }

// rights are the rules of roles, by the kind of the role.
type rights map[string][]rbacv1.PolicyRule

// readRights reads the roles of a file in examples/rights.
func readRights(t *testing.T, name string) rights {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../examples/rights", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	all := rights{}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var role rbacv1.ClusterRole // a Role has the same fields
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		if len(role.Rules) > 0 {
			all[role.Kind] = role.Rules
		}
	}
	return all
}

// each are the rights one by one, but for lists and events: few objects, as they are
// here, are looked at one by one where a list is forbidden, and events are a courtesy.
func (r rights) each() []right {
	var all []right
	for _, kind := range slices.Sorted(maps.Keys(r)) {
		for _, rule := range r[kind] {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					if verb != "list" && resource != "events" {
						all = append(all, right{kind, resource, verb})
					}
				}
			}
		}
	}
	return all
}

// without is all of them but one.
func (r rights) without(one right) rights {
	rest := rights{}
	for kind, rules := range r {
		for _, rule := range rules {
			for _, resource := range rule.Resources {
				verbs := slices.DeleteFunc(slices.Clone(rule.Verbs), func(verb string) bool { return one == right{kind, resource, verb} })
				if len(verbs) > 0 {
					rest[kind] = append(rest[kind], rbacv1.PolicyRule{APIGroups: rule.APIGroups, Resources: []string{resource}, Verbs: verbs})
				}
			}
		}
	}
	return rest
}

// rightsShop is a shop in which a service account has some rights.
type rightsShop struct {
	*shop
	user string // the service account
}

// newRightsShop gives the service account of a file some rights, where the file has its
// own.
func newRightsShop(t *testing.T, name string, some rights) *rightsShop {
	t.Helper()
	r := &rightsShop{shop: &shop{Env: cluster.Env(t), bin: lynqctl(t), dir: t.TempDir(), rows: map[string]string{"t000": "free", "t001": "free"}}}
	r.write(t, "inputs.yaml", r.inputs(rightsInputs))
	r.writeRows(t)
	text, err := os.ReadFile(filepath.Join("../../examples/rights", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	own := strings.NewReplacer("namespace: shop", "namespace: "+r.Namespace, "{name: lynqctl-"+name+"}", "{name: "+r.Namespace+"}",
		"kind: ClusterRole, name: lynqctl-"+name, "kind: ClusterRole, name: "+r.Namespace)
	var documents []string
	for document := range strings.SplitSeq(own.Replace(string(text)), "\n---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		if len(role.Rules) > 0 {
			role.Rules = some[role.Kind]
			changed, err := yaml.Marshal(role)
			if err != nil {
				t.Fatal(err)
			}
			document = string(changed)
		}
		documents = append(documents, document)
	}
	t.Cleanup(func() {
		remove := exec.CommandContext(context.WithoutCancel(t.Context()), r.Cluster.Kubectl, "delete", "clusterrole,clusterrolebinding", r.Namespace)
		remove.Env = append(os.Environ(), "KUBECONFIG="+r.Kubeconfig)
		if said, err := remove.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, said)
		}
	})
	r.Kubectl(t, strings.Join(documents, "\n---\n"), "apply", "-f", "-")
	r.user = "system:serviceaccount:" + r.Namespace + ":lynqctl-" + name
	return r
}

// fails runs commands as the service account, and gives why the first of them fails
// that does.
func (r *rightsShop) fails(t *testing.T, commands ...string) string {
	t.Helper()
	for _, command := range commands {
		args := append(strings.Fields(strings.ReplaceAll(command, "INPUTS", r.dir)), "--as="+r.user, "--timeout=1m")
		p := r.start(t, args...)
		<-p.done
		if said := p.stderr.String(); p.code != 0 || strings.Contains(said, "is forbidden") {
			return command + ": " + said
		}
	}
	return ""
}

// change changes what the table has of a row; no plan is no row.
func (r *rightsShop) change(t *testing.T, uid, plan string) {
	t.Helper()
	if r.rows[uid] = plan; plan == "" {
		delete(r.rows, uid)
	}
	r.writeRows(t)
}

func (r *rightsShop) looks(t *testing.T) string {
	r.apply(t).want(t, 0)
	return r.fails(t, "status", "status --recorded", "status node t000-app", "inventory list", "inventory show t000-app",
		"inventory verify --recorded-only", "apply -f INPUTS --dry-run=client", "delete node t000-app --dry-run=client",
		"finalize --dry-run=client")
}

func (r *rightsShop) diffs(t *testing.T) string {
	r.apply(t).want(t, 0)
	if why := r.fails(t, "diff -f INPUTS"); why != "" {
		return why
	}
	r.change(t, "t000", "gold")
	r.change(t, "t001", "")
	r.change(t, "t100", "free")
	return r.fails(t, "apply -f INPUTS --dry-run=server")
}

func (r *rightsShop) applies(t *testing.T) string {
	if why := r.fails(t, "apply -f INPUTS"); why != "" {
		return why
	}
	r.change(t, "t000", "gold")
	r.change(t, "t001", "")
	if why := r.fails(t, "apply -f INPUTS"); why != "" {
		return why
	}
	r.change(t, "t001", "free")
	if why := r.fails(t, "orphans adopt --all -f INPUTS", "apply -f INPUTS"); why != "" {
		return why
	}
	record := inventory.Name("t000-app")
	r.Kubectl(t, "", "delete", "configmap", record, "--wait=false")
	if why := r.fails(t, "inventory restore t000-app"); why != "" {
		return why
	}
	r.Kubectl(t, "", "patch", "configmap", record, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	r.Kubectl(t, "", "delete", "configmap", record, "--cascade=orphan")
	if why := r.fails(t, "inventory rebuild -f INPUTS --yes"); why != "" {
		return why
	}
	r.Kubectl(t, "", "delete", "configmap", record, "--wait=false")
	if why := r.fails(t, "finalize --yes", "delete hub "+r.hub()+" --yes --cascade=foreground", "orphans prune --all --include-data --yes"); why != "" {
		return why
	}
	if left := r.Kubectl(t, "", "get", "deployments,persistentvolumeclaims,leases", "-o", "name"); strings.Contains(left, "/") {
		return "left: " + left
	}
	return ""
}
