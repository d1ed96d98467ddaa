package render

import (
	"bytes"
	"encoding/base64"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/render/scalar"
)

// Limits of Kubernetes, in bytes.
const (
	// maxAnnotations limits an object's annotations (apimachinery:
	// TotalAnnotationSizeLimitB).
	maxAnnotations = 256 << 10
	// maxData limits the values of a ConfigMap or a Secret (k8s.io/api: MaxSecretSize).
	maxData = 1 << 20
	// maxObject limits any other object, because etcd takes no larger request
	// (--max-request-bytes).
	maxObject = 3 << 19
	// maxEscape is how many bytes of JSON a byte of text can need.
	maxEscape = 6
)

// measure counts bytes of a manifest: those that all rows have, and those of slots.
type measure struct {
	at    place
	bytes int
	slots []int
}

// upper returns the bytes for the current row, each byte of a slot counted so many times.
// If no result can make them exceed the limit, it returns the limit at once.
func (m *measure) upper(f *frame, longest, times, limit int) int {
	if m.bytes+times*longest*len(m.slots) <= limit {
		return limit
	}
	size := 0
	for _, slot := range m.slots {
		size += f.results.Len(slot)
	}
	return m.bytes + times*size
}

func (m *measure) add(n *node) {
	if n.slot == noSlot {
		m.bytes += len(n.static)
	} else {
		m.slots = append(m.slots, n.slot)
	}
}

// measures prepares the checks of sizes.
func (c *compiler) measures(r *resource, annotations *node) {
	r.annotations = append(r.annotations, measured(r.at, annotations))
	if kinds.BuiltIn(r.group) {
		for _, f := range r.root.fields {
			if f.key != "metadata" {
				c.templates(r, f.node, []string{f.key})
			}
		}
	}
	r.size.at = r.at
	if r.data = dataOf(r); r.data != nil {
		for _, v := range r.data {
			r.size.add(v.node)
		}
		return
	}
	if c.literal {
		r.size.addAtMost(r.root)
		return
	}
	for i := range r.layouts.body {
		switch o := &r.layouts.body[i]; o.kind {
		case opBytes:
			r.size.bytes += len(o.bytes)
		case opQuoted, opTyped:
			r.size.slots = append(r.size.slots, o.slot)
		}
	}
}

// addAtMost adds an upper bound of what JSON needs, for a body that few runs need.
func (m *measure) addAtMost(n *node) {
	const leaf, around = 32, 4 // of a number; quotes, colon, and comma
	switch {
	case n.slot != noSlot:
		m.slots = append(m.slots, n.slot)
	case n.kind == document.String:
		m.bytes += maxEscape * len(n.value.Str)
	default:
		m.bytes += leaf
	}
	m.bytes += around
	for _, f := range n.fields {
		m.bytes += maxEscape*len(f.key) + around
		m.addAtMost(f.node)
	}
	for _, item := range n.items {
		m.addAtMost(item)
	}
}

// templates finds the annotations of templates for other objects, such as Pods. The server,
// or a controller, refuses them like those of the object.
func (c *compiler) templates(r *resource, n *node, path []string) {
	for _, f := range n.fields {
		if annotations := f.node.child("annotations"); f.key == "metadata" && annotations != nil {
			r.annotations = append(r.annotations, measured(c.place(r.at.pos, fieldPath(append(path, f.key))), annotations))
		}
		c.templates(r, f.node, append(path, f.key))
	}
	for _, item := range n.items {
		c.templates(r, item, append(path, "[]"))
	}
}

func measured(at place, annotations *node) measure {
	m := measure{at: at}
	for _, a := range annotations.fields {
		m.bytes += len(a.key)
		m.add(a.node)
	}
	return m
}

// dataValue is a value in a ConfigMap or a Secret.
type dataValue struct {
	node    *node
	encoded bool // it is base64
}

// dataOf returns the values of a ConfigMap or a Secret, or nil for other kinds. A text in
// stringData replaces the one of its key in data.
func dataOf(r *resource) []dataValue {
	if r.group != "" || r.Kind != "ConfigMap" && r.Kind != "Secret" {
		return nil
	}
	values := []dataValue{}
	texts := r.root.child("stringData")
	for _, in := range []string{"data", "binaryData", "stringData"} {
		m := r.root.child(in)
		if m == nil || in == "binaryData" && r.Kind == "Secret" || in == "stringData" && r.Kind == "ConfigMap" {
			continue
		}
		for _, f := range m.fields {
			if in != "data" || r.Kind == "ConfigMap" || texts.child(f.key) == nil {
				values = append(values, dataValue{node: f.node, encoded: in == "binaryData" || in == "data" && r.Kind == "Secret"})
			}
		}
	}
	return values
}

// checkSize reports annotations and objects that are too large for every server. No result
// of the row has more bytes than longest.
func (f *frame) checkSize(i, longest int, problems *lynq.Problems) {
	r := &f.program.resources[i]
	for j := range r.annotations {
		m := &r.annotations[j]
		if size := m.upper(f, longest, 1, maxAnnotations); size > maxAnnotations {
			f.fail(problems, m.at, "", "its annotations have %d bytes, at most %d are allowed", size, maxAnnotations)
		}
	}
	f.checkTabs(r, problems)
	switch {
	case r.data != nil:
		if r.size.upper(f, longest, 1, maxData) <= maxData {
			return
		}
		size := 0
		for _, v := range r.data {
			size += f.dataSize(v)
		}
		if size > maxData {
			f.fail(problems, r.size.at, "", "its data has %d bytes, at most %d are allowed in a %s", size, maxData, r.Kind)
		}
	case r.size.upper(f, longest, maxEscape, maxObject) > maxObject:
		body, err := f.body(nil, i)
		if err == nil && len(body) > maxObject { // rendering reports the error
			f.fail(problems, r.size.at, "", "it is too large: it has %d bytes as JSON, and an API server takes at most %d", len(body), maxObject)
		}
	}
}

// dataSize returns the bytes of a value in a ConfigMap or a Secret, as the server counts
// them.
func (f *frame) dataSize(v dataValue) int {
	if v.node.kind != document.String && v.node.slot == noSlot {
		return 0
	}
	text := f.textOf(v.node)
	if !v.encoded {
		return len(text)
	}
	size := len(text) - bytes.Count(text, []byte("\n")) - bytes.Count(text, []byte("\r"))
	return base64.StdEncoding.DecodedLen(size) - bytes.Count(text, []byte("="))
}

// checkTabs reports annotations that kustomize can't build.
func (f *frame) checkTabs(r *resource, problems *lynq.Problems) {
	if !f.program.kustomize {
		return
	}
	for _, slot := range r.annotations[0].slots {
		if scalar.Tabbed(f.results.Bytes(slot)) {
			f.failExpr(problems, &f.program.uses[slot], tabbedAnnotationError{})
		}
	}
}
