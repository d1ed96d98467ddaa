package helm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"text/template"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	release "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// opened is a chart. Only its counter changes.
type opened struct {
	chart        *chart.Chart
	path         string // below the form's directory, or a short address
	archive      bool
	address      string           // in a registry, or ""
	origins      map[*byte]string // by the first byte of a file, its name below the form's directory
	values       map[string]any   // of the files
	schemas      schemas
	capabilities *common.Capabilities
	functions    template.FuncMap
	skipCRDs     bool
	renders      atomic.Int64
}

// open reads a chart and the files of values.
func open(ctx context.Context, request wire.Open, download func(context.Context, lynq.ChartRef, bool) ([]byte, error)) (*opened, *wire.Opened, error) {
	root, err := os.OpenRoot(request.Dir)
	if err != nil {
		return nil, nil, unreadable(request.Path, err)
	}
	defer func() { _ = root.Close() }() // files were only read
	r := &reader{root: root, budget: newBudget()}
	o := &opened{skipCRDs: request.SkipCRDs}
	files, err := o.files(ctx, r, request, download)
	if err != nil {
		return nil, nil, err
	}
	if err := o.whole(files); err != nil {
		return nil, nil, err
	}
	sum := sha256.New()
	digest(sum, files)
	if err := o.load(files); err != nil {
		return nil, nil, err
	}
	texts, err := o.readValues(r, request.ValuesFiles, sum)
	if err != nil {
		return nil, nil, err
	}
	if err := o.setCapabilities(request); err != nil {
		return nil, nil, err
	}
	if err := o.usable(request.AnyKubeVersion); err != nil {
		return nil, nil, err
	}
	read := capabilitiesRead(o.chart, texts)
	read.digest(sum, o.capabilities)
	slices.Sort(r.read)
	return o, &wire.Opened{
		Name: o.chart.Name(), Version: o.chart.Metadata.Version, Files: slices.Compact(r.read), Digest: hex.EncodeToString(sum.Sum(nil)),
		Capabilities: read.any(), KubeVersions: o.chart.Metadata.KubeVersion != "", KubeVersion: o.capabilities.KubeVersion.Version,
		Kinds: kinds(o.chart), DeletionHooks: hasHook(o.chart, release.HookPreDelete), Warnings: o.warnings(),
		InstallOrder: releaseutil.InstallOrder,
	}, nil
}

// files reads the chart's files, named from the chart and sorted.
func (o *opened) files(ctx context.Context, r *reader, request wire.Open, download func(context.Context, lynq.ChartRef, bool) ([]byte, error)) ([]*archive.BufferedFile, error) {
	var files []*archive.BufferedFile
	var err error
	if lynq.IsChart(request.Path) {
		files, err = o.downloaded(ctx, r, request, download)
	} else {
		files, err = o.local(ctx, r, request.Path)
	}
	slices.SortFunc(files, func(a, b *archive.BufferedFile) int { return strings.Compare(a.Name, b.Name) })
	return files, err
}

// local reads a directory or an archive below the form's directory.
func (o *opened) local(ctx context.Context, r *reader, from string) ([]*archive.BufferedFile, error) {
	var err error
	if o.path, err = local(from); err != nil {
		return nil, err
	}
	info, err := r.stat(o.path)
	if err != nil {
		return nil, err
	}
	if o.archive = !info.IsDir(); o.archive {
		data, err := r.file(o.path)
		if err != nil {
			return nil, err
		}
		return unpack(o.path, data, r.budget, 0)
	}
	files, err := r.directory(ctx, o.path)
	if err != nil {
		return nil, err
	}
	return unpackSubcharts(o.path, files, r.budget, 0)
}

// downloaded reads the archive of a chart in a registry.
func (o *opened) downloaded(ctx context.Context, r *reader, request wire.Open, download func(context.Context, lynq.ChartRef, bool) ([]byte, error)) ([]*archive.BufferedFile, error) {
	ref, err := lynq.ParseChart(request.Path)
	var data []byte
	if err == nil {
		o.path, o.address, o.archive = ref.Short(), ref.String(), true
		data, err = download(ctx, ref, request.Kept)
	}
	if known, ok := errors.AsType[*lynq.ChartError](err); ok {
		return nil, wrong(o.path, known.Fix, "%s", known.What)
	}
	if err != nil {
		return nil, wrong(o.path, "run helm pull, and name the archive in path", "%v", err)
	}
	return unpack(o.path, data, r.budget, 0)
}

