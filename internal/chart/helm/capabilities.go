package helm

import (
	"bytes"
	"hash"
	"path"
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// setCapabilities sets .Capabilities of the templates.
func (o *opened) setCapabilities(request wire.Open) error {
	o.capabilities = common.DefaultCapabilities.Copy()
	if request.KubeVersion != "" {
		version, err := common.ParseKubeVersion(request.KubeVersion)
		if err != nil {
			return wrong("", "write a version such as 1.33", "Kubernetes version %q: %v", request.KubeVersion, err)
		}
		o.capabilities.KubeVersion = *version
	}
	versions := slices.Clone(request.APIVersions)
	if !request.Served {
		versions = append(slices.Clone(o.capabilities.APIVersions), versions...)
	}
	slices.Sort(versions)
	o.capabilities.APIVersions = slices.Compact(versions)
	return nil
}

// readCapabilities says which capabilities templates may read.
type readCapabilities struct{ kubeVersion, apiVersions bool }

func (r readCapabilities) any() bool { return r.kubeVersion || r.apiVersions }

// capabilitiesRead finds out which capabilities a chart may read. It searches the words in
// templates, and in files and values, because the function tpl makes templates of them.
func capabilitiesRead(c *chart.Chart, values [][]byte) readCapabilities {
	texts := append(slices.Clone(values), textsOf(c)...)
	has := func(word string) bool {
		return slices.ContainsFunc(texts, func(text []byte) bool { return bytes.Contains(text, []byte(word)) })
	}
	if !has("Capabilities") {
		return readCapabilities{}
	}
	r := readCapabilities{kubeVersion: has("KubeVersion"), apiVersions: has("APIVersions")}
	if !r.any() { // a template may list all of them
		return readCapabilities{true, true}
	}
	return r
}

// textsOf returns what templates of a chart and its subcharts may be made of.
func textsOf(c *chart.Chart) [][]byte {
	comment := regexp.MustCompile(`(?s)\{\{-?\s*/\*.*?\*/\s*-?\}\}`)
	var texts [][]byte
	for _, t := range c.Templates {
		texts = append(texts, comment.ReplaceAll(t.Data, nil))
	}
	for _, f := range c.Files {
		if !strings.EqualFold(path.Ext(f.Name), ".md") {
			texts = append(texts, f.Data)
		}
	}
	for _, f := range c.Raw {
		if f.Name == "values.yaml" {
			texts = append(texts, f.Data)
		}
	}
	for _, sub := range c.Dependencies() {
		texts = append(texts, textsOf(sub)...)
	}
	return texts
}

// digest adds to a sum what the chart reads. It adds nothing for other charts, so that a new
// version of the cluster doesn't change them.
func (r readCapabilities) digest(sum hash.Hash, c *common.Capabilities) {
	if r.kubeVersion {
		add(sum, "KubeVersion", []byte(c.KubeVersion.Version))
	}
	if r.apiVersions {
		add(sum, "APIVersions", []byte(strings.Join(c.APIVersions, "\n")))
	}
}
