package helm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// write writes files below a new directory, and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// simple returns the files of a chart in app/, with more files in it.
func simple(files map[string]string) map[string]string {
	all := map[string]string{"app/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n"}
	for name, text := range files {
		all["app/"+name] = text
	}
	return all
}

// opening opens a chart that must be good.
func opening(t *testing.T, c *Charts, request wire.Open) *wire.Opened {
	t.Helper()
	o, problems := c.Open(t.Context(), request)
	if len(problems) > 0 {
		t.Fatalf("open %s: %v", request.Path, problems)
	}
	return o
}

// rendering renders the chart in app/ of files with values as JSON.
func rendering(t *testing.T, files map[string]string, values string) (*wire.Rendered, []wire.Problem) {
	t.Helper()
	c := New()
	o := opening(t, c, wire.Open{Dir: write(t, files), Path: "app", KubeVersion: "1.33.0"})
	return c.Render(t.Context(), wire.Render{
		Chart: o.Chart, ReleaseName: "acme", Namespace: "tenants", Values: json.RawMessage(values), Check: true,
	})
}

// texts joins the texts of objects.
func texts(r *wire.Rendered) string {
	var all []string
	for _, o := range r.Objects {
		all = append(all, strings.TrimSpace(o.Text))
	}
	return strings.Join(all, "\n---\n")
}
