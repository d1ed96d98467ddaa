package manifest

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strconv"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Body is a manifest as JSON that begins with {"metadata":{. The other keys of each object
// are sorted. So lynqctl can insert values that only the cluster knows without decoding it.
type Body []byte

// ErrNoMetadata means that lynqctl can't send the object.
var ErrNoMetadata = errors.New("the object has no metadata")

// Head is the beginning of every body.
const Head = `{"metadata":{`

// size is enough for most bodies.
const size = 2048

// Encode encodes an object's content. Equal contents give equal bytes.
func Encode(content map[string]any) (Body, error) {
	metadata, ok := content["metadata"].(map[string]any)
	if !ok || len(metadata) == 0 {
		return nil, ErrNoMetadata
	}
	b, err := Append(append(make([]byte, 0, size), `{"metadata":`...), metadata)
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

// Annotated returns the body with one more annotation. Bodies of rendered objects begin
// with their annotations.
func (b Body) Annotated(key, value string) Body {
	const head = Head + `"annotations":{`
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
	out = append(out, Head...)
	for _, f := range fields {
		if f != "" {
			out = append(append(out, f...), ',')
		}
	}
	return append(out, b[len(Head):]...)
}

// Content decodes the body.
func (b Body) Content() (map[string]any, error) {
	var content map[string]any
	return content, utiljson.Unmarshal(b, &content)
}

// HasEmpty reports whether a field may be empty, null or 0.
func (b Body) HasEmpty() bool {
	for _, value := range []string{`""`, `[]`, `{}`, `null`, `0`} {
		if bytes.Contains(b, []byte(":"+value)) {
			return true
		}
	}
	return false
}

// HasNull reports whether a field may be null.
func (b Body) HasNull() bool { return bytes.Contains(b, []byte(":null")) }
