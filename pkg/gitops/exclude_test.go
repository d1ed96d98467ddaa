package gitops

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestRetain checks that an excluded object keeps its text, and gets the annotation that
// keeps it in the cluster.
func TestRetain(t *testing.T) {
	t.Parallel()
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	object := func(annotations string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\n  annotations:\n" + annotations + "data:\n  plan: gold\n"
	}
	const deletion, once = "    lynq.sh/deletion-policy: Delete\n", "    kustomize.toolkit.fluxcd.io/ssa: IfNotPresent\n"
	for _, test := range []struct {
		target      policy.Target
		before      string
		after       string
		unprotected bool
	}{
		{policy.Plain, deletion, deletion, false},
		{policy.Argo, "    argocd.argoproj.io/sync-options: Prune=confirm\n", "    argocd.argoproj.io/sync-options: Prune=false,Delete=false\n", false},
		{policy.Argo, "    argocd.argoproj.io/sync-options: Prune=false,Delete=false\n", "    argocd.argoproj.io/sync-options: Prune=false,Delete=false\n", false},
		{policy.Flux, deletion, deletion + "    kustomize.toolkit.fluxcd.io/prune: 'disabled'\n", false},
		{policy.Flux, once + deletion, once + deletion + "    kustomize.toolkit.fluxcd.io/prune: 'disabled'\n", true},
		{policy.Flux, once + "    kustomize.toolkit.fluxcd.io/prune: disabled\n    lynq.sh/deletion-policy: Retain\n", once + "    kustomize.toolkit.fluxcd.io/prune: disabled\n    lynq.sh/deletion-policy: Retain\n", false},
	} {
		t.Run(string(test.target), func(t *testing.T) {
			t.Parallel()
			found := map[lynq.Ref][]byte{}
			if err := retain(found, []byte(object(test.before)), test.target); err != nil {
				t.Fatal(err)
			}
			if got := string(found[ref]); got != object(test.after) {
				t.Errorf("%s:\n%s\nwant\n%s", test.target, got, object(test.after))
			}
			if got := policy.Unprotected(test.target, found[ref]); got != test.unprotected {
				t.Errorf("%s, %s: unprotected is %v", test.target, test.before, got)
			}
		})
	}
}

// TestExcludedObjectMoves gives a volume that a rule excludes to another row. The other
// row's node doesn't write it, so the first one's file keeps it.
func TestExcludedObjectMoves(t *testing.T) {
	t.Parallel()
	hub, form := lynq.HubKey{Name: "crm"}, lynq.FormKey{Name: "web"}
	node := func(uid string, volume, excluded bool) *Node {
		n := &Node{NodeID: lynq.NodeID{Hub: hub, Form: form, UID: uid, Namespace: "shop", Name: uid + "-web"}}
		n.Objects = append(n.Objects, document(n, "v1", "ConfigMap", n.Name, ""))
		if volume {
			n.Objects = append(n.Objects, document(n, "v1", "PersistentVolumeClaim", "data", ""))
			n.Objects[1].Excluded = excluded
		}
		return n
	}
	for _, target := range []policy.Target{policy.Plain, policy.Argo, policy.Flux} {
		t.Run(string(target), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			in := inputOf([]*Node{node("acme", true, false), node("bolt", false, false)})
			in.Target = target
			s.run(in)
			in = inputOf([]*Node{node("acme", false, false), node("bolt", true, true)})
			in.Target, in.Rows = target, rowsOf(in)
			rows := in.Rows[hub]
			rows.Exclude = map[lynq.FormKey]lynq.Exclusions{form: {{Kind: "PersistentVolumeClaim", Name: "data"}}}
			in.Rows[hub] = rows
			s.run(in)
			if o, there := objectsOf(t, s.files())["PersistentVolumeClaim/shop/data"]; !there || o.node != "shop.acme-web" {
				t.Errorf("%s: the volume is of node %q", target, o.node)
			}
		})
	}
}

// TestExcludedBesideOtherLines keeps an excluded volume when --force overwrites a file of
// several documents, of which others changed the ends of lines or the separators.
func TestExcludedBesideOtherLines(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string][2]string{
		"nobody edits it": {"\n", "\n"},
		"CRLF":            {"\n", "\r\n"},
		"a space":         {"---\n", "--- \n"},
		"a comment":       {"---\n", "--- # ours\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			run := func(excluded bool) {
				n := volumeNode("crm", "acme", "data")
				n.Objects[1].Excluded = excluded
				in := inputOf([]*Node{n})
				in.PerNode = true
				s.run(in)
			}
			run(false)
			for file, text := range s.files() {
				s.write(file, strings.ReplaceAll(text, edit[0], edit[1]))
			}
			s.force = true
			run(true)
			if all := objectsOf(t, s.files()); len(all) != 2 {
				t.Errorf("%v", all)
			}
		})
	}
}
