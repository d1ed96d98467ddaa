package fields

import (
	"encoding/base64"

	"github.com/ohler55/ojg/jp"
)

// isSecret reports whether a manifest is a Secret.
func isSecret(m map[string]any) bool { return m["kind"] == "Secret" && m["apiVersion"] == "v1" }

// FoldSecret moves the stringData of a Secret into data, and formats data as the server
// does. Values that aren't text remain in stringData, and the server refuses them. It
// changes the manifest itself, and ignores other kinds.
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

// inSecret changes a path in the stringData of a Secret into one in its data, because the
// server keeps it there.
func inSecret(path jp.Expr, m map[string]any) {
	if isSecret(m) && len(path) > 1 && path[1] == jp.Child("stringData") {
		path[1] = jp.Child("data")
	}
}
