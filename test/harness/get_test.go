package harness_test

import (
	"fmt"
	"strings"
	"testing"
)

const asked = `
apiVersion: v1
kind: ConfigMap
metadata: {name: one, labels: {tier: gold}}
data: {colour: green, "a.b": dots}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: two, labels: {tier: gold}}
data: {colour: blue}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: one}
spec:
  replicas: 0
  selector: {matchLabels: {app: one}}
  template:
    metadata: {labels: {app: one}}
    spec: {containers: [{name: one, image: example.com/one}]}
`

// TestAsk compares the harness's answers with kubectl's. It wants no answer to an
// unsupported question.
func TestAsk(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	env.Kubectl(t, asked, "apply", "-f", "-")
	for _, line := range []string{
		"configmap one -o name", "configmaps one two -o=name", "configmap/one deployment/one -o name", "deployments.apps -o name",
		"configmaps,secrets,deployments -l tier=gold -o name", "configmap -l tier=none -o name", "-n NAMESPACE configmap two --output name",
		"namespace NAMESPACE -o name", "clusterrole view -o name", "configmap --field-selector metadata.name=two -o name",
		"configmap one -o jsonpath={.data.colour}", `configmap one -o=jsonpath={.data.a\.b}/{.metadata.labels}`, "configmap one two -o jsonpath={.items[*].data.colour}",
		`configmap -l tier=gold -o jsonpath={.items[*].metadata.name}`, "deployment one -o jsonpath={.spec.replicas}{.spec.template.spec.containers[0]}",
		"configmap one -o jsonpath={.data.none}", "configmap one -o jsonpath=plain", "configmap none --ignore-not-found -o name",
		"configmap none", "configmap/none deployment/none -o name", "-n default configmap one -o jsonpath={.data}", "job none -o jsonpath={.status}",
	} {
		args := append([]string{"get"}, strings.Fields(strings.ReplaceAll(line, "NAMESPACE", env.Namespace))...)
		got, known := env.Ask(t.Context(), args...)
		if !known {
			t.Errorf("%s: it has no answer", line)
			continue
		}
		out, err := env.RunKubectl(t, args...)
		if got.Stdout != out || got.Failed != (err != nil) {
			t.Errorf("%s: it says %+v, and kubectl %q, %v", line, got, out, err)
		}
		if err != nil && !strings.HasSuffix(err.Error(), fmt.Sprintf("\n%s", got.Stderr)) {
			t.Errorf("%s: it says %q, and kubectl %v", line, got.Stderr, err)
		}
	}
	for _, line := range []string{
		"configmap one -o yaml", "configmaps", "configmap -A -o name", "configmap one none -o name", "crd -o name", "nothing one -o name",
		"configmap one -o jsonpath={.data[0]}{.x[5]}{", "configmap one --as nobody -o name", "configmap one -l tier=gold -o name", "configmap one -o", "-n none configmap one -o name",
	} {
		if got, known := env.Ask(t.Context(), append([]string{"get"}, strings.Fields(line)...)...); known {
			t.Errorf("%s: it says %+v", line, got)
		}
	}
	if _, known := env.Ask(t.Context(), "delete", "configmap", "one"); known {
		t.Error("it answers to a deletion")
	}
}
