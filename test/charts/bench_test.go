package charts

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
)

// tenants is the number of rows of the benchmark.
const tenants = 1000

// BenchmarkTenants renders the chart of helm create, with 8 objects, for each tenant: with lynqctl
// as a whole process, and with Helm's engine in a bare loop that writes what it renders.
func BenchmarkTenants(b *testing.B) {
	dir := b.TempDir()
	if _, err := chartutil.Create("app", dir); err != nil {
		b.Fatal(err)
	}
	write(b, dir, "rows.csv", "id\n"+rowsOf(tenants))
	write(b, dir, "form.yaml", `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: crm}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: crm
  charts:
    - id: app
      path: app
      values: {ingress: {enabled: true}, autoscaling: {enabled: true}, httpRoute: {enabled: true}}
`)
	b.Run("lynqctl", func(b *testing.B) {
		program := programs(b)
		for b.Loop() {
			out, err := exec.CommandContext(b.Context(), program, "render", "-q", "-f", filepath.Join(dir, "form.yaml")).Output()
			if err != nil || strings.Count(string(out), "\nkind: Deployment\n") != tenants {
				b.Fatal(err)
			}
		}
	})
	b.Run("helm", func(b *testing.B) {
		for b.Loop() {
			loop(b, filepath.Join(dir, "app"))
		}
	})
}

// loop renders all tenants with Helm's engine, and writes the results.
func loop(b *testing.B, dir string) {
	b.Helper()
	chart, err := loader.Load(dir)
	if err != nil {
		b.Fatal(err)
	}
	on := map[string]any{"enabled": true}
	given := map[string]any{"ingress": on, "autoscaling": on, "httpRoute": on}
	for i := range tenants {
		options := common.ReleaseOptions{Name: fmt.Sprintf("t%d", i), Namespace: "default", Revision: 1, IsInstall: true}
		values, err := util.ToRenderValues(chart, given, options, nil)
		if err != nil {
			b.Fatal(err)
		}
		files, err := engine.Engine{}.RenderWithContext(b.Context(), chart, values)
		if err != nil {
			b.Fatal(err)
		}
		for _, text := range files {
			_, _ = io.WriteString(io.Discard, text)
		}
	}
}

func rowsOf(n int) string {
	var rows strings.Builder
	for i := range n {
		fmt.Fprintf(&rows, "t%d\n", i)
	}
	return rows.String()
}

func write(b *testing.B, dir, name, text string) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

// programs builds both programs, and returns the path of lynqctl.
func programs(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	cmd := exec.CommandContext(b.Context(), "go", "build", "-o", dir+"/", "./cmd/lynqctl", "./cmd/lynqctl-chart")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "lynqctl")
}
