package fields

import (
	"bytes"
	"encoding/json"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// unmarshal decodes JSON as Kubernetes does: whole numbers are int64.
func unmarshal(b []byte, v any) error { return utiljson.Unmarshal(b, v) }

// Marshal encodes a value as JSON without HTML escapes.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
