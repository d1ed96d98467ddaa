package gitops

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The inputs and the namespace of deploy/kustomize.
const (
	deployed  = "../../deploy/kustomize"
	namespace = "shop"
	release   = "lynqctl-crm"
)

// chart renders deploy/helm with Helm's own engine.
func chart(t *testing.T, values map[string]any) (map[string]string, error) {
	t.Helper()
	c, err := loader.Load("../../deploy/helm")
	if err != nil {
		t.Fatal(err)
	}
	all, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{Name: release, Namespace: namespace}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, all)
}

// chartValues returns the values with which deploy/kustomize was made.
func chartValues(t *testing.T) map[string]any {
	t.Helper()
	program, err := lynqctl()
	if err != nil {
		t.Fatal(err)
	}
	roles, code := output(t, program, "rbac", "-f", filepath.Join(deployed, "forms"), "--for", "watch", "--service-account", namespace+"/"+release)
	if code != 0 {
		t.Fatal(roles)
	}
	inputs := map[string]any{}
	for _, name := range []string{"hub.yaml", "web.yaml"} {
		inputs[name] = read(t, filepath.Join(deployed, "forms", name))
	}
	return map[string]any{"inputs": inputs, "roles": roles, "password": map[string]any{"secret": "crm-database"}}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestChart wants the chart to make the objects of deploy/kustomize. The pods read the
// password from their environment, so kustomize's role lacks the rule that lets lynqctl
// read the Secret.
func TestChart(t *testing.T) {
	t.Parallel()
	rendered, err := chart(t, chartValues(t))
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, file := range rendered {
		text = append(text, file)
	}
	got, want := byName(t, strings.Join(text, "\n---\n")), byName(t, read(t, filepath.Join(deployed, "watch.yaml")))
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 8 {
		t.Errorf("%d objects (-kustomize +chart):\n%s", len(got), diff)
	}
}

// byName returns the objects of a text by kind and name, without the checksum of inputs and
// rules on Secrets.
func byName(t *testing.T, text string) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for _, o := range objects(t, []byte(text)) {
		unstructured.RemoveNestedField(o.Object, "spec", "template", "metadata", "annotations", "checksum/inputs")
		if rules, found, err := unstructured.NestedSlice(o.Object, "rules"); err != nil {
			t.Fatal(err)
		} else if found {
			o.Object["rules"] = slices.DeleteFunc(rules, func(rule any) bool {
				r, _ := rule.(map[string]any)
				resources, _, _ := unstructured.NestedStringSlice(r, "resources")
				return slices.Contains(resources, "secrets")
			})
		}
		all[o.GetKind()+"/"+o.GetName()] = o.Object
	}
	return all
}

// TestChartRefuses wants the chart to refuse values without a working Deployment, and to
// name the fix.
func TestChartRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(map[string]any)
		want   string
	}{
		"no roles":      {func(v map[string]any) { delete(v, "roles") }, "Set roles: lynqctl rbac"},
		"no inputs":     {func(v map[string]any) { delete(v, "inputs") }, "inputs"},
		"a typo":        {func(v map[string]any) { v["replica"] = 1 }, "replica"},
		"zero replicas": {func(v map[string]any) { v["replicas"] = 0 }, "replicas"},
	} {
		values := chartValues(t)
		c.change(values)
		if _, err := chart(t, values); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
