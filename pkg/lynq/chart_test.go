package lynq

import (
	"errors"
	"strings"
	"testing"
)

func TestParseChart(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	for address, want := range map[string]ChartRef{
		"oci://ghcr.io/acme/charts/web":      {Registry: "ghcr.io", Repository: "acme/charts/web"},
		"oci://localhost:5000/web:1.2.0_b.1": {Registry: "localhost:5000", Repository: "web", Tag: "1.2.0_b.1"},
		"oci://[::1]:5000/a/my__web-x.y":     {Registry: "[::1]:5000", Repository: "a/my__web-x.y"},
		"oci://registry/web:latest":          {Registry: "registry", Repository: "web", Tag: "latest"},
	} {
		t.Run(address, func(t *testing.T) {
			want.Digest = digest
			got, err := ParseChart(address + "@" + digest)
			if err != nil || got != want {
				t.Errorf("%s: %+v, %v", address, got, err)
			}
			if got.String() != address+"@"+digest || got.Short() != address+"@sha256:0a0a0a0a0a0a" {
				t.Errorf("%s, %s", got, got.Short())
			}
		})
	}
	for address, want := range map[string]string{
		"oci://ghcr.io/acme/web":                            "helm pull oci://ghcr.io/acme/web",
		"oci://ghcr.io/acme/web:1.2.0":                      "helm pull oci://ghcr.io/acme/web --version 1.2.0",
		"oci://ghcr.io/acme/web@sha256:0a":                  `"sha256:0a"`,
		"oci://ghcr.io/acme/web@sha512:" + digest[7:]:       "64 hexadecimal",
		"oci://ghcr.io/acme/web@" + strings.ToUpper(digest): "64 hexadecimal",
		"oci://ghcr.io@" + digest:                           "the address can't be read",
		"oci://ghcr.io/Acme/web@" + digest:                  "the address can't be read",
		"oci://user:word@ghcr.io/acme/web@" + digest:        "the address can't be read",
		"oci://ghcr.io/acme/../web@" + digest:               "the address can't be read",
		"oci://ghcr.io/acme/web?x=1@" + digest:              "the address can't be read",
		"oci:///acme/web@" + digest:                         "the address can't be read",
		"oci://-x/acme/web@" + digest:                       "the address can't be read",
		"https://ghcr.io/acme/web@" + digest:                "begins with no oci://",
	} {
		t.Run(address, func(t *testing.T) {
			_, err := ParseChart(address)
			e, ok := errors.AsType[*ChartError](err)
			if !ok || !strings.Contains(e.What+" "+e.Fix, want) {
				t.Errorf("%s: %v", address, err)
			}
		})
	}
}
