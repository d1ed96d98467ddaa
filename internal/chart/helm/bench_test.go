package helm

import (
	"encoding/json"
	"fmt"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// created returns a directory with the chart of helm create, with 8 objects.
func created(b *testing.B) (dir, values string) {
	b.Helper()
	dir = b.TempDir()
	if _, err := chartutil.Create("app", dir); err != nil {
		b.Fatal(err)
	}
	return dir, `{"replicaCount":%d,"ingress":{"enabled":true},"autoscaling":{"enabled":true},"httpRoute":{"enabled":true}}`
}

// BenchmarkRender renders one release after the other.
func BenchmarkRender(b *testing.B) {
	dir, values := created(b)
	c := New()
	o, problems := c.Open(b.Context(), wire.Open{Dir: dir, Path: "app"})
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_, problems := c.Render(b.Context(), wire.Render{
			Chart: o.Chart, ReleaseName: fmt.Sprintf("r%d", i), Namespace: "ns", Values: json.RawMessage(fmt.Sprintf(values, i)),
		})
		if len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}

// BenchmarkHelm calls Helm's functions for the same releases. "engine" is the engine alone,
// and "release" what helm template does with a chart that is loaded.
func BenchmarkHelm(b *testing.B) {
	dir, values := created(b)
	loaded, err := loader.Load(dir + "/app")
	if err != nil {
		b.Fatal(err)
	}
	for name, sorted := range map[string]bool{"engine": false, "release": true} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				helmRelease(b, loaded, i, values, sorted)
			}
		})
	}
}

func helmRelease(b *testing.B, loaded *chart.Chart, i int, values string, sorted bool) {
	b.Helper()
	var given map[string]any
	if err := json.Unmarshal(fmt.Appendf(nil, values, i), &given); err != nil {
		b.Fatal(err)
	}
	if sorted {
		if err := chartutil.ProcessDependencies(loaded, given); err != nil {
			b.Fatal(err)
		}
	}
	options := common.ReleaseOptions{Name: fmt.Sprintf("r%d", i), Namespace: "ns", Revision: 1, IsInstall: true}
	all, err := util.ToRenderValues(loaded, given, options, nil)
	if err != nil {
		b.Fatal(err)
	}
	files, err := engine.Render(loaded, all)
	if err != nil {
		b.Fatal(err)
	}
	if sorted {
		delete(files, "app/templates/NOTES.txt")
		if _, _, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder); err != nil {
			b.Fatal(err)
		}
	}
}
