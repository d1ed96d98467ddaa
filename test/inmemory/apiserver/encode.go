package apiserver

import (
	"encoding/json"
	"strconv"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// form is the encoding of an answer.
type form int

// The forms. Servers have protobuf for Kubernetes' kinds, and for the metadata of any kind.
const (
	asJSON form = iota
	asMetadata
	asProtobuf
	forms
)

const (
	jsonType     = "application/json"
	protobufType = "application/vnd.kubernetes.protobuf"
	magic        = "k8s\x00"
)

func (f form) contentType() string {
	if f == asJSON {
		return jsonType
	}
	return protobufType
}

// message is a type of k8s.io with generated protobuf code.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// formOf returns the form that a client accepts for a kind. Streams are always JSON here.
func formOf(accept string, k kind, watch bool) form {
	rest, binary := strings.CutPrefix(accept, protobufType)
	switch {
	case !binary || watch:
	case strings.HasPrefix(rest, ";as=PartialObjectMetadata"):
		return asMetadata
	case strings.HasPrefix(rest, ",") && (k.name == "ConfigMap" || k.name == "Lease"):
		return asProtobuf
	}
	return asJSON
}

// encoded returns an object in a form, and caches it. Protobuf lacks its envelope.
func (*Server) encoded(f form, o *stored) (text []byte, err error) {
	if o.encoded[f] != nil {
		return o.encoded[f], nil
	}
	switch f {
	case asMetadata:
		text, err = (&metav1.PartialObjectMetadata{ObjectMeta: o.full()}).Marshal()
	case asProtobuf:
		text, err = o.protobuf()
	default:
		var content map[string]any
		if content, err = o.whole(); err == nil {
			text, err = json.Marshal(content)
		}
	}
	o.encoded[f] = text
	return text, err
}

// protobuf encodes a ConfigMap or a Lease.
func (o *stored) protobuf() ([]byte, error) {
	if o.at.kind == "Lease" {
		lease := &coordinationv1.Lease{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, lease); err != nil {
			return nil, err
		}
		lease.ObjectMeta = o.full()
		return lease.Marshal()
	}
	data, _, err := unstructured.NestedStringMap(o.Object, "data")
	if err != nil {
		return nil, err
	}
	return (&corev1.ConfigMap{ObjectMeta: o.full(), Data: data}).Marshal()
}

// one returns an answer with one object.
func (s *Server) one(q *query, o *stored) ([]byte, error) {
	text, err := s.encoded(q.form, q.show(o))
	if err != nil || q.form == asJSON {
		return text, err
	}
	if q.form == asMetadata {
		return enveloped("meta.k8s.io/v1", "PartialObjectMetadata", text)
	}
	return enveloped(q.kind.apiVersion(), q.kind.name, text)
}

// many returns an answer with all objects of a version in one page.
func (s *Server) many(q *query, objects []*stored, version int) ([]byte, error) {
	meta := metav1.ListMeta{ResourceVersion: strconv.Itoa(version)}
	items := make([][]byte, 0, len(objects))
	for _, o := range objects {
		text, err := s.encoded(q.form, q.show(o))
		if err != nil {
			return nil, err
		}
		items = append(items, text)
	}
	switch q.form {
	case asMetadata:
		return enveloped("meta.k8s.io/v1", "PartialObjectMetadataList", listed(meta, items))
	case asProtobuf:
		return enveloped(q.kind.apiVersion(), q.kind.name+"List", listed(meta, items))
	default:
		return jsonList(q, meta, items), nil
	}
}

// listed returns any list in protobuf: its metadata is field 1, and each item a field 2.
func listed(meta metav1.ListMeta, items [][]byte) []byte {
	head, err := meta.Marshal()
	if err != nil {
		return nil // Marshal never fails, and a list without field 1 is valid
	}
	text := field(nil, 1, head)
	for _, item := range items {
		text = field(text, 2, item)
	}
	return text
}

// field appends a field of bytes.
func field(to []byte, number byte, value []byte) []byte {
	const bytesType = 2
	to = append(to, number<<3|bytesType)
	n := len(value)
	for ; n >= 0x80; n >>= 7 {
		to = append(to, byte(n)|0x80)
	}
	return append(append(to, byte(n)), value...)
}

func jsonList(q *query, meta metav1.ListMeta, items [][]byte) []byte {
	text := []byte(`{"apiVersion":"` + q.shown().apiVersion() + `","kind":"` + q.shown().name + `List","metadata":{"resourceVersion":"` + meta.ResourceVersion + `"},"items":[`)
	for i, item := range items {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, item...)
	}
	return append(text, "]}"...)
}

// enveloped returns a message as Kubernetes sends it.
func enveloped(apiVersion, kind string, raw []byte) ([]byte, error) {
	envelope := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	text, err := envelope.Marshal()
	return append([]byte(magic), text...), err
}
