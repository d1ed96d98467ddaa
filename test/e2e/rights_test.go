package e2e_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/test/harness"
)

// rightsCase has inputs, and commands for a user who has exactly the permissions that
// lynqctl rbac prints.
type rightsCase struct {
	folder string // of the inputs
	form   string // "app" by default
	flags  string // of rbac
	does   func(*rightsShop, *testing.T) string
	// spared reports verbs that this case doesn't need, or that another case tests.
	spared func(right) bool
	// whole removes whole rules, instead of each verb.
	whole bool
	// allKinds is set if the needed permissions depend on the existing kinds, so that no
	// other test may define some meanwhile.
	allKinds bool
	// kept lets the commands keep to the namespace, with Roles alone.
	kept bool
	on   *harness.Shared
}

func rightsCases() map[string]rightsCase {
	every := (*rightsShop).everything
	return map[string]rightsCase{
		"one namespace": {folder: "testdata/rights/one", flags: "--include-data", does: every, spared: older},
		"elsewhere":     {folder: "testdata/rights/elsewhere", does: every, spared: locks, whole: true},
		// A run lists many kinds in a Namespace that it deletes. Without any of them, it
		// keeps the Namespace.
		"cluster": {folder: "testdata/rights/cluster", flags: "--include-data", does: every, whole: true, allKinds: true, spared: func(r right) bool {
			return locks(r) || r.rule.Verbs[0] == "list" && !slices.Contains([]string{"configmaps", "gadgets", "secrets"}, r.resource)
		}},
		"status": {folder: "testdata/rights/one", flags: "--for status --optional", does: (*rightsShop).looks, spared: none},
		"diff":   {folder: "testdata/rights/one", flags: "--for diff", does: (*rightsShop).diffs, spared: none},
		// Whether lynqctl reads a single Deployment depends on timing. Another case tests
		// that. It patches an event that happens again.
		"watch": {folder: "testdata/rights/one", flags: "--for watch", does: (*rightsShop).watches, spared: func(r right) bool {
			return older(r) || r.short() == "get deployments" || r.short() == "patch events"
		}},
		// Other cases test permissions other than those for Leases.
		"shards":     {folder: "testdata/rights/one", flags: "--for apply,delete --shards 3", does: (*rightsShop).shards, spared: func(r right) bool { return !locks(r) || r.short() == "delete leases" }},
		"quickstart": {folder: "../../examples/quickstart", form: "web", flags: "--include-data", does: every, spared: bound, whole: true},
		// TestKeepToNamespacesEach takes each verb away.
		"kept":        {folder: "../../examples/quickstart", form: "web", flags: "--include-data", kept: true, does: every, spared: all},
		"kept status": {folder: "../../examples/quickstart", form: "web", flags: "--for status,diff --optional", kept: true, does: (*rightsShop).keptLooks, spared: all},
		"repairs":     {folder: "testdata/rights/one", flags: "--for apply,delete", does: (*rightsShop).repairs, spared: all},
		"shop":        {folder: "../../examples/shop/forms", form: "web", flags: "--include-data", does: every, spared: bound, whole: true},
		"cronjob":     {folder: "../../examples/cronjob/forms", form: "web", flags: "--include-data", does: every, spared: bound, whole: true},
	}
}

func all(right) bool  { return true }
func none(right) bool { return false }

// older selects verbs that only servers before 1.34 need, because their watches can't begin
// with a list.
func older(r right) bool { return r.short() == "list storageclasses" }

// locks selects the permissions for the hub's Lease, which are the same for all inputs.
func locks(r right) bool { return r.resource == "leases" }

// bound selects permissions for storage classes, because claims of the class standard are
// bound at once.
func bound(r right) bool { return r.resource == "storageclasses" }

// operators selects the permission for LynqNodes, which only clusters with the operator
// serve. Script apply-guard-operator tests it.
func operators(r right) bool { return r.resource == "lynqnodes" }

