package diff

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/redact"

	"github.com/google/go-cmp/cmp"
)

// shows is all that anyone sees of a comparison.
func shows(o *Object) string {
	var b strings.Builder
	b.WriteString(o.Before + "=>\n" + o.After + o.Diff + Markdown(&Report{Nodes: []Node{{Objects: []Object{*o}}}}))
	for _, f := range o.Fields {
		for _, v := range []any{f.Before, f.After} {
			if text, ok := v.(string); ok {
				b.WriteString(text)
			}
		}
		b.WriteString(f.Path.String())
	}
	return b.String()
}

// TestSecretFields: what secret columns feed is hidden by its place, so that also short
// values, other types and former values are.
func TestSecretFields(t *testing.T) {
	paths := func(all ...string) [][]string {
		var out [][]string
		for _, p := range all {
			out = append(out, strings.Split(p, "."))
		}
		return out
	}
	for _, tt := range []struct {
		name, live, next string
		fields           [][]string
		want             string
	}{
		{"a text", `{"data":{"a":"x1","b":"y"}}`, `{"data":{"a":"x2","b":"z"}}`, paths("data.a"), "data:\n  a: ••• (before)\n  b: \"y\"\n=>\ndata:\n  a: ••• (after)\n  b: z\n"},
		{"the same", `{"data":{"a":"x1"}}`, `{"data":{"a":"x1"},"n":1}`, paths("data.a"), "data:\n  a: •••\n=>\ndata:\n  a: •••\n\"n\": 1\n"},
		{"new", "", `{"data":{"a":"x1"}}`, paths("data.a"), "=>\ndata:\n  a: •••\n"},
		{"gone", `{"data":{"a":"x1","b":"y"}}`, `{"data":{"b":"y"}}`, paths("data.a"), "data:\n  a: •••\n  b: \"y\"\n=>\ndata:\n  b: \"y\"\n"},
		{"a number", `{"spec":{"a":7001}}`, `{"spec":{"a":7002}}`, paths("spec.a"), "spec:\n  a: ••• (before)\n=>\nspec:\n  a: ••• (after)\n"},
		{"in a keyed list", `{"env":[{"name":"a","value":"x1"},{"name":"b","value":"y"}]}`, `{"env":[{"name":"c","value":"x3"},{"name":"a","value":"x2"},{"name":"b","value":"y"}]}`,
			paths("env.[].value"), "env:\n- name: a\n  value: ••• (before)\n- name: b\n  value: •••\n=>\nenv:\n- name: c\n  value: •••\n- name: a\n  value: ••• (after)\n- name: b\n  value: •••\n"},
		{"in a list", `{"args":["x1","x2"]}`, `{"args":["x1","x3","x4"]}`, paths("args.[]"), "args:\n- •••\n- ••• (before)\n=>\nargs:\n- •••\n- ••• (after)\n- •••\n"},
		{"a key of a list", `{"l":[{"name":"x1","v":1}]}`, `{"l":[{"name":"x2","v":1}]}`, paths("l.[].name"), "l:\n- name: •••\n  v: 1\n=>\nl:\n- name: •••\n  v: 1\n"},
		{"another type", `{"spec":{"a":{"x1":"x1"}}}`, `{"spec":{"a":"x2"}}`, paths("spec.a"), "spec:\n  a: ••• (before)\n=>\nspec:\n  a: ••• (after)\n"},
		{"a text in the place of a map", `{"spec":"x1"}`, `{"spec":{"a":"x2"}}`, paths("spec.a"), "spec: ••• (before)\n=>\nspec: ••• (after)\n"},
		{"a text in the place of a list", `{"spec":"x1"}`, `{"spec":["x2"]}`, paths("spec.[]"), "spec: ••• (before)\n=>\nspec: ••• (after)\n"},
		{"kubectl's copy", `{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"x1"}},"data":{}}`, `{"data":{"a":"x2"}}`,
			paths("data.a"), "data: {}\nmetadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: •••\n=>\ndata:\n  a: •••\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := compare(t, tt.live, tt.next, Origin{Desired: object(t, tt.next), Secrets: Secrets{Fields: tt.fields}})
			if d := cmp.Diff(tt.want, o.Before+"=>\n"+o.After); d != "" {
				t.Error(d)
			}
			if all := shows(o); strings.Contains(all, "x1") || strings.Contains(all, "x2") || strings.Contains(all, "x3") || strings.Contains(all, "700") {
				t.Errorf("a value shows: %s", all)
			}
		})
	}
}

// TestSecretAnywhere: nobody knows where a chart put a secret value, so the earlier values of
// all that changes are hidden. The next ones show, because the run knows its secrets.
func TestSecretAnywhere(t *testing.T) {
	live := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"acme"},"data":{"a":"x1","b":"y","gone":"x1"},"spec":{"port":7001},"env":[{"name":"a","value":"x1"}]}`
	next := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"acme"},"data":{"a":"hunter2!","b":"y"},"spec":{"port":8001},"env":[{"name":"a","value":"z"}]}`
	origin := Origin{Desired: object(t, next), Secrets: Secrets{Fields: [][]string{nil}, Filter: redact.New("hunter2!")}}
	all := shows(compare(t, live, next, origin))
	for _, hidden := range []string{"x1", "700", "hunter2"} {
		t.Run(hidden, func(t *testing.T) {
			if strings.Contains(all, hidden) {
				t.Errorf("%s shows: %s", hidden, all)
			}
		})
	}
	for _, shown := range []string{`b: "y"`, "port: 8001", "value: z"} {
		t.Run(shown, func(t *testing.T) {
			if !strings.Contains(all, shown) {
				t.Errorf("%s is hidden: %s", shown, all)
			}
		})
	}
	origin.Desired = nil
	if all := shows(compare(t, live, "", origin)); strings.Contains(all, "x1") || !strings.Contains(all, "name: acme") {
		t.Error(all)
	}
}

// TestSecretTexts: the values of the row are hidden wherever the object has them.
func TestSecretTexts(t *testing.T) {
	m := redact.New("hunter2!")
	o := compare(t, `{"data":{"dsn":"app:hunter2!@db"},"l":["aHVudGVyMiE=",1]}`, `{"data":{"dsn":"web:hunter2!@db"}}`, Origin{Secrets: Secrets{Filter: m}})
	if all := shows(o); strings.Contains(all, "hunter2") || strings.Contains(all, "aHVud") || !strings.Contains(all, "app:•••@db") {
		t.Error(all)
	}
}

// TestSecretsRemoved: where it isn't known what fed a field, the values of what goes are
// hidden. The object can still be told from others.
func TestSecretsRemoved(t *testing.T) {
	live := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"acme","namespace":"shop","labels":{"l":"x1"}},"data":{"a":"x1","b":"y"},"env":[{"name":"a","value":"x1","keep":"y"},{"name":"b","value":"x1"}]}`
	o := compare(t, live, "", Origin{Secrets: Secrets{Removed: true}})
	want := "apiVersion: v1\ndata:\n  a: •••\n  b: •••\nenv: •••\nkind: ConfigMap\nmetadata:\n  labels:\n    l: •••\n  name: acme\n  namespace: shop\n"
	if d := cmp.Diff(want, o.Before); d != "" {
		t.Error(d)
	}
	next := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"acme","namespace":"shop"},"data":{"b":"z"},"env":[{"name":"a","keep":"y"}]}`
	o = compare(t, live, next, Origin{Secrets: Secrets{Removed: true}})
	if all := shows(o); strings.Contains(all, "x1") || !strings.Contains(all, `b: "y"`) || !strings.Contains(all, "b: z") {
		t.Error(all)
	}
}
