package existing

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/bounded"
)

// The limits of a release. A Secret has at most 1 MiB, but its text is compressed.
const (
	maxRelease = 64 << 20
	maxFiles   = 10_000
)

// Release is a release as Helm keeps it.
type Release struct {
	Name, Namespace string
	Version         int
	Chart           Chart
	// Config is what the user set, as a JSON object, and may be secret.
	Config json.RawMessage
	Hooks  []Hook
	// Kinds are those of the manifest, each once.
	Kinds []string
}

// Chart is the chart of a release.
type Chart struct {
	Name, Version string
	Files         []File // sorted
	HasCRDs       bool
	// Lost is set if Helm did not keep all of it.
	Lost bool
}

// File is a file of a chart.
type File struct {
	Path string // local, with slashes
	Data []byte
}

// Hook is an object that Helm created at certain events.
type Hook struct {
	Name, Kind, Namespace string
	Events                []string
}

// stored is a release in Helm's JSON.
type stored struct {
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Version   int             `json:"version"`
	Config    json.RawMessage `json:"config"`
	Manifest  string          `json:"manifest"`
	Hooks     []struct {
		Name     string   `json:"name"`
		Kind     string   `json:"kind"`
		Manifest string   `json:"manifest"`
		Events   []string `json:"events"`
	} `json:"hooks"`
	Chart storedChart `json:"chart"`
}

type storedChart struct {
	Metadata  json.RawMessage `json:"metadata"`
	Values    json.RawMessage `json:"values"`
	Schema    []byte          `json:"schema"`
	Templates []storedFile    `json:"templates"`
	Files     []storedFile    `json:"files"`
}

type storedFile struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// errNoRelease hides the details, because errors of decoders show values.
var errNoRelease = errors.New("it has no release that lynqctl can read: the format is another one, or the text is damaged")

// ReadRelease decodes the text under the key release of a Secret. Errors show none of it.
func ReadRelease(data []byte) (*Release, error) {
	packed := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
	n, err := base64.StdEncoding.Decode(packed, data)
	if err != nil {
		return nil, errNoRelease
	}
	text := packed[:n]
	if bytes.HasPrefix(text, []byte{0x1f, 0x8b}) { // the first releases of Helm 3 are not compressed
		if text, err = unpack(text); err != nil {
			return nil, err
		}
	}
	var s stored
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, errNoRelease
	}
	r := &Release{Name: s.Name, Namespace: s.Namespace, Version: s.Version, Config: s.Config}
	for _, h := range s.Hooks {
		hook := Hook{Name: h.Name, Kind: h.Kind, Events: h.Events, Namespace: s.Namespace}
		var about struct {
			Metadata struct {
				Namespace string `json:"namespace"`
			} `json:"metadata"`
		}
		if yaml.Unmarshal([]byte(h.Manifest), &about) == nil && about.Metadata.Namespace != "" {
			hook.Namespace = about.Metadata.Namespace
		}
		r.Hooks = append(r.Hooks, hook)
	}
	r.Kinds = kindsOf(s.Manifest)
	if r.Chart, err = chartOf(&s.Chart); err != nil {
		return nil, err
	}
	r.Chart.Lost = r.Chart.Lost || fromSubcharts(s.Manifest)
	return r, nil
}

func unpack(text []byte) ([]byte, error) {
	unzip, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, errNoRelease
	}
	text, err = bounded.ReadAll(unzip, maxRelease)
	if _, large := errors.AsType[*bounded.SizeError](err); large {
		return nil, fmt.Errorf("the release has more than %d MiB", maxRelease>>20)
	}
	if err != nil {
		return nil, errNoRelease
	}
	return text, nil
}

// fromSubcharts reports whether a subchart made objects of a manifest.
func fromSubcharts(manifest string) bool {
	for line := range strings.Lines(manifest) {
		if strings.HasPrefix(line, "# Source: ") && strings.Contains(line, "/charts/") {
			return true
		}
	}
	return false
}

// kindsOf returns the kinds of a manifest's objects. Helm wrote it, so each object begins at a
// line with three dashes.
func kindsOf(manifest string) []string {
	var kinds []string
	for text := range strings.SplitSeq("\n"+manifest, "\n---") {
		var about struct {
			Kind string `json:"kind"`
		}
		if yaml.Unmarshal([]byte(text), &about) == nil && about.Kind != "" {
			kinds = append(kinds, about.Kind)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// chartOf returns the files from which Helm reads the chart again.
func chartOf(s *storedChart) (Chart, error) {
	var about struct {
		Name         string            `json:"name"`
		Version      string            `json:"version"`
		Dependencies []json.RawMessage `json:"dependencies"`
	}
	if json.Unmarshal(s.Metadata, &about) != nil || about.Name == "" {
		return Chart{}, errNoRelease
	}
	c := Chart{Name: about.Name, Version: about.Version, Lost: len(about.Dependencies) > 0}
	if err := c.addYAML("Chart.yaml", s.Metadata); err != nil {
		return c, err
	}
	if len(s.Values) > 0 && string(s.Values) != "null" {
		if err := c.addYAML("values.yaml", s.Values); err != nil {
			return c, err
		}
	}
	if len(s.Schema) > 0 {
		c.Files = append(c.Files, File{"values.schema.json", s.Schema})
	}
	for _, f := range slices.Concat(s.Templates, s.Files) {
		// Helm takes any text for a path, and systems differ in what they make of it.
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) || path.Clean(f.Name) != f.Name || strings.ContainsAny(f.Name, "\\:\x00") {
			return c, errors.New("a file of its chart has a path that leads out of the chart")
		}
		c.Files = append(c.Files, File{f.Name, f.Data})
		c.HasCRDs = c.HasCRDs || strings.HasPrefix(f.Name, "crds/")
	}
	if len(c.Files) > maxFiles {
		return c, fmt.Errorf("its chart has more than %d files", maxFiles)
	}
	slices.SortFunc(c.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for i := range c.Files[1:] {
		if c.Files[i].Path == c.Files[i+1].Path {
			return c, errors.New("two files of its chart have the same path")
		}
	}
	return c, nil
}

func (c *Chart) addYAML(name string, text json.RawMessage) error {
	data, err := yaml.JSONToYAML(text)
	if err != nil {
		return errNoRelease
	}
	c.Files = append(c.Files, File{name, data})
	return nil
}
