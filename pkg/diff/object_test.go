package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func compare(t *testing.T, live, next string, origin Origin) *Object {
	t.Helper()
	o := &Object{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "acme"}}
	l, n := object(t, live), object(t, next)
	if err := o.Compare(l, n, origin); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(object(t, live), l); d != "" {
		t.Errorf("the live object was changed: %s", d)
	}
	if d := cmp.Diff(object(t, next), n); d != "" {
		t.Errorf("the next object was changed: %s", d)
	}
	return o
}

// What the server and lynqctl keep for themselves is no difference.
func TestCompareLeavesOut(t *testing.T) {
	live := `{"metadata":{"name":"acme","uid":"1","resourceVersion":"1","generation":1,"creationTimestamp":"x","managedFields":[{"manager":"a"}],
		"labels":{"lynq.sh/hub":"h","lynq.sh/uid":"acme"},"annotations":{"lynq.sh/resource-id":"a"}},"status":{"a":1}}`
	next := `{"metadata":{"name":"acme","uid":"1","resourceVersion":"2","generation":2,"managedFields":[],
		"labels":{"lynq.sh/hub":"h","lynq.sh/uid":"acme"},"annotations":{"lynq.sh/resource-id":"a"}},"status":{"a":2}}`
	o := compare(t, live, next, Origin{})
	if o.Changes() || o.Diff != "" || len(o.Fields) > 0 || len(o.Causes()) > 0 {
		t.Errorf("%+v", o)
	}
	if want := "metadata:\n  labels:\n    lynq.sh/uid: acme\n  name: acme\n"; o.Before != want {
		t.Errorf("%s, want %s", o.Before, want)
	}
}

func TestCompareTracking(t *testing.T) {
	live := `{"metadata":{"name":"acme","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"lynqnode-a","uid":"1"},{"kind":"Other","name":"o"}]}}`
	next := `{"metadata":{"name":"acme","labels":{"lynq.sh/orphaned":"true"},"ownerReferences":[{"kind":"Other","name":"o"}]}}`
	o := compare(t, live, next, Origin{})
	if !o.Changes() || !o.Tracking || o.Before != o.After || !cmp.Equal(o.Causes(), []string{"tracking"}) {
		t.Errorf("%+v", o)
	}
	if o := compare(t, live, next, Origin{Whole: CauseRemoved}); !cmp.Equal(o.Causes(), []string{"removed from the form"}) {
		t.Errorf("%v", o.Causes())
	}
	if !strings.Contains(o.Before, "kind: Other") || strings.Contains(o.Before, "lynqnode") {
		t.Errorf("owners: %s", o.Before)
	}
}

func TestUnified(t *testing.T) {
	o := compare(t, `{"a":1,"b":"x"}`, `{"a":1,"b":"y"}`, Origin{})
	want := "--- live/ConfigMap/shop/acme\n+++ next/ConfigMap/shop/acme\n@@ -1,2 +1,2 @@\n a: 1\n-b: x\n+b: \"y\"\n"
	if d := cmp.Diff(want, o.Diff); d != "" {
		t.Error(d)
	}
	if o := compare(t, "", `{"a":1}`, Origin{}); o.Diff != "--- /dev/null\n+++ next/ConfigMap/shop/acme\n@@ -0,0 +1,1 @@\n+a: 1\n" {
		t.Errorf("new: %s", o.Diff)
	}
	if o := compare(t, `{"a":1}`, "", Origin{}); o.Diff != "--- live/ConfigMap/shop/acme\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a: 1\n" {
		t.Errorf("gone: %s", o.Diff)
	}
}

// Of a Secret, nothing shows but which values differ.
func TestSecretsAreMasked(t *testing.T) {
	secret := func(data string) string {
		return `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"c2VjcmV0 ` +
			strings.ReplaceAll(data, `"`, `'`) + `"}},"data":` + data + `}`
	}
	const before = `{"same":"c2VjcmV0","other":"c2VjcmV0","gone":"c2VjcmV0"}`
	const after = `{"same":"c2VjcmV0","other":"c2VjcmV0Mg==","new":"c2VjcmV0"}`
	for _, tt := range []struct {
		name, live, next, want string
	}{
		{"changed", secret(before), secret(after), "  gone: •••\n  other: ••• (before)\n  same: •••\n"},
		{"made", "", secret(after), "  new: •••\n  other: •••\n  same: •••\n"},
		{"deleted", secret(before), "", "  gone: •••\n  other: •••\n  same: •••\n"},
		{"no map", `{"apiVersion":"v1","kind":"Secret","data":"c2VjcmV0","stringData":["c2VjcmV0"]}`, "", "data: •••\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := compare(t, tt.live, tt.next, Origin{Desired: object(t, tt.next)})
			o.Action = "update"
			all := o.Before + o.After + o.Diff + Markdown(&Report{Nodes: []Node{{Objects: []Object{*o}}}})
			for _, f := range o.Fields {
				if v, ok := f.Before.(string); ok {
					all += v
				}
				if v, ok := f.After.(string); ok {
					all += v
				}
			}
			if strings.Contains(all, "c2Vj") {
				t.Errorf("a value shows: %s", all)
			}
			if !strings.Contains(o.Before+o.After, tt.want) {
				t.Errorf("%s%s lacks %s", o.Before, o.After, tt.want)
			}
		})
	}
	o := compare(t, secret(before), secret(after), Origin{})
	var paths []string
	for _, f := range o.Fields {
		paths = append(paths, string(f.Op)+" "+f.Path.String())
	}
	want := []string{"remove .data.gone", "add .data.new", "replace .data.other", `replace .metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]`}
	if d := cmp.Diff(want, paths); d != "" {
		t.Error(d)
	}
}
