package helm

import (
	"cmp"
	"path"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// ownCRDs returns the files in the crds/ of a chart, without those of subcharts.
func ownCRDs(c *chart.Chart) []*common.File {
	alone := *c
	alone.SetDependencies()
	var files []*common.File
	for _, crd := range alone.CRDObjects() {
		files = append(files, crd.File)
	}
	return files
}

// crdCommand returns the command that installs the CRDs of crds/ once.
func (o *opened) crdCommand() string {
	if o.archive {
		return o.showCRDs()
	}
	return "kubectl apply --server-side -f " + path.Join(o.path, "crds") + "/"
}

// showCRDs returns the command that installs the CRDs of subcharts, too.
func (o *opened) showCRDs() string {
	return "helm show crds " + cmp.Or(o.address, o.path) + " | kubectl apply --server-side -f -"
}

// crdProblem refuses a CustomResourceDefinition.
func (o *opened) crdProblem(file, command string) error {
	return wrong(file, "install it once ("+command+"), and set skipCRDs: true",
		"the chart has a CustomResourceDefinition, which all tenants of a cluster share")
}

// refuseSubchartCRDs refuses the crds/ of subcharts that a release has.
func (o *opened) refuseSubchartCRDs(c *chart.Chart) error {
	if o.skipCRDs {
		return nil
	}
	for _, sub := range c.Dependencies() {
		if crds := ownCRDs(sub); len(crds) > 0 {
			return o.crdProblem(o.origin(crds[0]), o.showCRDs())
		}
		if err := o.refuseSubchartCRDs(sub); err != nil {
			return err
		}
	}
	return nil
}

// origin returns the name of a file below the form's directory.
func (o *opened) origin(f *common.File) string {
	if len(f.Data) == 0 {
		return ""
	}
	return o.origins[&f.Data[0]]
}

// warnings says what the author of a chart meant and lynqctl doesn't do.
func (o *opened) warnings() []wire.Problem {
	var all []wire.Problem
	if o.chart.Metadata.Deprecated {
		all = append(all, wire.Problem{
			File: o.name("Chart.yaml"), What: "the chart is deprecated", Fix: "look for the chart that replaces it",
		})
	}
	return append(all, o.hookWarnings(o.chart)...)
}
