package helm

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestAddress opens charts that a download gives, with files of values beside the form.
func TestAddress(t *testing.T) {
	address := "oci://ghcr.io/acme/app:1.2.0@sha256:" + strings.Repeat("0a", 32)
	const short = "oci://ghcr.io/acme/app:1.2.0@sha256:0a0a0a0a0a0a"
	dir := write(t, map[string]string{"eu.yaml": "a: 7\n"})
	with := func(data string, err error) *Charts {
		c := New()
		c.Download = func(_ context.Context, r lynq.ChartRef, kept bool) ([]byte, error) {
			if r.String() != address || !kept {
				t.Errorf("a download of %s, %t", r, kept)
			}
			return []byte(data), err
		}
		return c
	}
	c := with(packed(t, about, entry{name: "app/templates/x.yaml", text: "a: {{ .Values.a }}"}), nil)
	o := opening(t, c, wire.Open{Dir: dir, Path: address, Kept: true, ValuesFiles: []string{"eu.yaml"}})
	r, problems := c.Render(t.Context(), wire.Render{Chart: o.Chart, ReleaseName: "acme"})
	if len(problems) > 0 || len(o.Files) != 1 || len(r.Objects) != 1 || r.Objects[0].Text != "a: 7" || r.Objects[0].File != short+"!templates/x.yaml" {
		t.Errorf("%+v, %+v, %+v", o, r, problems)
	}
	for want, c := range map[string]*Charts{
		short + "|the registry is away|wait": with("", &lynq.ChartError{What: "the registry is away", Fix: "wait"}),
		short + "|a bug|helm pull":           with("", errors.New("a bug")),
		short + "|isn't compressed|":         with("<html>", nil),
		short + "!crds/a.yaml|CustomResourceDefinition|helm show crds " + address + " |": with(packed(t, about, entry{name: "app/crds/a.yaml", text: "kind: CustomResourceDefinition\n"}), nil),
		short + "!charts/b.tgz|isn't compressed|":                                        with(packed(t, about, entry{name: "app/charts/b.tgz", text: "x"}), nil),
	} {
		t.Run(want, func(t *testing.T) {
			file, rest, _ := strings.Cut(want, "|")
			what, fix, _ := strings.Cut(rest, "|")
			_, problems := c.Open(t.Context(), wire.Open{Dir: dir, Path: address, Kept: true})
			if len(problems) != 1 || problems[0].File != file || !strings.Contains(problems[0].What, what) || !strings.Contains(problems[0].Fix, fix) {
				t.Errorf("%+v, want %s", problems, want)
			}
		})
	}
	if _, problems := c.Open(t.Context(), wire.Open{Dir: dir, Path: "oci://ghcr.io/acme/app"}); len(problems) != 1 || !strings.Contains(problems[0].What, "must have a digest") {
		t.Errorf("%+v", problems)
	}
}
