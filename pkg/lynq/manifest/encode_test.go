package manifest

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
)

// drawn returns a random value as in the content of objects.
func drawn(r *rand.Rand, depth int) any {
	texts := []string{"", "web", "<&>", "\u2028", "a\xffb", "\b\f\t\n\\\"", "\x7f", "日本", "a: b"}
	leaves := []any{nil, true, false, r.Int64(), -r.Int(), r.NormFloat64(), math.MaxFloat64, 1e21, 0.0, 1e-9, []any(nil), map[string]any(nil), []string{"<"}, json.Number("12")}
	switch n := r.IntN(10); {
	case depth > 4 || n < 3:
		return texts[r.IntN(len(texts))]
	case n < 6:
		return leaves[r.IntN(len(leaves))]
	case n < 8:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, drawn(r, depth+1))
		}
		return list
	}
	m := map[string]any{}
	for range r.IntN(20) {
		m[texts[r.IntN(len(texts))]+texts[r.IntN(len(texts))]] = drawn(r, depth+1)
	}
	return m
}

// TestAppendJSON compares the encoding with encoding/json, byte by byte.
func TestAppendJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		v := drawn(r, 0)
		got, err := Append([]byte("x"), v)
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		if "x"+want.String() != string(got)+"\n" {
			t.Fatalf("got %s\nwant %s", got, want.Bytes())
		}
	}
}

// TestAppendJSONRefuses encodes values without JSON.
func TestAppendJSONRefuses(t *testing.T) {
	for _, v := range []any{math.NaN(), []any{math.Inf(1)}, map[string]any{"a": func() {}}} {
		if got, err := Append(nil, v); err == nil {
			t.Errorf("%v became %s", v, got)
		}
	}
}

// BenchmarkEncode encodes a ConfigMap with ten fields.
func BenchmarkEncode(b *testing.B) {
	data := map[string]any{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		data[name] = "https://" + name + ".example.com/path"
	}
	content := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data, "metadata": map[string]any{
		"name": "web", "namespace": "tenants", "labels": map[string]any{"app": "web", "lynq.sh/hub": "crm"}, "annotations": map[string]any{}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Encode(content); err != nil {
			b.Fatal(err)
		}
	}
}