// whole refuses empty templates in a directory. Somebody may be writing them, and their objects
// would be deleted meanwhile.
func (o *opened) whole(files []*archive.BufferedFile) error {
	var all []error
	for _, f := range files {
		ext, base := path.Ext(f.Name), path.Base(f.Name)
		template := strings.Contains("/"+f.Name, "/"+chartutil.TemplatesDir+"/") && (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(base, "_")
		if !o.archive && template && !strings.Contains(f.Name, within) && len(bytes.TrimSpace(f.Data)) == 0 {
			all = append(all, wrong(o.name(f.Name), "write it, or remove the file", "the template is empty"))
		}
	}
	return errors.Join(all...)
}

// name returns the name of a file of the chart below the form's directory.
func (o *opened) name(file string) string {
	if o.archive {
		return o.path + "!" + strings.ReplaceAll(file, within, "!")
	}
	return path.Join(o.path, strings.ReplaceAll(file, within, "!"))
}

// load has Helm read the files.
func (o *opened) load(files []*archive.BufferedFile) error {
	o.origins = make(map[*byte]string, len(files))
	var about []byte
	for _, f := range files {
		if len(f.Data) > 0 {
			o.origins[&f.Data[0]] = o.name(f.Name)
		}
		if f.Name == chartutil.ChartfileName {
			about = f.Data
		}
	}
	if about == nil {
		return wrong(o.path, "name the directory that has Chart.yaml, or an archive of helm package", "no chart: it has no Chart.yaml")
	}
	var version struct {
		APIVersion string `json:"apiVersion"`
	}
	if err := yaml.Unmarshal(about, &version); err != nil {
		return yamlProblem(o.name(chartutil.ChartfileName), err)
	}
	switch version.APIVersion {
	case "", chart.APIVersionV1, chart.APIVersionV2:
	default:
		return wrong(o.name(chartutil.ChartfileName), "use a chart with apiVersion v1 or v2", "apiVersion %q isn't supported", version.APIVersion)
	}
	loaded, err := loader.LoadFiles(files)
	if err != nil {
		return wrong(o.path, "correct the chart; helm lint checks it", "the chart can't be read: %s", strings.TrimPrefix(plainText(err.Error()), "validation: "))
	}
	o.order(loaded)
	withoutTests(loaded)
	o.chart = loaded
	o.schemas, err = o.compileSchemas(loaded)
	return err
}

// order sorts the subcharts by their places, because Helm reads them in any order.
func (o *opened) order(c *chart.Chart) {
	place := func(c *chart.Chart) string {
		for _, f := range c.Raw {
			if f.Name == chartutil.ChartfileName && len(f.Data) > 0 {
				return o.origins[&f.Data[0]]
			}
		}
		return ""
	}
	subcharts := slices.Clone(c.Dependencies())
	slices.SortFunc(subcharts, func(a, b *chart.Chart) int { return strings.Compare(place(a), place(b)) })
	c.SetDependencies(subcharts...)
	for _, sub := range subcharts {
		o.order(sub)
	}
}

// readValues merges the files of values, and returns their texts. Later ones win.
func (o *opened) readValues(r *reader, names []string, sum hash.Hash) (texts [][]byte, err error) {
	o.values = map[string]any{}
	for _, given := range names {
		name, err := local(given)
		if err != nil {
			return nil, err
		}
		data, err := r.file(name)
		if err != nil {
			return nil, err
		}
		values, err := fileValues(name, withoutMark(data))
		if err != nil {
			return nil, err
		}
		o.values = loader.MergeMaps(o.values, values)
		add(sum, name, data)
		texts = append(texts, data)
	}
	return texts, nil
}

// usable refuses charts that can't be rendered with any values.
func (o *opened) usable(anyVersion bool) error {
	about := o.chart.Metadata
	file := o.name(chartutil.ChartfileName)
	if about.Type == "library" {
		return wrong(file, "name a chart of type application", "%s is a library chart, which has no objects", about.Name)
	}
	version := o.capabilities.KubeVersion
	if about.KubeVersion != "" && !anyVersion && !chartutil.IsCompatibleRange(about.KubeVersion, version.String()) {
		return wrong(file, "use a version of the chart for this Kubernetes; without a cluster, --kube-version names it", "the chart needs Kubernetes %s, and this is %s", about.KubeVersion, version.Version)
	}
	if missing := o.missing(); len(missing) > 0 {
		fix := "run: helm dependency build " + o.path
		if o.archive {
			fix = "make the archive again with: helm package --dependency-update"
		}
		return wrong(file, fix, "charts/ lacks %s, which Chart.yaml lists", strings.Join(missing, ", "))
	}
	if crds := ownCRDs(o.chart); len(crds) > 0 && !o.skipCRDs {
		return o.crdProblem(o.name(crds[0].Name), o.crdCommand())
	}
	return nil
}

// missing names the dependencies that charts/ doesn't have.
func (o *opened) missing() []string {
	var missing []string
	for _, d := range o.chart.Metadata.Dependencies {
		if d != nil && !slices.ContainsFunc(o.chart.Dependencies(), func(c *chart.Chart) bool { return c.Name() == d.Name }) {
			missing = append(missing, d.Name)
		}
	}
	return missing
}

// digest adds sorted files to a sum.
func digest(sum hash.Hash, files []*archive.BufferedFile) {
	for _, f := range files {
		add(sum, f.Name, f.Data)
	}
}

// add adds a name and a content. Their lengths keep them apart.
func add(sum hash.Hash, name string, data []byte) {
	for _, part := range [][]byte{[]byte(name), data} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		_, _ = fmt.Fprintf(sum, "%s%s", length[:], part) // a hash takes everything
	}
}
