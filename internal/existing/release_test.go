package existing_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/existing"
)

// packed returns a release as Helm keeps it.
func packed(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return []byte(base64.StdEncoding.EncodeToString(out.Bytes()))
}

func withChart(fields string) string {
	return fmt.Sprintf(`{"name":"acme","namespace":"shop","version":2,"chart":{"metadata":{"name":"app","version":"1.0.0"},%s}}`, fields)
}

// TestReadReleaseRefuses wants an error for each release that no Helm writes, without a word of
// its content.
func TestReadReleaseRefuses(t *testing.T) {
	for name, data := range map[string][]byte{
		"no base64":       []byte("hunter2!"),
		"no JSON":         packed(t, "hunter2"),
		"other types":     packed(t, `{"name":"acme","version":"hunter2"}`),
		"no chart":        packed(t, `{"name":"acme","config":{"password":"hunter2"}}`),
		"cut off":         packed(t, strings.Repeat("hunter2", 100))[:40],
		"large":           packed(t, strings.Repeat(" ", 65<<20)),
		"absolute path":   packed(t, withChart(`"templates":[{"name":"/hunter2"}]`)),
		"path above":      packed(t, withChart(`"files":[{"name":"a/../../hunter2"}]`)),
		"path to itself":  packed(t, withChart(`"files":[{"name":""}]`)),
		"backslash":       packed(t, withChart(`"files":[{"name":"..\\hunter2"}]`)),
		"same path twice": packed(t, withChart(`"files":[{"name":"Chart.yaml"}]`)),
		"many files":      packed(t, withChart(`"files":[`+strings.Repeat(`{"name":"a"},`, 10_001)+`{"name":"b"}]`)),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := existing.ReadRelease(data)
			if err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Fatalf("%+v, %v", r, err)
			}
		})
	}
}

// TestReleaseForm wants the texts of values to be no templates, and hooks of deletions to take
// no object from Helm.
func TestReleaseForm(t *testing.T) {
	r, err := existing.ReadRelease(packed(t, `{"name":"acme","namespace":"shop","version":2,
		"config":{"text":"{{ .uid }}","big":12345678901234567},
		"manifest":"---\nkind: Service\n---\n# Source: app/templates/x.yaml\nkind: Job\n",
		"hooks":[{"name":"bye","kind":"Job","events":["pre-delete"]},{"name":"first","kind":"Job","manifest":"metadata: {namespace: other}","events":["pre-install","pre-upgrade"]}],
		"chart":{"metadata":{"name":"app","version":"1.0.0"},"files":[{"name":"crds/a.yaml"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := existing.Combine([]*existing.Release{r})
	if err != nil {
		t.Fatal(err)
	}
	form, err := c.Form(existing.Names{Name: "web", Hub: "app"}, "app")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- {kind: Job, name: first, namespace: other}\n", `text: '{{ "{{" }} .uid }}'`, "big: 12345678901234567\n", "skipCRDs: true\n",
		`- {match: {id: "app-service*"}, conflictPolicy: Force}`,
	} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(form, want) {
				t.Errorf("no %q in:\n%s", want, form)
			}
		})
	}
	for _, wrong := range []string{"name: bye", `"app-job*"`, `id: "*"`} {
		t.Run(wrong, func(t *testing.T) {
			if strings.Contains(form, wrong) {
				t.Errorf("%q in:\n%s", wrong, form)
			}
		})
	}
	r.Config = []byte(`{"a":{"{{ b }}":1}}`)
	if _, err := existing.Combine([]*existing.Release{r}); err == nil {
		t.Error("a key has a template, and Combine took it")
	}
}

// TestCombine wants columns for values that differ, with the chart's values where a release has
// none.
func TestCombine(t *testing.T) {
	release := func(name, config string) *existing.Release {
		r, err := existing.ReadRelease(packed(t, strings.Replace(withChart(`"values":{"size":1,"db":{"host":"local"}}`), "acme", name, 1)))
		if err != nil {
			t.Fatal(err)
		}
		r.Config = []byte(config)
		return r
	}
	acme, bolt := release("acme", `{"plan":"free","db":{"password":"x","tls":true}}`), release("bolt", `{"plan":"gold","size":2.5,"db":{"password":"y","host":"far","tls":true}}`)
	c, err := existing.Combine([]*existing.Release{acme, bolt})
	if err != nil {
		t.Fatal(err)
	}
	want := "[db_host db_password plan size] [[local x free 1] [far y gold 2.5]] [db_password]"
	if got := fmt.Sprint(c.Columns, c.Rows, c.Secret); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	form, err := c.Form(existing.Names{Name: "web", Hub: "app"}, "app")
	for _, want := range []string{"host: '{{ .db_host }}'\n", "tls: true\n", "size: '{{ .size | float }}'\n"} {
		t.Run(want, func(t *testing.T) {
			if err != nil || !strings.Contains(form, want) {
				t.Errorf("no %q, %v:\n%s", want, err, form)
			}
		})
	}
	for name, config := range map[string]string{"list": `{"plan":["gold"]}`, "types": `{"plan":1}`, "unset": `{"plan":"gold","new":1}`, "null": `{"plan":null}`} {
		t.Run(name, func(t *testing.T) {
			if c, err := existing.Combine([]*existing.Release{acme, release("bolt", config)}); err == nil {
				t.Errorf("%s: %v", name, c.Columns)
			}
		})
	}
	other := release("bolt", `{}`)
	other.Chart.Files = nil
	if c, err := existing.Combine([]*existing.Release{acme, other}); err == nil {
		t.Errorf("another chart: %v", c.Columns)
	}
}
