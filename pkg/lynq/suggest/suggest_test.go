package suggest_test

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

func TestNear(t *testing.T) {
	words := []string{"deployments", "dependIds", "uid", "spec", "secrets", "services"}
	for word, want := range map[string]string{
		"deployment":  "deployments",
		"Deployments": "deployments",
		"dependsIds":  "dependIds",
		"udi":         "uid",
		"sepc":        "spec",
		"servces":     "services",
		"xyz":         "",
		"":            "",
		"replicas":    "",
	} {
		t.Run(word, func(t *testing.T) {
			got, ok := suggest.Near(word, words)
			if got != want || ok != (want != "") {
				t.Errorf("Near(%q) = %q, %v, want %q", word, got, ok, want)
			}
		})
	}
}

func TestFix(t *testing.T) {
	many := strings.Split("a b c d e f g h i j k l m n", " ")
	for _, c := range []struct {
		word  string
		words []string
		want  string
	}{
		{"udi", []string{"uid", "spec"}, `did you mean "uid"?`},
		{"xyz", []string{"uid", "spec"}, "there are spec, uid"},
		{"xyz", many, "there are a, b, c, d, e, f, g, h, i, j, k, l and 2 more"},
		{"xyz", []string{"uid"}, "there is uid"},
		{"xyz", nil, ""},
	} {
		t.Run(c.word, func(t *testing.T) {
			if got := suggest.Fix(c.word, c.words); got != c.want {
				t.Errorf("Fix(%q) = %q, want %q", c.word, got, c.want)
			}
		})
	}
}

// TestTypo wants only sure corrections, because a caller refuses a typo.
func TestTypo(t *testing.T) {
	kinds := []string{"ConfigMap", "Ingress", "NetworkPolicy", "Role.rbac.authorization.k8s.io", "CertificateSigningRequest.certificates.k8s.io"}
	for word, want := range map[string]string{
		"configmap": "ConfigMap", "ConfigMaps": "ConfigMap", "ConfigMpa": "ConfigMap", "ingresses": "Ingress", "networkpolicies": "NetworkPolicy",
		"role.rbac.authorization.k8s.io": "Role.rbac.authorization.k8s.io", "Roles.rbac.authorization.k8s.io": "Role.rbac.authorization.k8s.io",
		"Egress": "", "Rule": "", "Certificate": "", "Roles": "", "Config": "", "": "",
	} {
		t.Run(word, func(t *testing.T) {
			if got, is := suggest.Typo(word, kinds); got != want || is != (want != "") {
				t.Errorf("%s: %q, want %q", word, got, want)
			}
		})
	}
}