// TestRights wants the permissions that lynqctl rbac prints to be enough for its commands.
// It removes each verb in one namespace, or each rule in the other cases, and wants some
// command to fail. The server decides, with RBAC.
func TestRights(t *testing.T) {
	t.Parallel()
	own := harness.Shared{Own: true}
	t.Cleanup(own.Stop)
	for _, on := range []*harness.Shared{&cluster, &own} {
		env := on.Env(t)
		env.Kubectl(t, "", "apply", "-f", "testdata/rights/gadgets.yaml")
		env.Kubectl(t, "", "wait", "--for=condition=established", "--timeout=180s", "crd/gadgets.rights.example.com", "crd/badges.rights.example.com")
	}
	for name, c := range rightsCases() {
		if c.on = &cluster; c.allKinds {
			c.on = &own
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRightsShop(t, &c)
			roles := r.printed(t)
			r.grant(t, roles)
			if why := c.does(r, t); why != "" {
				t.Errorf("not enough: %s", why)
			}
			for _, one := range c.each(roles) {
				if c.spared(one) || operators(one) {
					continue
				}
				t.Run("without "+one.String(), func(t *testing.T) {
					t.Parallel()
					r := newRightsShop(t, &c)
					r.grant(t, one.takenFrom(t, r.printed(t)))
					if c.does(r, t) == "" {
						t.Error("nothing fails without it")
					}
				})
			}
		})
	}
}

// role is a Role, a ClusterRole, or a binding.
type role struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta   `json:"metadata"`
	Rules           []rbacv1.PolicyRule `json:"rules,omitempty"`
	RoleRef         *rbacv1.RoleRef     `json:"roleRef,omitempty"`
	Subjects        []rbacv1.Subject    `json:"subjects,omitempty"`
}

// right is one verb of a rule, in a role.
type right struct {
	inRole               int
	kind, resource, verb string
	rule                 rbacv1.PolicyRule
}

func (r right) short() string { return r.verb + " " + r.resource }
func (r right) String() string {
	of := ""
	if len(r.rule.ResourceNames) > 0 {
		of = " by name"
	}
	return fmt.Sprintf("%s%s in %s %d", r.short(), of, r.kind, r.inRole)
}

// each returns the verbs of roles, or their rules.
func (c *rightsCase) each(roles []role) []right {
	var all []right
	for i, o := range roles {
		for _, rule := range o.Rules {
			verbs := rule.Verbs
			if c.whole {
				verbs = []string{anyVerb}
			}
			for _, verb := range verbs {
				all = append(all, right{i, o.Kind, rule.Resources[0], verb, rule})
			}
		}
	}
	return all
}

// anyVerb stands for all verbs of a rule.
const anyVerb = "any"

// takenFrom returns the roles without this verb. It searches the rule, because other tests
// may define kinds and so change the rules before it.
func (r right) takenFrom(t *testing.T, roles []role) []role {
	t.Helper()
	rules := roles[r.inRole].Rules
	i := slices.IndexFunc(rules, func(rule rbacv1.PolicyRule) bool {
		return slices.Equal(rule.APIGroups, r.rule.APIGroups) && slices.Equal(rule.Resources, r.rule.Resources) &&
			len(rule.ResourceNames) == len(r.rule.ResourceNames)
	})
	if i < 0 {
		t.Fatalf("the roles have no rule for %s", r.resource)
	}
	verbs := &rules[i].Verbs
	if *verbs = slices.DeleteFunc(*verbs, func(verb string) bool { return r.verb == anyVerb || verb == r.verb }); len(*verbs) == 0 {
		roles[r.inRole].Rules = slices.Delete(rules, i, i+1)
	}
	return roles
}

// rightsShop is a shop with a service account that has some permissions.
type rightsShop struct {
	*shop
	*rightsCase
	other string // a second namespace, "" for none
}

