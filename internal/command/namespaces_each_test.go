package command

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/test/inmemory/apiserver"
)

// keptCommand is a command that keeps to namespace shop.
type keptCommand struct {
	flags string // of rbac
	form  string // tenantForm without one
	// before are the rows that an administrator applies, one text after the other.
	before []string
	runs   []keptRun
	// want are the objects in namespace shop afterwards.
	want []string
	// looks is set for commands that try all kinds, and work without those of others.
	looks bool
	// spared are verbs that this case doesn't need. only are those that it is for.
	spared, only []string
}

// lackingConfigMaps matches messages of commands that also try other kinds.
var lackingConfigMaps = regexp.MustCompile(`can't be listed.* ConfigMap\b|configmaps.* is forbidden`)

// keptRun is one run of the command, with the exit code. rows, unless they are empty, replace
// those of the table before it.
type keptRun struct {
	args string
	code int
	rows string
}

const (
	bothRows = "id\na\nb\n"
	rowA     = "id\na\n"
	retained = "    - id: kept\n      nameTemplate: \"{{ .uid }}-kept\"\n      deletionPolicy: Retain\n      spec: {apiVersion: v1, kind: ConfigMap, data: {plan: gold}}\n"
)

func keptCommands() map[string]keptCommand {
	all := []string{"a", "b", "lynqhub-crm", "lynqnode-a-web", "lynqnode-b-web"}
	return map[string]keptCommand{
		"status": {flags: "--for status --optional", before: []string{bothRows}, want: all, looks: true, runs: []keptRun{
			{args: "status"}, {args: "status node a-web"}, {args: "status hub crm -n shop"}, {args: "status --recorded"},
		}},
		"diff": {
			flags: "--for diff", before: []string{bothRows}, want: all, spared: []string{"create configmaps"}, // a real server wants it for a patch
			runs: []keptRun{{args: "diff -f DIR --max-delete=100%", code: 1, rows: "id\na\nc\n"}, {args: "plan -f DIR --out DIR/plan.json --max-delete=100%"}},
		},
		"delete": {flags: "--for delete", before: []string{bothRows}, want: nil, runs: []keptRun{
			{args: "delete node a-web --yes"}, {args: "delete hub crm --yes"},
		}},
		"orphans": {
			flags: "--for orphans", form: tenantForm + retained, before: []string{bothRows, rowA}, looks: true,
			want: []string{"a", "a-kept", "b-kept", "lynqhub-crm", "lynqnode-a-web", "lynqnode-b-web"}, spared: []string{"delete configmaps", "update leases"}, // a second run needs the Lease
			runs: []keptRun{
				{args: "orphans list"}, {args: "orphans adopt --all -f DIR", rows: bothRows},
			},
		},
		"orphans prune": {
			flags: "--for orphans", form: tenantForm + retained, before: []string{bothRows, rowA}, looks: true,
			want: []string{"a", "a-kept", "lynqhub-crm", "lynqnode-a-web"}, only: []string{"delete configmaps"},
			runs: []keptRun{{args: "orphans prune --all --yes"}},
		},
	}
}

// TestKeepToNamespacesEach wants the Roles of rbac --for --namespaces to be enough for each
// command. It takes away each verb of each rule, and wants a run to fail or to say so.
func TestKeepToNamespacesEach(t *testing.T) {
	t.Parallel()
	managers, err := apiserver.NewManagers()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range keptCommands() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := c.newTenant(t, managers)
			as := p.as()
			if why := c.run(t, p, as); why != "" {
				t.Errorf("not enough: %s", why)
			}
			p.has(t, "shop", c.want...)
			for _, a := range as.refused {
				if a.resource != "events" && a.resource != "customresourcedefinitions" && !c.looks {
					t.Errorf("asks for what no Role allows: %+v", a)
				}
			}
			for i, rule := range p.rules {
				for _, verb := range rule.Verbs {
					what := verb + " " + rule.Resources[0]
					if slices.Contains(c.spared, what) || c.only != nil && !slices.Contains(c.only, what) {
						continue
					}
					if slices.Contains(rule.Resources, "lynqnodes") || slices.Contains(rule.Resources, "namespaces") || slices.Contains(rule.ResourceNames, "lynqplans-crm") {
						continue // for clusters with the operator, and for plan files
					}
					t.Run(fmt.Sprint(what, rule.ResourceNames), func(t *testing.T) {
						t.Parallel()
						p := c.newTenant(t, managers)
						if c.run(t, p, p.without(i, verb)) == "" {
							t.Error("nothing fails without it")
						}
					})
				}
			}
		})
	}
}

