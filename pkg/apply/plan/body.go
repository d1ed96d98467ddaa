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

// Body is a manifest as JSON that begins with {"metadata":{ , so that what only
// the cluster knows can be put in without reading it.
type Body []byte

// ErrNoMetadata tells that an object can't be sent.
var ErrNoMetadata = errors.New("the object has no metadata")

// bodyHead is how every body begins.
const bodyHead = `{"metadata":{`

// bodySize is the room that most bodies need.
const bodySize = 2048

// NewBody encodes an object's content. The same content gives the same bytes.
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
	return bytes.Clone(append(b, '}')), nil // bodies are kept, and the slice has room for more
}

// CheckMetadata refuses what would undo the preconditions of a run, null too: a
// body that says it twice says what comes last. Forms that have it are refused
// when they are loaded.
func CheckMetadata(metadata map[string]any) error {
	for _, key := range []string{"ownerReferences", "uid", "resourceVersion", "managedFields", "generation", "creationTimestamp", "deletionTimestamp", "selfLink"} {
		if _, said := metadata[key]; said {
			return fmt.Errorf("a form cannot set metadata.%s (remove it)", key)
		}
	}
	return nil
}

// Annotated is the body with one annotation more. Bodies of rendered objects have
// annotations, which come first.
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

// With is the body with further metadata fields, given as JSON without braces:
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
