package lynq_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// FuzzNames holds the checks of names equal to those of Kubernetes.
func FuzzNames(f *testing.F) {
	for _, s := range []string{
		"", "a", "A", "a-b", "-a", "a-", "a.b", "a..b", ".a", "a.", "a.-b", "a-.b", "1", "a_b", "a/b", "é", "a b", "a\n",
		strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 253), strings.Repeat("a", 254),
		strings.Repeat("a.", 126) + "a", strings.Repeat("a.", 127),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, check := range map[string]struct {
			ours   bool
			theirs []string
		}{
			"IsDNS1123Subdomain": {lynq.IsDNS1123Subdomain(s), validation.IsDNS1123Subdomain(s)},
			"IsDNS1123Label":     {lynq.IsDNS1123Label(s), validation.IsDNS1123Label(s)},
			"IsLabelValue":       {lynq.IsLabelValue(s), validation.IsValidLabelValue(s)},
		} {
			if check.ours != (len(check.theirs) == 0) {
				t.Errorf("%s(%q) = %v, Kubernetes says %v", name, s, check.ours, check.theirs)
			}
		}
		made := lynq.Made(s)
		if len(made) > 63 || !lynq.IsDNS1123Label(made) {
			t.Errorf("Made(%q) = %q", s, made)
		}
		node := lynq.NodeName(s, "form")
		if len(node) > 63 || !lynq.IsDNS1123Subdomain(node) || node != s+"-form" && node != lynq.Made(s+"-form") {
			t.Errorf("NodeName(%q) = %q", s, node)
		}
		label, raw := lynq.UIDLabel(s)
		if !lynq.IsLabelValue(label) || label == "" || raw != (label == s) {
			t.Errorf("UIDLabel(%q) = %q, %v", s, label, raw)
		}
	})
}

func TestNodeName(t *testing.T) {
	for uid, want := range map[string]string{
		"acme":                  "acme-web",
		"acme.example.com":      "acme.example.com-web",
		"Acme":                  "acme-web-ce85ee4a",
		"a b":                   "a-b-web-ff25971b",
		"☃":                     "web-30b6d299",
		strings.Repeat("x", 70): strings.Repeat("x", 54) + "-777916c7",
	} {
		if got := lynq.NodeName(uid, "web"); got != want {
			t.Errorf("NodeName(%q) = %q, want %q", uid, got, want)
		}
	}
}
