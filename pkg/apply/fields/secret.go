package fields

import (
	"encoding/base64"

	"github.com/ohler55/ojg/jp"
)

// isSecret tells whether a manifest is that of a Secret.
func isSecret(m map[string]any) bool { return m["kind"] == "Secret" && m["apiVersion"] == "v1" }

// FoldSecret turns the stringData of a Secret into data, as the server does, and
// writes data as the server writes it. What is no text stays in stringData, for
// the server to refuse. Other manifests stay as they are. The manifest itself is
// changed.
func FoldSecret(m map[string]any) map[string]any {
	if !isSecret(m) {
		return m
	}
	data, _ := m["data"].(map[string]any)
	for key, v := range data {
		if text, ok := v.(string); ok {
			// The decoder skips line breaks.
			if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
				data[key] = base64.StdEncoding.EncodeToString(raw)
			}
		}
	}
	texts, ok := m["stringData"].(map[string]any)
	if !ok {
		return m
	}
	for key, v := range texts {
		if text, ok := v.(string); ok {
			mapAt(m, "data")[key] = base64.StdEncoding.EncodeToString([]byte(text))
			delete(texts, key)
		}
	}
	if len(texts) == 0 {
		delete(m, "stringData")
	}
	return m
}

// inSecret makes a path into the stringData of a Secret one into its data, which
// is where the server keeps it.
func inSecret(path jp.Expr, m map[string]any) {
	if isSecret(m) && len(path) > 1 && path[1] == jp.Child("stringData") {
		path[1] = jp.Child("data")
	}
}
