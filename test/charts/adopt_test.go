package charts

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/cli"
	"helm.sh/helm/v4/pkg/kube"

	"github.com/lynqctl/lynqctl/test/chartbin"
	"github.com/lynqctl/lynqctl/test/harness"
)

var cluster harness.Shared

// program is lynqctl of this tree, with lynqctl-chart beside it.
type program struct {
	t          *testing.T
	dir        string
	kubeconfig string
}

func builtFor(t *testing.T, kubeconfig string) program {
	t.Helper()
	p := program{t: t, dir: t.TempDir(), kubeconfig: kubeconfig}
	if err := chartbin.Build("../..", p.dir); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(p.dir, "lynqctl"), "./cmd/lynqctl")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

// run runs lynqctl in a directory, and wants an exit code.
func (p program) run(in string, code int, args ...string) string {
	p.t.Helper()
	cmd := exec.Command(filepath.Join(p.dir, "lynqctl"), args...)
	cmd.Dir, cmd.Env = in, append(os.Environ(), "KUBECONFIG="+p.kubeconfig)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		p.t.Fatalf("lynqctl %v: %v, want exit code %d:\n%s", args, err, code, out)
	}
	return string(out)
}

// actions returns the configuration of Helm's actions, which keep releases in Secrets.
func actions(t *testing.T, env *harness.Env) *action.Configuration {
	t.Helper()
	settings := cli.New()
	settings.KubeConfig = env.Kubeconfig
	settings.SetNamespace(env.Namespace)
	config := action.NewConfiguration()
	if err := config.Init(settings.RESTClientGetter(), env.Namespace, "secret"); err != nil {
		t.Fatal(err)
	}
	return config
}

// upgrade upgrades a release with the values that it has.
func upgrade(t *testing.T, env *harness.Env, dir, name string, serverSide bool) {
	t.Helper()
	chart, err := loader.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	u := action.NewUpgrade(actions(t, env))
	u.Namespace, u.ReuseValues, u.ForceConflicts = env.Namespace, true, serverSide
	u.WaitStrategy, u.Timeout = kube.StatusWatcherStrategy, time.Minute
	if _, err := u.Run(name, chart, nil); err != nil {
		t.Fatal(err)
	}
}

// install installs a chart with Helm's own action.
func install(t *testing.T, env *harness.Env, dir, name string, serverSide bool, values map[string]any) {
	t.Helper()
	chart, err := loader.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	i := action.NewInstall(actions(t, env))
	i.ReleaseName, i.Namespace, i.ServerSideApply = name, env.Namespace, serverSide
	i.WaitStrategy, i.Timeout = kube.StatusWatcherStrategy, time.Minute
	if _, err := i.Run(chart, values); err != nil {
		t.Fatal(err)
	}
}

// TestAdoptRelease installs two releases with Helm, makes a form of them with init, and applies
// that.
// Nothing but tracking changes, hooks don't run again, and no pod restarts.
func TestAdoptRelease(t *testing.T) {
	for _, how := range []struct {
		name       string
		serverSide bool
	}{{"server-side", true}, {"client-side", false}} {
		t.Run(how.name, func(t *testing.T) {
			env := cluster.Env(t)
			p := builtFor(t, env.Kubeconfig)
			values := map[string]any{"plan": "gold", "text": "{{ .Values.plan }} is secret", "port": 8080, "nested": map[string]any{"list": []any{1, "two"}}}
			install(t, env, "testdata/app", "acme", how.serverSide, values)
			other := map[string]any{"plan": "free, of charge", "text": "none", "port": 8080, "replicas": 2, "nested": map[string]any{"list": []any{1, "two"}}}
			install(t, env, "testdata/app", "bolt", how.serverSide, other)
			before, pods := env.Get(t, "deployments.apps/acme-web"), running(t, env)
			in := t.TempDir()

			out := p.run(in, 0, "init", "--from", "helm", "acme", "bolt", "-o", "forms")
			if strings.Contains(out, "is secret") {
				t.Errorf("init shows a value:\n%s", out)
			}
			private(t, filepath.Join(in, "forms"))
			p.run(in, 0, "validate", "-f", "forms", "--rows")
			out = p.run(in, 1, "diff", "-f", "forms")
			for _, wrong := range []string{"create", "delete", "would take", "\n+", "\n-"} {
				if strings.Contains(out, wrong) {
					t.Errorf("diff has %q:\n%s", wrong, out)
				}
			}
			p.run(in, 0, "apply", "-f", "forms", "--yes")
			after := env.Get(t, "deployments.apps/acme-web")
			// Each new annotation counts up the generation of a Deployment.
			if before.GetUID() != after.GetUID() || !reflect.DeepEqual(before.Object["spec"], after.Object["spec"]) {
				t.Errorf("the Deployment was %v, and is %v", before.Object["spec"], after.Object["spec"])
			}
			if now := running(t, env); now != pods {
				t.Errorf("the cluster ran %s, and runs %s", pods, now)
			}
			env.Absent(t, "jobs.batch/acme-seed")
			env.Absent(t, "jobs.batch/bolt-seed")
			p.run(in, 0, "diff", "-f", "forms")

			// Without the default that takes objects from Helm, they stay adopted.
			form := filepath.Join(in, "forms", "form.yaml")
			text, err := os.ReadFile(form)
			if err != nil {
				t.Fatal(err)
			}
			var kept []string
			for line := range strings.Lines(string(text)) {
				if !strings.Contains(line, "conflictPolicy: Force") {
					kept = append(kept, line)
				}
			}
			if err := os.WriteFile(form, []byte(strings.Join(kept, "")), 0o600); err != nil {
				t.Fatal(err)
			}
			p.run(in, 0, "diff", "-f", "forms")

			// The node gives its objects back, and Helm goes on.
			p.run(in, 0, "delete", "node", "acme-web", "--cascade=orphan", "--yes")
			upgrade(t, env, "testdata/app", "acme", how.serverSide)
			rows, err := os.ReadFile(filepath.Join(in, "forms", "rows.csv"))
			if want := "uid,plan,replicas,text\nacme,gold,1,{{ .Values.plan }} is secret\nbolt,\"free, of charge\",2,none\n"; err != nil || string(rows) != want {
				t.Errorf("%v, rows:\n%s", err, rows)
			}
			env.Equal(t, "deployments.apps/acme-web", ".metadata.annotations.meta\\.helm\\.sh/release-name", "acme")
			if now := running(t, env); now != pods {
				t.Errorf("the cluster ran %s, and runs %s", pods, now)
			}
		})
	}
}

// running returns the ReplicaSets and Pods of a namespace with their UIDs.
func running(t *testing.T, env *harness.Env) string {
	t.Helper()
	out := env.Kubectl(t, "", "get", "replicasets,pods", "-o", "jsonpath={range .items[*]}{.metadata.name} {.metadata.uid}{'\\n'}{end}")
	if strings.Count(out, "acme-web-") != 2 {
		t.Fatal(out)
	}
	return out
}

// private wants all files below a directory to be for their user alone.
func private(t *testing.T, dir string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		n++
		return err
	})
	if err != nil || n < 5 {
		t.Errorf("%d files, %v", n, err)
	}
}
