package e2e_test

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// deniesDeployments is a cluster policy that denies each Deployment in a namespace.
const deniesDeployments = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: HUB}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
  validations:
    - {expression: "false", message: images come from registry.example.com alone}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: HUB}
spec:
  policyName: HUB
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: HUB}}}
`

// TestManyNodesFailForOneCause lets 302 nodes fail because a policy denies their
// Deployments. lynqctl must print at most 25 lines, with their number, the cause and the
// fix. With -o wide, every node has its own row.
func TestManyNodesFailForOneCause(t *testing.T) {
	t.Parallel()
	const nodes, most = 302, 25
	// Without onFailure, the form would stop after its first ten nodes.
	going := strings.Replace(shopInputs, "  hubId: HUB\n", "  hubId: HUB\n  rollout: {onFailure: Continue}\n", 1)
	s := newShop(t, going, nodes, faultproxy.Options{})
	s.Kubectl(t, s.inputs(deniesDeployments), "apply", "-f", "-")
	t.Cleanup(func() { // after the context of the test
		_ = s.Dynamic.Resource(policyKind("validatingadmissionpolicybindings")).Delete(context.Background(), s.hub(), metav1.DeleteOptions{})
		_ = s.Dynamic.Resource(policyKind("validatingadmissionpolicies")).Delete(context.Background(), s.hub(), metav1.DeleteOptions{})
	})
	for denied := false; !denied; { // the server learns of policies after a while
		_, err := s.TryKubectl(t, "", "create", "deployment", "try", "--image=example.com/try", "--dry-run=server")
		denied = err != nil
	}
	lines := func(text string) int { return strings.Count(text, "\n") }
	r := s.apply(t, "--wait=false")
	r.want(t, 1)
	all := r.stderr.String() + r.stdout.String()
	if lines(all) > most {
		t.Errorf("apply takes %d lines:\n%s", lines(all), all)
	}
	for _, once := range []string{
		`(?m)^t000-app \+301 +\S+ +app +906 +604 +604/906 +failed +Deployment.*images come from registry.example.com alone`,
		`(?m)^302 nodes \(.*, and 299 more\): .*images come from registry.example.com alone`,
		`(?m)^Run 'lynqctl status node NAME -n `,
	} {
		if n := len(regexp.MustCompile(once).FindAllString(all, -1)); n != 1 {
			t.Errorf("%d lines match %s:\n%s", n, once, all)
		}
	}
	counted := 0 // a slow run has more than one line that counts changes
	for _, more := range regexp.MustCompile(`(?m)^\.\.\. and (\d+) more created \(-o json lists each object\)$`).FindAllStringSubmatch(all, -1) {
		n, err := strconv.Atoi(more[1])
		if err != nil {
			t.Fatal(err)
		}
		counted += n
	}
	if counted != 594 {
		t.Errorf("the lines count %d more created objects, want 594:\n%s", counted, all)
	}
	for _, of := range []struct {
		args        []string
		least, most int
	}{
		{[]string{"status", "--failed"}, 0, most},
		{[]string{"status", "--failed", "-o", "wide"}, nodes, nodes + most},
		{[]string{"status", "--failed", "-o", "name"}, nodes, nodes + most},
		{[]string{"status", "--failed", "--no-headers"}, nodes, nodes + most},
		{[]string{"apply", "-f", s.dir, "--dry-run=server"}, 0, most},
		{[]string{"apply", "-f", s.dir, "--dry-run=server", "-o", "name"}, nodes, nodes + most},
	} {
		r := s.start(t, of.args...)
		<-r.done
		if text := r.stdout.String() + r.stderr.String(); r.code != 1 || lines(text) < of.least || lines(text) > of.most {
			t.Errorf("%q ends with %d, in %d lines, not %d to %d:\n%s", of.args, r.code, lines(text), of.least, of.most, text)
		}
	}
}

// policyKind returns the resource of a kind of admission policies.
func policyKind(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: plural}
}
