package lynq

import (
	"regexp"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// ChartScheme begins the address of each chart in a registry.
const ChartScheme = "oci://"

// ChartRef is the address of one version of a chart, such as
// oci://ghcr.io/acme/web:1.2.0@sha256:…. The digest alone decides, and the tag is for people.
type ChartRef struct {
	Registry   string // a host, with a port if the address has one
	Repository string
	Tag        string // or ""
	Digest     string // with sha256:
}

// ChartError says why an address is wrong or its chart can't be had, and what to do.
type ChartError struct{ What, Fix string }

func (e *ChartError) Error() string { return e.What }

// IsChart reports whether the path of a chart is an address, or a place in such a chart.
func IsChart(path string) bool { return strings.HasPrefix(path, ChartScheme) }

// These are the parts of an address (opencontainers/distribution-spec, spec.md).
const (
	hostPattern       = `(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:.]+\])(?::[0-9]{1,5})?`
	repositoryPattern = `[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*`
	tagPattern        = `[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}`
)

// ParseChart reads an address. Its error is a *ChartError.
func ParseChart(path string) (ChartRef, error) {
	if strings.Contains(strings.TrimPrefix(path, ChartScheme), "://") || !IsChart(path) {
		return ChartRef{}, &ChartError{"it begins with no " + ChartScheme, "write oci://REGISTRY/REPOSITORY@sha256:DIGEST"}
	}
	name, digest, pinned := strings.Cut(strings.TrimPrefix(path, ChartScheme), "@")
	m := regexp.MustCompile(`^(` + hostPattern + `)/(` + repositoryPattern + `)(?::(` + tagPattern + `))?$`).FindStringSubmatch(name)
	switch {
	case m == nil: // the message has no part of it, because some people write passwords there
		return ChartRef{}, &ChartError{"the address can't be read", "write oci://REGISTRY/REPOSITORY@sha256:DIGEST"}
	case !pinned:
		command := "helm pull " + ChartScheme + m[1] + "/" + m[2]
		if m[3] != "" {
			command += " --version " + m[3]
		}
		return ChartRef{}, &ChartError{"an address must have a digest, so that each run has the same chart", "add @ and the digest, which this command prints: " + command}
	case !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(digest):
		return ChartRef{}, &ChartError{"the digest " + phrase.Quote(digest) + " isn't sha256: and 64 hexadecimal digits", "copy the digest that helm pull prints"}
	}
	return ChartRef{Registry: m[1], Repository: m[2], Tag: m[3], Digest: digest}, nil
}

// String returns the whole address.
func (r ChartRef) String() string { return r.name() + "@" + r.Digest }

// Short returns the address with the begin of its digest, for messages.
func (r ChartRef) Short() string {
	const digits = len("sha256:") + 12
	return r.name() + "@" + r.Digest[:min(len(r.Digest), digits)]
}

func (r ChartRef) name() string {
	name := ChartScheme + r.Registry + "/" + r.Repository
	if r.Tag != "" {
		name += ":" + r.Tag
	}
	return name
}
