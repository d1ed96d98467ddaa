package manifest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBody(t *testing.T) {
	content := map[string]any{"kind": "K", "metadata": map[string]any{"name": "a<b"}, "a": []any{int64(1), 1.5, nil, true}}
	b, err := Encode(content)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(b), `{"metadata":{"name":"a<b"},"a":[1,1.5,null,true],"kind":"K"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := string(b.With(`"uid":"u"`, "", `"resourceVersion":"7"`)), `{"metadata":{"uid":"u","resourceVersion":"7","name":"a<b"},"a":[1,1.5,null,true],"kind":"K"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	back, err := b.Content()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(content, back); diff != "" {
		t.Error(diff)
	}
	for name, bad := range map[string]map[string]any{
		"no metadata":    {"kind": "K"},
		"empty metadata": {"metadata": map[string]any{}},
		"metadata":       {"metadata": map[string]any{"a": func() {}}},
		"a field":        {"metadata": map[string]any{"a": "b"}, "c": func() {}},
	} {
		t.Run(name, func(t *testing.T) {
			if b, err := Encode(bad); err == nil {
				t.Errorf("%s", b)
			}
		})
	}
}

// TestLabelled sets a label in bodies as Encode does it in their values.
func TestLabelled(t *testing.T) {
	const key = "m/label"
	for _, metadata := range []map[string]any{
		{"name": "n"},
		{"annotations": map[string]any{"a": `,"labels":{"x":"y"}`, "b": "\"}{\\"}},
		{"labels": map[string]any{}},
		{"labels": nil, "name": "n"},
		{"labels": map[string]any{"a": "1", "z": "2"}, "name": "n"},
		{"labels": map[string]any{"a": "1"}},
		{"labels": map[string]any{"z": "1"}, "zone": []any{map[string]any{"labels": "x"}, "]"}},
		{"labels": map[string]any{"a": "1", key: "other", "z": "2"}},
		{"a": []any{"x", map[string]any{"b": 1}}, "z": true},
		{"annotations": map[string]any{}, "finalizers": []any{"x"}, "generateName": "<é>"},
	} {
		content := map[string]any{"kind": "K", "metadata": metadata, "spec": map[string]any{"labels": map[string]any{"a": "b"}}}
		before, err := Encode(content)
		if err != nil {
			t.Fatal(err)
		}
		labels, is := metadata["labels"].(map[string]any)
		if _, had := labels[key]; before.HasLabel(key) != had {
			t.Errorf("%s: has the label: %t", before, !had)
		}
		if !is {
			labels = map[string]any{}
			metadata["labels"] = labels
		}
		labels[key] = "value"
		want, err := Encode(content)
		if err != nil {
			t.Fatal(err)
		}
		got := before.Labelled(key, "value")
		if string(got) != string(want) || !got.HasLabel(key) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if again := got.Labelled(key, "value"); string(again) != string(want) {
			t.Errorf("twice: %s", again)
		}
	}
}

// TestCheck refuses fields of the server, in values and in bodies.
func TestCheck(t *testing.T) {
	for _, key := range []string{"ownerReferences", "uid", "resourceVersion", "managedFields", "generation", "creationTimestamp", "deletionTimestamp", "selfLink"} {
		t.Run(key, func(t *testing.T) {
			metadata := map[string]any{"name": "n", key: nil, "zone": "x"}
			b, err := Encode(map[string]any{"metadata": metadata})
			if err != nil {
				t.Fatal(err)
			}
			want := "a form cannot set metadata." + key + " (remove it)"
			for _, err := range []error{CheckMetadata(metadata), b.Check()} {
				if err == nil || err.Error() != want {
					t.Errorf("%v, want %s", err, want)
				}
			}
		})
	}
	for _, bad := range []string{"", "{}", `{"metadata":{}}`, `{"kind":"K","metadata":{"name":"n"}}`} {
		t.Run(bad, func(t *testing.T) {
			if err := Body(bad).Check(); !errors.Is(err, ErrNoMetadata) {
				t.Errorf("%s: %v", bad, err)
			}
		})
	}
	if err := Body(`{"metadata":{"name":"n","labels":{"uid":"x"}},"spec":{"uid":"x"}}`).Check(); err != nil {
		t.Error(err)
	}
}
