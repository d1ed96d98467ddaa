package naming_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
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
			"IsDNS1123Subdomain": {naming.IsDNS1123Subdomain(s), validation.IsDNS1123Subdomain(s)},
			"IsDNS1123Label":     {naming.IsDNS1123Label(s), validation.IsDNS1123Label(s)},
			"IsLabelValue":       {naming.IsLabelValue(s), validation.IsValidLabelValue(s)},
		} {
			if check.ours != (len(check.theirs) == 0) {
				t.Errorf("%s(%q) = %v, Kubernetes says %v", name, s, check.ours, check.theirs)
			}
		}
		made := naming.HashedName(s)
		if len(made) > 63 || !naming.IsDNS1123Label(made) {
			t.Errorf("Made(%q) = %q", s, made)
		}
		node := naming.NodeName(s, "form")
		if len(node) > 63 || !naming.IsDNS1123Subdomain(node) || node != s+"-form" && node != naming.HashedName(s+"-form") {
			t.Errorf("NodeName(%q) = %q", s, node)
		}
		label, raw := naming.UIDLabel(s)
		if !naming.IsLabelValue(label) || label == "" || raw != (label == s) {
			t.Errorf("UIDLabel(%q) = %q, %v", s, label, raw)
		}
	})
}

func TestNodeName(t *testing.T) {
	type node struct{ uid, form string }
	for n, want := range map[node]string{
		{"acme", "web"}:                  "acme-web",
		{"acme-eu", "web"}:               "acme-eu-web",
		{"acme.example.com", "web.v2"}:   "acme.example.com-web.v2",
		{"Acme", "web"}:                  "acme-web-ce85ee4a",
		{"a b", "web"}:                   "a-b-web-ff25971b",
		{"☃", "web"}:                     "web-30b6d299",
		{"\u212a\u0130\xff", "web"}:      "ki--web-91d63917",
		{strings.Repeat("x", 70), "web"}: strings.Repeat("x", 54) + "-777916c7",

		{"acme", "eu-web"}:                  "acme-eu-web-897520f7",
		{"Acme", "eu-web"}:                  "acme-eu-web-b69517bc",
		{strings.Repeat("x", 70), "eu-web"}: strings.Repeat("x", 54) + "-60fb2d3a",
	} {
		if got := naming.NodeName(n.uid, n.form); got != want {
			t.Errorf("NodeName(%q, %q) = %q, want %q", n.uid, n.form, got, want)
		}
	}
}

// TestPlainNodeName: names as they have always been, whatever the form.
func TestPlainNodeName(t *testing.T) {
	for uid, want := range map[string]string{
		"acme": "acme-eu-web", "Acme": "acme-eu-web-d3599a1c", strings.Repeat("x", 70): strings.Repeat("x", 54) + "-142bcdeb",
	} {
		t.Run(uid, func(t *testing.T) {
			if got := naming.PlainNodeName(uid, "eu-web"); got != want {
				t.Errorf("PlainNodeName(%q) = %q, want %q", uid, got, want)
			}
		})
	}
}

// TestNamed checks which rows and forms can have a name. Nobody who changes the labels of an
// inventory makes its node another one.
func TestNamed(t *testing.T) {
	long := strings.Repeat("x", 70)
	for _, tt := range []struct {
		name, uid, form string
		want            bool
	}{
		{"acme-web", "acme", "web", true},
		{"acme-web", "acme", "tmp", false},
		{"acme-web", "ghost", "web", false},
		{"acme-web", "", "acme-web", false},
		{"acme-eu-web", "acme", "eu-web", true}, // recorded before hashes
		{"acme-eu-web", "acme-eu", "web", true},
		{"acme-eu-web-897520f7", "acme", "eu-web", true},
		{"acme-eu-web-897520f7", "ghost", "eu-web", false},
		{naming.NodeName(long, "web"), long, "web", true},
		{naming.NodeName(long, "web"), long + "x", "web", false},
		{naming.NodeName(long, "web"), long[:54], "web", true}, // rebuilt without rows
		{naming.NodeName("Acme", "web"), "acme", "web", true},  // the same
		{naming.NodeName("Acme", "web"), "Acme", "tmp", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := naming.Named(tt.name, tt.uid, tt.form); got != tt.want {
				t.Errorf("Named(%q, %q, %q) = %t", tt.name, tt.uid, tt.form, got)
			}
		})
	}
}

// TestNodeNamesDiffer: no two of one row and form have one name, and those of
// forms without a dash are the plain ones.
func TestNodeNamesDiffer(t *testing.T) {
	uids, forms := joined("-/.A", 3), joined("-", 3)
	names := map[string][2]string{}
	for _, uid := range uids {
		for _, form := range forms {
			name := naming.NodeName(uid, form)
			if other, taken := names[name]; taken {
				t.Errorf("row %q and form %q have the name %q of row %q and form %q", uid, form, name, other[0], other[1])
			}
			names[name] = [2]string{uid, form}
			if plain := naming.PlainNodeName(uid, form); (name == plain) != !strings.Contains(form, "-") {
				t.Errorf("NodeName(%q, %q) = %q, and the plain name is %q", uid, form, name, plain)
			}
			if len(name) > 63 || !naming.IsDNS1123Subdomain(name) {
				t.Errorf("NodeName(%q, %q) = %q", uid, form, name)
			}
		}
	}
	if len(names) != len(uids)*len(forms) || len(names) < 90_000 {
		t.Errorf("%d names of %d rows and %d forms", len(names), len(uids), len(forms))
	}
}

// joined are all texts of up to so many words with one of the separators between
// each two of them.
func joined(separators string, words int) []string {
	all := []string{"a", "b", "eu", "web"}
	last := all
	for range words - 1 {
		var next []string
		for _, text := range last {
			for _, s := range separators {
				for _, word := range []string{"a", "b", "eu", "web"} {
					next = append(next, text+string(s)+word)
				}
			}
		}
		all, last = append(all, next...), next
	}
	return all
}

func BenchmarkNodeName(b *testing.B) {
	for _, form := range []string{"web", "eu-web"} {
		b.Run(form, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				naming.NodeName("tenant-000123", form)
			}
		})
	}
}
