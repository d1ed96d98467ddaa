package charts

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	images "github.com/google/go-containerregistry/pkg/registry"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	helmregistry "helm.sh/helm/v4/pkg/registry"

	"github.com/lynqctl/lynqctl/internal/chart/helm"
	"github.com/lynqctl/lynqctl/internal/chart/registry"
	"github.com/lynqctl/lynqctl/internal/chart/wire"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestRegistry downloads a chart that Helm pushed to a registry, by the digest that Helm prints,
// and renders it as Helm does.
func TestRegistry(t *testing.T) {
	server := httptest.NewServer(images.New(images.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	dir := unpack(t, "../../internal/chart/helm/testdata/charts/database.txtar")
	loaded, err := loader.Load(filepath.Join(dir, "app"))
	if err != nil {
		t.Fatal(err)
	}
	saved, err := chartutil.Save(loaded, dir)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	helmClient, err := helmregistry.NewClient(helmregistry.ClientOptPlainHTTP(), helmregistry.ClientOptWriter(io.Discard), helmregistry.ClientOptCredentialsFile(filepath.Join(dir, "config.json")))
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(server.URL, "http://") + "/tenants/" + loaded.Name() + ":" + loaded.Metadata.Version
	pushed, err := helmClient.Push(archive, name)
	if err != nil {
		t.Fatal(err)
	}
	client := registry.New(registry.Settings{CacheDir: t.TempDir(), Backoff: time.Millisecond, Limit: time.Minute})
	charts := helm.New()
	charts.Download = client.Chart
	open := wire.Open{Dir: dir, Path: lynq.ChartScheme + name + "@" + pushed.Manifest.Digest, ValuesFiles: []string{"values/1.yaml"}, KubeVersion: kubeVersion, APIVersions: []string{"monitoring.example/v1"}}
	for range 2 { // the second time without a registry
		o, problems := charts.Open(t.Context(), open)
		if len(problems) > 0 {
			t.Fatalf("%+v", problems)
		}
		r, problems := charts.Render(t.Context(), wire.Render{Chart: o.Chart, ReleaseName: "acme", Namespace: "tenants"})
		if len(problems) > 0 {
			t.Fatalf("%+v", problems)
		}
		compare(t, name, installed(t, o, r), withHelm(t, dir, "app", []string{"values/1.yaml"}))
		server.Close()
	}
	open.Path = strings.TrimSuffix(open.Path, pushed.Manifest.Digest) + "sha256:" + strings.Repeat("0", 64)
	if _, problems := charts.Open(t.Context(), open); len(problems) != 1 || !strings.Contains(problems[0].What, "can't reach ") {
		t.Errorf("without a registry: %+v", problems)
	}
}