// newRightsShop copies the inputs of a case into its own shop.
func newRightsShop(t *testing.T, c *rightsCase) *rightsShop {
	t.Helper()
	r := &rightsShop{&shop{Env: c.on.Env(t), bin: lynqctl(t), dir: t.TempDir(), rows: map[string]string{}}, c, ""}
	for i := range 10 { // more of a kind than lynqctl reads and watches one by one
		r.rows[fmt.Sprintf("t%03d", i)] = "free"
	}
	gadgets, err := os.ReadFile("testdata/rights/gadgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(c.folder, "elsewhere") {
		r.other = r.Namespace + "-other" // roles are sorted by namespace
		r.Kubectl(t, "", "create", "namespace", r.other)
		t.Cleanup(func() { r.remove(t, "", "namespaces", r.other) })
		r.write(t, "gadgets.yaml", string(gadgets))
	}
	files, err := filepath.Glob(filepath.Join(c.folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r.write(t, filepath.Base(file), r.own(string(text)))
	}
	r.writeRows(t)
	return r
}

// own returns inputs with the names of this shop, because other tests use the same ones.
func (r *rightsShop) own(text string) string {
	return strings.NewReplacer("HUB", r.hub(), "OTHER", r.other, "NAMESPACE", r.Namespace, "namespace: shop", "namespace: "+r.Namespace,
		"  name: crm", "  name: "+r.hub(), "hubId: crm", "hubId: "+r.hub(), "  name: tenants", "  name: "+r.hub(), "hubId: tenants", "hubId: "+r.hub()).Replace(text)
}

// writeRows writes the rows with the columns that all inputs map.
func (r *rightsShop) writeRows(t *testing.T) {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,tenant,active,plan,replicas,company,url,motd\n")
	for _, uid := range slices.Sorted(maps.Keys(r.rows)) {
		fmt.Fprintf(&b, "%s,%[1]s,1,%s,1,Acme,https://acme.example.com,\n", uid, r.rows[uid])
	}
	r.write(t, "rows.csv", b.String())
}

func (r *rightsShop) account() string { return "system:serviceaccount:" + r.Namespace + ":robot" }

// printed returns the roles that lynqctl rbac prints.
func (r *rightsShop) printed(t *testing.T) []role {
	t.Helper()
	args := append([]string{"rbac", "-f", r.dir, "-o", "json", "--service-account", r.Namespace + "/robot", "--name", r.Namespace}, strings.Fields(r.flags)...)
	if r.kept {
		args = append(args, "--namespaces", r.Namespace)
	}
	p := r.start(t, args...)
	p.want(t, 0)
	var list struct{ Items []role }
	if err := json.Unmarshal(p.stdout.Bytes(), &list); err != nil || len(list.Items) == 0 {
		t.Fatalf("%v: %s", err, p.stdout.String())
	}
	return list.Items
}

// grant gives the service account permissions.
func (r *rightsShop) grant(t *testing.T, roles []role) {
	t.Helper()
	for _, o := range roles {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&o)
		if err != nil {
			t.Fatal(err)
		}
		kind := r.Dynamic.Resource(schema.GroupVersionResource{Group: rbacv1.GroupName, Version: "v1", Resource: strings.ToLower(o.Kind) + "s"})
		created := dynamic.ResourceInterface(kind)
		if o.Metadata.Namespace != "" {
			created = kind.Namespace(o.Metadata.Namespace)
		}
		if _, err := created.Create(t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		r.remove(t, rbacv1.GroupName, "clusterroles", r.Namespace)
		r.remove(t, rbacv1.GroupName, "clusterrolebindings", r.Namespace)
	})
}

// remove deletes an object outside of the test's namespaces.
func (r *rightsShop) remove(t *testing.T, group, resource, name string) {
	t.Helper()
	kind := r.Dynamic.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource})
	if err := kind.Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}

// fails runs commands as the service account, and says why the first one failed, or returns
// "".
func (r *rightsShop) fails(t *testing.T, commands ...string) string {
	t.Helper()
	for _, command := range commands {
		if p := r.as(t, command); p.code != 0 || r.lacks(p.stderr.String()) {
			return command + ": " + p.stderr.String()
		}
	}
	return ""
}

// lacks reports whether an output names a missing permission. Roles can't permit to read the
// class of a claim, which lynqctl asks for while the claim isn't bound.
func (r *rightsShop) lacks(output string) bool {
	for line := range strings.Lines(output) {
		if strings.Contains(line, "is forbidden") && (!r.kept || !strings.Contains(line, "storageclasses.storage.k8s.io is forbidden")) {
			return true
		}
	}
	return false
}

// as runs a command as the service account.
func (r *rightsShop) as(t *testing.T, command string) *running {
	t.Helper()
	command = strings.NewReplacer("INPUTS", r.dir+" --source csv:"+filepath.Join(r.dir, "rows.csv"), "HUB", r.hub(), "NODE", r.node(), "PLAN", filepath.Join(r.dir, "plan.json")).Replace(command)
	if r.kept {
		command = strings.ReplaceAll(command, " -A", "") + " --namespaces " + r.Namespace
	}
	p := r.start(t, append(strings.Fields(command), "--as="+r.account(), "--timeout=1m")...)
	<-p.done
	return p
}

// change changes a row of the table. Without a plan, it removes the row.
func (r *rightsShop) change(t *testing.T, uid, plan string) {
	t.Helper()
	if r.rows[uid] = plan; plan == "" {
		delete(r.rows, uid)
	}
	r.writeRows(t)
}

func (r *rightsShop) looks(t *testing.T) string {
	r.apply(t).want(t, 0) // as the administrator
	return r.fails(t, "status", "status --recorded", "status node NODE", "inventory list", "inventory show NODE",
		"inventory verify --recorded-only", "apply -f INPUTS --dry-run=client", "delete node NODE --dry-run=client",
		"finalize --dry-run=client")
}

