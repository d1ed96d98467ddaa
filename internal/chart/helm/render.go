package helm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// compared is the number of releases of a chart that are rendered twice, to find templates
// with another result each time.
const compared = 3

// render returns the objects of a release, as Helm installs them.
func (o *opened) render(ctx context.Context, request wire.Render) ([]wire.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := chartutil.ValidateReleaseName(request.ReleaseName); err != nil {
		return nil, wrong("", "set another release name", "release name %q: it takes at most 53 lower-case letters, digits and dashes", request.ReleaseName)
	}
	given, err := decode(request.Values)
	if err != nil {
		return nil, wrong(o.path, "correct the values of the chart", "values: %v", err)
	}
	r := releaseRender{opened: o, request: request, given: loader.MergeMaps(o.values, given)}
	files, err := r.files(ctx)
	if err != nil {
		return nil, err
	}
	if o.renders.Add(1) <= compared {
		again, err := r.files(ctx)
		if err != nil {
			return nil, err
		}
		if err := r.compare(files, again); err != nil {
			return nil, err
		}
	}
	if request.Check {
		if err := r.manifestProblem(ctx, files); err != nil {
			return nil, err
		}
	}
	return r.objects(files), nil
}

// releaseRender renders one release.
type releaseRender struct {
	*opened
	request wire.Render
	given   map[string]any
	names   map[string]string // from Helm's names of templates to those below the form's directory
}

// files returns the results of the templates by Helm's names.
func (r *releaseRender) files(ctx context.Context) (map[string]string, error) {
	return r.filesOf(ctx, func(*chart.Chart) {})
}

// filesOf returns the results of the templates of a changed copy of the chart.
func (r *releaseRender) filesOf(ctx context.Context, change func(*chart.Chart)) (map[string]string, error) {
	c := copyChart(r.chart)
	if err := chartutil.ProcessDependencies(c, r.given); err != nil {
		return nil, wrong(r.path, "correct the values of the chart", "the subcharts can't be chosen: %s", plainText(err.Error()))
	}
	if err := r.refuseSubchartCRDs(c); err != nil {
		return nil, err
	}
	change(c)
	values, err := r.values(c)
	if err != nil {
		return nil, err
	}
	r.names = map[string]string{}
	r.addNames(c)
	e := engine.Engine{CustomTemplateFuncs: r.functions}
	files, err := e.RenderWithContext(ctx, c, values)
	if err != nil {
		return nil, r.templateProblem(err)
	}
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasSuffix(name, "NOTES.txt") })
	return files, nil
}

// values returns what templates see. It checks the values with the schemas.
func (r *releaseRender) values(c *chart.Chart) (common.Values, error) {
	options := common.ReleaseOptions{
		Name: r.request.ReleaseName, Namespace: r.request.Namespace, Revision: 1, IsInstall: true,
	}
	const skipSchemas = true // check has compiled them
	values, err := util.ToRenderValuesWithSchemaValidation(c, r.given, options, r.capabilities.Copy(), skipSchemas)
	if err != nil {
		return nil, wrong(r.path, "correct the values of the chart", "the values can't be merged: %s", plainText(err.Error()))
	}
	if coalesced, ok := values["Values"].(common.Values); ok {
		if found := r.check(c, coalesced, ""); len(found) > 0 {
			return nil, errors.Join(found...)
		}
	}
	return values, nil
}

// copyChart copies what Helm changes when it chooses the subcharts of a release.
func copyChart(c *chart.Chart) *chart.Chart {
	out := *c
	if len(c.Metadata.Dependencies) > 0 {
		about := *c.Metadata
		about.Dependencies = slices.Clone(about.Dependencies)
		for i, d := range about.Dependencies {
			if d != nil {
				dependency := *d
				dependency.ImportValues = slices.Clone(d.ImportValues)
				about.Dependencies[i] = &dependency
			}
		}
		out.Metadata = &about
	}
	out.SetDependencies()
	for _, sub := range c.Dependencies() {
		out.AddDependency(copyChart(sub))
	}
	return &out
}

// addNames adds the templates of a chart and its subcharts.
func (r *releaseRender) addNames(c *chart.Chart) {
	base := c.ChartFullPath()
	for _, t := range c.Templates {
		if t != nil {
			r.names[path.Join(base, t.Name)] = r.origin(t)
		}
	}
	for _, sub := range c.Dependencies() {
		r.addNames(sub)
	}
}

// compare refuses templates with different results for the same values.
func (r *releaseRender) compare(files, again map[string]string) error {
	var all []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if files[name] != again[name] {
			all = append(all, wrong(r.names[name], "change the template, or report it to the chart's author",
				"the template has another result each time, so that every run would change its objects"))
		}
	}
	return errors.Join(all...)
}

// objects splits the results into documents. Like Helm, it skips partials.
func (r *releaseRender) objects(files map[string]string) []wire.Object {
	var all []wire.Object
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(path.Base(name), "_") {
			continue
		}
		documents := releaseutil.SplitManifests(files[name])
		for i := range len(documents) {
			all = append(all, wire.Object{File: r.names[name], Text: documents[documentKey(i)]})
		}
	}
	return all
}

// documentKey returns the key of a document among those of SplitManifests.
func documentKey(i int) string { return fmt.Sprintf("manifest-%d", i) }

// manifestProblem finds the templates whose results aren't YAML.
func (r *releaseRender) manifestProblem(ctx context.Context, files map[string]string) error {
	var all []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		only := map[string]string{name: files[name]}
		if _, _, err := releaseutil.SortManifests(only, nil, releaseutil.InstallOrder); err != nil {
			all = append(all, r.notYAML(ctx, name, files[name]))
		}
	}
	return errors.Join(all...)
}

// notYAML returns the problem of a template whose result isn't YAML.
func (r *releaseRender) notYAML(ctx context.Context, name, result string) error {
	p := wire.Problem{File: r.names[name], Fix: "correct the template, or the value that it uses"}
	at := 0
	documents := releaseutil.SplitManifests(result)
	for i := range len(documents) {
		document := documents[documentKey(i)]
		at += max(0, strings.Index(result[at:], document))
		var head releaseutil.SimpleHead
		if err := yaml.Unmarshal([]byte(document), &head); err != nil {
			reason, line := yamlReason(err.Error())
			p.What = "the result of the template isn't YAML: " + reason
			if line > 0 {
				p.Line = r.lineOf(ctx, name, result, strings.Count(result[:at], "\n")+line)
			}
			break
		}
		at += len(document)
	}
	return &problem{p}
}
