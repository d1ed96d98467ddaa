package diff

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/form"
)

const placedForm = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: crm}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: crm
  deployments:
    - id: app
      nameTemplate: "{{ .uid }}"
      labelsTemplate:
        tier: one
      spec:
        apiVersion: apps/v1
        kind: Deployment
        spec:
          selector: {matchLabels: {app: a}}
          template:
            spec:
              containers:
                - name: app
                  image: example.com/app:1
                - name: proxy
                  image: example.com/proxy:1
                  ports:
                    - containerPort: 80
  manifests:
    - id: password
      nameTemplate: "{{ .uid }}"
      spec:
        apiVersion: v1
        kind: Secret
        stringData:
          key: x
`

// TestPlaceOf finds fields of objects in a form: by the deepest part that the form has.
func TestPlaceOf(t *testing.T) {
	inputs, err := form.Load([]string{"-"}, false, strings.NewReader(placedForm))
	if err != nil {
		t.Fatal(err)
	}
	field := func(names ...string) Path {
		var p Path
		for _, n := range names {
			p = append(p, Element{Field: n})
		}
		return p
	}
	entry := func(p Path, e Element, names ...string) Path {
		e.Entry = true
		return append(append(p, e), field(names...)...)
	}
	containers := field("spec", "template", "spec", "containers")
	proxy := entry(containers, Element{Key: "name", Value: "proxy"}, "ports")
	for _, tt := range []struct {
		resource int
		path     Path
		line     int
	}{
		{0, entry(containers, Element{Key: "name", Value: "proxy"}, "image"), 29},
		{0, entry(containers, Element{Key: "name", Value: "app"}, "image"), 27},
		{0, entry(containers, Element{Key: "name", Value: "dropped"}, "image"), 25},
		{0, entry(containers, Element{Index: 1}, "command"), 28},
		{0, entry(proxy, Element{Key: "containerPort", Value: int64(8080)}, "containerPort"), 31},
		{0, field("spec", "replicas"), 21},
		{0, field("metadata", "labels", "tier"), 17},
		{0, field("metadata", "labels", "gone"), 14},
		{0, field("metadata", "name"), 15},
		{1, field("data", "key"), 39},
		{1, field("data", "gone"), 33},
	} {
		if got := PlaceOf(inputs.Forms[0].Resources[tt.resource], tt.path); got.Line != tt.line || got.File == "" {
			t.Errorf("%s is at %v, want line %d", tt.path, got, tt.line)
		}
	}
}