// keptLooks runs the commands that write nothing and keep to a namespace.
func (r *rightsShop) keptLooks(t *testing.T) string {
	r.start(t, "apply", "-f", r.dir, "--source", "csv:"+filepath.Join(r.dir, "rows.csv")).want(t, 0) // as the administrator
	return r.fails(t, "status", "status node NODE", "status hub HUB", "diff -f INPUTS")
}

func (r *rightsShop) diffs(t *testing.T) string {
	r.apply(t).want(t, 0) // as the administrator
	if why := r.fails(t, "diff -f INPUTS"); why != "" {
		return why
	}
	r.change(t, "t000", "gold")
	r.change(t, "t001", "")
	r.change(t, "t100", "free")
	return r.fails(t, "apply -f INPUTS --dry-run=server", "plan -f INPUTS --out PLAN -o name")
}

// shards runs shards, and then the whole hub.
func (r *rightsShop) shards(t *testing.T) string {
	if why := r.fails(t, "apply -f INPUTS --shard 0/3", "apply -f INPUTS --shard 1/3"); why != "" {
		return why
	}
	r.change(t, "t000", "gold")
	return r.fails(t, "apply -f INPUTS --shard 2/3", "apply -f INPUTS --shard 0/3 --lock-timeout=2s", "apply -f INPUTS --lock-timeout=2s", "delete node NODE --yes")
}

// repairs runs the commands that repair inventories.
func (r *rightsShop) repairs(t *testing.T) string {
	if why := r.fails(t, "apply -f INPUTS"); why != "" {
		return why
	}
	record := inventory.Name(r.node())
	r.Kubectl(t, "", "delete", "configmap", record, "--wait=false")
	if why := r.fails(t, "inventory restore NODE"); why != "" {
		return why
	}
	r.Kubectl(t, "", "patch", "configmap", record, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	r.Kubectl(t, "", "delete", "configmap", record, "--cascade=orphan")
	if why := r.fails(t, "inventory rebuild -f INPUTS --yes"); why != "" {
		return why
	}
	r.Kubectl(t, "", "delete", "configmap", record, "--wait=false")
	return r.fails(t, "finalize --yes")
}

// everything runs apply, delete and orphans. They create, change, delete and retain
// objects, and they adopt or delete retained ones.
func (r *rightsShop) everything(t *testing.T) string {
	if why := r.fails(t, "apply -f INPUTS"); why != "" {
		return why
	}
	r.change(t, "t000", "gold")
	r.change(t, "t001", "")
	r.change(t, "t100", "free")
	// The run before couldn't release the Lease.
	if why := r.fails(t, "plan -f INPUTS --out PLAN -o name", "apply -f INPUTS --plan PLAN --lock-timeout=2s"); why != "" {
		return why
	}
	r.change(t, "t001", "free")
	// It first tries each write, to find what it shall refuse.
	if why := r.fails(t, "orphans adopt --all -f INPUTS", "apply -f INPUTS --fail-on=claim-shrinks"); why != "" {
		return why
	}
	// Another client's finalizer precedes lynqctl's.
	where := []string{"patch", "configmap", inventory.Name(r.node()), "-n", r.nodes(), "--type=json", "-p"}
	r.Kubectl(t, "", append(where, `[{"op":"add","path":"/metadata/finalizers/0","value":"example.com/other"}]`)...)
	why := r.fails(t, "delete node NODE --dry-run=client --out PLAN -n "+r.nodes(), "delete node NODE --plan PLAN -n "+r.nodes())
	r.Kubectl(t, "", append(where, `[{"op":"remove","path":"/metadata/finalizers/0"}]`)...)
	if why != "" {
		return why
	}
	if why := r.fails(t, "delete hub HUB --yes", "orphans prune -A --hub HUB --all --include-data --dry-run=client --out PLAN",
		"orphans prune -A --hub HUB --all --include-data --plan PLAN"); why != "" {
		return why
	}
	if left := r.Kubectl(t, "", "get", "leases,persistentvolumeclaims,networkpolicies", "-o", "name"); left != "" {
		return "left: " + left
	}
	return ""
}

// node returns one of the nodes, and nodes the namespace of all.
func (r *rightsShop) node() string { return "t002-" + cmp.Or(r.form, "app") }

func (r *rightsShop) nodes() string { return cmp.Or(r.other, r.Namespace) }
