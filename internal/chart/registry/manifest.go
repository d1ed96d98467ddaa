package registry

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Media types (opencontainers/image-spec, media-types.md; helm.sh/helm, pkg/registry).
const (
	typeManifest       = "application/vnd.oci.image.manifest.v1+json"
	typeIndex          = "application/vnd.oci.image.index.v1+json"
	typeDockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	typeDockerList     = "application/vnd.docker.distribution.manifest.list.v2+json"
	typeHelmConfig     = "application/vnd.cncf.helm.config.v1+json"
	typeChart          = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// accepted lists all types. So the registry sends other artifacts, too, and the error names them.
func accepted() string {
	return strings.Join([]string{typeManifest, typeIndex, typeDockerManifest, typeDockerList}, ", ")
}

// maxArchive limits a chart's archive, and maxManifest what describes it.
const (
	maxArchive  = 64 << 20
	maxManifest = 4 << 20
)

// manifest describes an artifact of a registry.
type manifest struct {
	MediaType    string `json:"mediaType"`
	ArtifactType string `json:"artifactType"`
	Config       struct {
		MediaType string `json:"mediaType"`
	} `json:"config"`
	Layers    []layer           `json:"layers"`
	Manifests []json.RawMessage `json:"manifests"`
}

// layer is a part of an artifact.
type layer struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int64  `json:"size"`
}

// chartIn returns the layer with the chart's archive.
func chartIn(text []byte) (layer, error) {
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return layer{}, &lynq.ChartError{What: "the digest names something that isn't the manifest of a chart", Fix: fixDigest}
	}
	if m.MediaType == typeIndex || m.MediaType == typeDockerList || m.Manifests != nil {
		return layer{}, &lynq.ChartError{What: fmt.Sprintf("the digest names an index of %s, and no chart", phrase.Count(len(m.Manifests), "manifest")), Fix: fixDigest}
	}
	if m.Config.MediaType != typeHelmConfig {
		found := cmp.Or(m.ArtifactType, m.Config.MediaType, m.MediaType, "nothing known")
		return layer{}, &lynq.ChartError{What: fmt.Sprintf("the digest names no chart. Found %s, and a chart has %s", phrase.Quote(found), typeHelmConfig), Fix: fixDigest}
	}
	var found []layer
	var types []string
	for _, l := range m.Layers {
		if types = append(types, phrase.Quote(l.MediaType)); l.MediaType == typeChart {
			found = append(found, l)
		}
	}
	switch {
	case len(found) != 1:
		return layer{}, &lynq.ChartError{
			What: fmt.Sprintf("the manifest has %s of type %s, and a chart has one. Found %s", phrase.Count(len(found), "layer"), typeChart, cmp.Or(phrase.Some(types), "no layer")),
			Fix:  "push the chart again with helm push",
		}
	case !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(found[0].Digest):
		return layer{}, &lynq.ChartError{What: "the chart's layer has no digest of SHA-256", Fix: "push the chart again with helm push"}
	case found[0].Size < 0 || found[0].Size > maxArchive:
		return layer{}, &lynq.ChartError{What: fmt.Sprintf("the chart has more than %d MiB", maxArchive>>20), Fix: "list files that the chart doesn't need in .helmignore"}
	}
	return found[0], nil
}

const fixDigest = "use the digest that helm pull or crane digest prints for the chart"
