package plan

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Body is a manifest as JSON that begins with {"metadata":{. So lynqctl can insert values
// that only the cluster knows without decoding it.
type Body []byte

// ErrNoMetadata means that lynqctl can't send the object.
var ErrNoMetadata = errors.New("the object has no metadata")

// bodyHead is the beginning of every body.
const bodyHead = `{"metadata":{`

// bodySize is enough for most bodies.
const bodySize = 2048

// NewBody encodes an object's content. Equal contents give equal bytes.
func NewBody(content map[string]any) (Body, error) {
	metadata, ok := content["metadata"].(map[string]any)
	if !ok || len(metadata) == 0 {
		return nil, ErrNoMetadata
	}
	b, err := appendJSON(append(make([]byte, 0, bodySize), `{"metadata":`...), metadata)
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(content)) {
		if key == "metadata" {
			continue
		}
		if b, err = appendField(append(b, ','), key, content[key]); err != nil {
			return nil, err
		}
	}
	return bytes.Clone(append(b, '}')), nil // drop the spare capacity, because a run keeps all bodies
}

// CheckMetadata refuses fields that would undo the preconditions of a run, even with the
// value null. If a body has a key twice, the last one counts. Forms with these fields fail
// to load already.
func CheckMetadata(metadata map[string]any) error {
	for _, key := range []string{"ownerReferences", "uid", "resourceVersion", "managedFields", "generation", "creationTimestamp", "deletionTimestamp", "selfLink"} {
		if _, said := metadata[key]; said {
			return fmt.Errorf("a form cannot set metadata.%s (remove it)", key)
		}
	}
	return nil
}

// Annotated returns the body with one more annotation. Bodies of rendered objects begin
// with their annotations.
func (b Body) Annotated(key, value string) Body {
	const head = bodyHead + `"annotations":{`
	one := strconv.Quote(key) + ":" + strconv.Quote(value)
	rest, some := bytes.CutPrefix(b, []byte(head))
	switch {
	case !some:
		return b.With(`"annotations":{` + one + `}`)
	case rest[0] != '}':
		one += ","
	}
	return slices.Concat([]byte(head+one), rest)
}

// With returns the body with more metadata fields. They are JSON without braces:
// `"uid":"…"`.
func (b Body) With(fields ...string) []byte {
	out := make([]byte, 0, len(b)+256)
	out = append(out, bodyHead...)
	for _, f := range fields {
		if f != "" {
			out = append(append(out, f...), ',')
		}
	}
	return append(out, b[len(bodyHead):]...)
}

// Content decodes the body.
func (b Body) Content() (map[string]any, error) {
	var content map[string]any
	return content, utiljson.Unmarshal(b, &content)
}