// newTenant lets an administrator apply the rows.
func (c *keptCommand) newTenant(t *testing.T, managers *apiserver.Managers) *tenant {
	t.Helper()
	p := newTenant(t, managers, strings.Fields(c.flags)...)
	if c.form != "" {
		p.write(t, "form.yaml", c.form)
	}
	for _, rows := range c.before {
		p.write(t, "rows.csv", rows)
		if code, said := p.run(t, "apply", "-f", p.dir, "--max-delete=100%"); code != 0 {
			t.Fatal(said)
		}
	}
	leases := p.objects.Resource(schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}).Namespace("shop")
	if err := leases.Delete(t.Context(), "lynqctl-crm", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs the commands as the person. It says which one failed, or returns "".
func (c *keptCommand) run(t *testing.T, p *tenant, as *confined) string {
	t.Helper()
	for _, r := range c.runs {
		args := append(strings.Fields(strings.ReplaceAll(r.args, "DIR", p.dir)), "--namespaces", "shop")
		if r.rows != "" {
			p.write(t, "rows.csv", r.rows)
		}
		code, said := p.runAs(t, as, args...)
		lacks := strings.Contains(said, "cannot") || strings.Contains(said, "you may not write")
		if c.looks {
			lacks = lackingConfigMaps.MatchString(said)
		}
		if code != r.code || lacks {
			return fmt.Sprintf("%s: exit %d\n%s", r.args, code, said)
		}
	}
	return ""
}

// TestKeepToNamespacesElsewhere lets a person use objects and nodes that are partly in a
// namespace without permissions. The commands say so, and delete nothing because of it.
func TestKeepToNamespacesElsewhere(t *testing.T) {
	t.Parallel()
	managers, err := apiserver.NewManagers()
	if err != nil {
		t.Fatal(err)
	}
	_, second, _ := strings.Cut(tenantForm, "---\n")
	second = strings.NewReplacer("name: web", "name: far, namespace: away", "{{ .uid }}", "{{ .uid }}-far").Replace(second)
	elsewhere := tenantForm + "---\n" + second
	for name, tt := range map[string]struct {
		form, args string
		code       int
		want       string
	}{
		"status of nodes":        {elsewhere, "status", 0, "--namespaces leaves out the nodes of hub shop/crm in away"},
		"status of objects":      {tenantForm + farAway, "status", 1, "this run works only in --namespaces shop"},
		"delete a node":          {elsewhere, "delete node a-web --yes", 2, "namespaces that --namespaces lacks: away"},
		"delete a form":          {elsewhere, "delete form web --yes", 2, "namespaces that --namespaces lacks: away"},
		"delete a hub":           {elsewhere, "delete hub crm --yes", 2, "namespaces that --namespaces lacks: away"},
		"delete objects":         {tenantForm + farAway, "delete node a-web --yes", 1, "this run works only in --namespaces shop"},
		"prune everything":       {tenantForm + strings.Replace(farAway, "targetNamespace", "deletionPolicy: Retain\n      targetNamespace", 1), "orphans prune --all --yes", 0, "warning: --namespaces leaves out orphans elsewhere, and those without a namespace"},
		"nothing is stranded":    {elsewhere, "orphans list --stranded", 0, "--namespaces leaves out objects elsewhere"},
		"all namespaces":         {tenantForm, "status -A", 2, "-A and --namespaces exclude each other"},
		"a namespace without it": {tenantForm, "delete node a-web -n away --yes", 2, "-n away isn't in --namespaces shop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTenant(t, managers, "--for", "delete,orphans,status")
			p.write(t, "form.yaml", tt.form)
			if code, said := p.run(t, "apply", "-f", p.dir); code != 0 {
				t.Fatal(said)
			}
			away, shop := p.names(t, "away"), p.names(t, "shop")
			as := p.as()
			code, said := p.runAs(t, as, append(strings.Fields(tt.args), "--namespaces", "shop")...)
			if code != tt.code || !strings.Contains(said, tt.want) {
				t.Errorf("exit %d\n%s", code, said)
			}
			p.has(t, "away", away...)
			if tt.code != 1 {
				p.has(t, "shop", shop...)
			}
			for _, a := range as.refused {
				if a.namespace == "away" {
					t.Errorf("a request leaves the namespaces: %+v", a)
				}
			}
		})
	}
}

// TestKeepToNamespacesWatch wants the Roles of rbac --for watch --namespaces to be enough for
// a round, with every watch of the server.
func TestKeepToNamespacesWatch(t *testing.T) {
	t.Parallel()
	managers, err := apiserver.NewManagers()
	if err != nil {
		t.Fatal(err)
	}
	p := newTenant(t, managers, "--for", "watch")
	as := p.as()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := &stopping{stop: stop, at: "msg=round"}
	code := Run(ctx, World{Stdin: strings.NewReader(""), Stdout: tty.To(out), Stderr: tty.To(out), Program: "lynqctl", Getenv: func(string) string { return "" }, Transport: as},
		[]string{"watch", "-f", p.dir, "--namespaces", "shop", "--kubeconfig=" + p.kube})
	if code != 130 || strings.Contains(out.text.String(), "warning") {
		t.Errorf("exit %d\n%s", code, out.text.String())
	}
	for _, a := range as.refused {
		if a.resource != "customresourcedefinitions" && a.resource != "namespaces" { // watch works without them
			t.Errorf("asks for what no Role allows: %+v", a)
		}
	}
	if there := p.names(t, "shop"); !slices.Contains(there, "a") || !slices.Contains(there, "lynqnode-b-web") {
		t.Errorf("the round left %q", there)
	}
}

// stopping ends a run when a text appears.
type stopping struct {
	screen
	stop context.CancelFunc
	at   string
}

func (s *stopping) Write(p []byte) (int, error) {
	n, err := s.screen.Write(p)
	if strings.Contains(string(p), s.at) {
		s.stop()
	}
	return n, err
}
