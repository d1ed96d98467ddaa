package gitops

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestPlainSecrets finds objects that show values of a Secret. They may be
// text from a row.
func TestPlainSecrets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, kind, text string
		plain            bool
	}{
		{"data", "Secret", "apiVersion: v1\nkind: Secret\ndata: {a: eA==}\n", true},
		{"stringData", "Secret", "apiVersion: v1\nkind: Secret\nstringData: {a: x}\n", true},
		{"empty", "Secret", "apiVersion: v1\nkind: Secret\ndata: {}\nstringData: null\n", false},
		{"no field of either name", "Secret", "apiVersion: v1\nkind: Secret\ntype: kubernetes.io/service-account-token\n", false},
		{"data as text", "Secret", "apiVersion: v1\nkind: Secret\ndata: '{\"a\":\"x\"}'\n", true},
		{"no text", "Secret", "apiVersion: v1\nkind: Secret\ndata: ' '\n", false},
		{"data as a list", "Secret", "apiVersion: v1\nkind: Secret\ndata: [x]\n", true},
		{"of another group", "Secret", "apiVersion: example.com/v1\nkind: Secret\ndata: {a: x}\n", false},
		{"unreadable", "Secret", "a: [\n", true},
		{"left out", "Secret", "", false},
		{"ConfigMap", "ConfigMap", "apiVersion: v1\nkind: ConfigMap\ndata: {a: x}\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := &Node{Objects: []Object{{ObjectKey: index.ObjectKey{Ref: lynq.Ref{Kind: test.kind}}, Bytes: []byte(test.text)}}}
			if got := len(PlainSecrets([]*Node{n})) > 0; got != test.plain {
				t.Errorf("%v, want %v", got, test.plain)
			}
		})
	}
}

// TestPlainSecretsOnce names a resource once, with its first node.
func TestPlainSecretsOnce(t *testing.T) {
	t.Parallel()
	node := func(name, form string) *Node {
		secret := func(id string) Object {
			return Object{ObjectKey: index.ObjectKey{Ref: lynq.Ref{Kind: "Secret", Name: name}, ID: id}, Bytes: []byte("apiVersion: v1\nkind: Secret\ndata: {a: eA==}\n")}
		}
		return &Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: form}, Name: name}, Objects: []Object{secret("key"), secret("token")}}
	}
	crm, web, db := lynq.HubKey{Name: "crm"}, lynq.FormKey{Name: "web"}, lynq.FormKey{Name: "db"}
	want := []PlainSecret{
		{lynq.NodeID{Hub: crm, Form: web, Name: "acme"}, 2, "key"},
		{lynq.NodeID{Hub: crm, Form: web, Name: "acme"}, 2, "token"},
		{lynq.NodeID{Hub: crm, Form: db, Name: "coil"}, 1, "key"},
		{lynq.NodeID{Hub: crm, Form: db, Name: "coil"}, 1, "token"},
	}
	if diff := cmp.Diff(want, PlainSecrets([]*Node{node("acme", "web"), node("bolt", "web"), node("coil", "db")})); diff != "" {
		t.Error(diff)
	}
}
