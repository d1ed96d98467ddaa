package apply

import (
	"bytes"
	"encoding/json"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// unmarshal decodes JSON as Kubernetes does: whole numbers are int64.
func unmarshal(b []byte, v any) error { return utiljson.Unmarshal(b, v) }

// Content decodes the body.
func (b Body) Content() (map[string]any, error) {
	var content map[string]any
	return content, unmarshal(b, &content)
}

// marshal encodes without escaping what is only special in HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
