package wire

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Version is the version of the messages. The helper's first line is a Hello with it, so that
// a helper of another release is an error, and no misunderstanding.
const Version = 1

// Variables are the variables with which the helper finds registries, credentials and its
// cache. They also say which certificates and proxies this machine has.
func Variables() []string {
	return []string{
		"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
		"DOCKER_CONFIG", "HELM_CONFIG_HOME", "HELM_REGISTRY_CONFIG", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	}
}

// Hello is the helper's first line.
type Hello struct {
	Version int    `json:"version"`
	Release string `json:"release"` // of lynqctl-chart, for messages
}

// Request has exactly one of its pointers.
type Request struct {
	ID     int     `json:"id"`
	Build  *Build  `json:"build,omitempty"`
	Open   *Open   `json:"open,omitempty"`
	Render *Render `json:"render,omitempty"`
}

// Response answers the request with the same ID. It has one of its pointers.
type Response struct {
	ID       int       `json:"id"`
	Built    *Built    `json:"built,omitempty"`
	Opened   *Opened   `json:"opened,omitempty"`
	Rendered *Rendered `json:"rendered,omitempty"`
	// Problems come alone, except for the files of Built.
	Problems []Problem `json:"problems,omitempty"`
}

// Problem is an error for the author of a form. File and Line are the place in a file of the
// kustomization or the chart, as far as they are known. File has slashes, and begins where
// Build.Dir or Open.Dir is. A file of a chart from a registry begins with the short address.
type Problem struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	What string `json:"what"`
	Fix  string `json:"fix,omitempty"`
}

// Build asks for the objects of a kustomization.
type Build struct {
	// Dir is the absolute directory of the form's file. The helper reads nothing outside it.
	Dir string `json:"dir"`
	// Base is the kustomization's directory below Dir, with slashes.
	Base string `json:"base"`
	// Texts, if not nil, are the files, by their paths below Dir. The helper then reads no
	// file at all. Another version of the form's files is built in this way.
	Texts map[string][]byte `json:"texts,omitempty"`
}

// Built has what a kustomization makes.
type Built struct {
	Objects []Object `json:"objects"` // in kustomize's order
	// Texts are the files that kustomize read, by their paths below Dir. Missing are those
	// that it looked for.
	Texts   map[string][]byte `json:"texts"`
	Missing []string          `json:"missing,omitempty"`
}

// Object is one object as YAML.
type Object struct {
	// File is the file below Dir that the object comes from, or "" if that isn't known.
	File string `json:"file,omitempty"`
	Text string `json:"text"`
	// Suffix is the end of the name that changes with the object's content, or "".
	Suffix string `json:"suffix,omitempty"`
}

// Open asks the helper to read a chart, which Render then names by ID.
type Open struct {
	// Dir is the absolute directory of the form's file. The helper reads nothing outside it.
	Dir string `json:"dir"`
	// Path is the chart's directory or archive below Dir, with slashes, or its address in a
	// registry (lynq.ChartRef).
	Path string `json:"path"`
	// Kept has the helper download nothing. A chart with an address must be in the cache.
	Kept bool `json:"kept,omitempty"`
	// ValuesFiles are files of values below Dir. Later ones win.
	ValuesFiles []string `json:"valuesFiles,omitempty"`
	// KubeVersion and APIVersions are .Capabilities of the templates. KubeVersion is "" for
	// the version that the helper is built for. APIVersions add to those that Helm knows,
	// unless Served is set, because a cluster listed all that it serves.
	KubeVersion string   `json:"kubeVersion,omitempty"`
	APIVersions []string `json:"apiVersions,omitempty"`
	Served      bool     `json:"served,omitempty"`
	// AnyKubeVersion opens a chart even if it is for other versions of Kubernetes.
	AnyKubeVersion bool `json:"anyKubeVersion,omitempty"`
	// SkipCRDs leaves out CustomResourceDefinitions, which others install. Without it, a chart
	// with CustomResourceDefinitions is a problem, because all tenants share them.
	SkipCRDs bool `json:"skipCRDs,omitempty"`
	// EmptyLookups lets the function lookup find nothing, as in helm template. Without it, a
	// template that calls lookup is a problem.
	EmptyLookups bool `json:"emptyLookups,omitempty"`
}

// Opened describes a chart.
type Opened struct {
	Chart   int    `json:"chart"` // for Render
	Name    string `json:"name"`
	Version string `json:"version"`
	// Digest is a SHA-256 over all files of the chart and of values, in hex. It is also over
	// the capabilities that the chart reads.
	Digest string `json:"digest"`
	// Capabilities is set if templates may read .Capabilities. KubeVersions is set if the
	// chart says for which versions of Kubernetes it is. KubeVersion is the version that the
	// templates see.
	Capabilities bool   `json:"capabilities,omitempty"`
	KubeVersions bool   `json:"kubeVersions,omitempty"`
	KubeVersion  string `json:"kubeVersion"`
	// Files are the files that the chart and its values come from, below Dir, sorted.
	Files []string `json:"files"`
	// Kinds are those that templates name, each once. A text that the template computes is "".
	Kinds []Kind `json:"kinds,omitempty"`
	// DeletionHooks is set if some template may be a hook pre-delete.
	DeletionHooks bool `json:"deletionHooks,omitempty"`
	// InstallOrder are kinds in the order in which Helm installs their objects. Others follow.
	InstallOrder []string `json:"installOrder"`
	// Warnings are what the chart's author meant and lynqctl doesn't do, such as tests.
	Warnings []Problem `json:"warnings,omitempty"`
}

// Kind is a kind of objects.
type Kind struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
}

// Render asks for the objects of a chart for one release.
type Render struct {
	Chart       int             `json:"chart"`
	ReleaseName string          `json:"releaseName"`
	Namespace   string          `json:"namespace"`
	Values      json.RawMessage `json:"values,omitempty"` // an object; they win over the files
	// Secret is set if values are secret, so that problems quote nothing made of them.
	Secret bool `json:"secret,omitempty"`
	// Check has the helper read the objects, too. Results of templates that aren't YAML are
	// problems then, with lines of the templates.
	Check bool `json:"check,omitempty"`
}

// Rendered has all documents that a release's templates make, in the order of the templates'
// names. The helper doesn't read them.
type Rendered struct {
	Objects []Object `json:"objects"`
}

// MaxLine limits a line of JSON, with its end.
const MaxLine = 64 << 20

// ReadLine reads a line without its end. It returns io.EOF if nothing follows, and an error
// for a line that is longer than MaxLine.
func ReadLine(from *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := from.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return nil, fmt.Errorf("a line has more than %d MiB", MaxLine>>20)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}
