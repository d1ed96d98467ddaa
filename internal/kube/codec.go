package kube

import (
	"bytes"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

// magic begins every message in Kubernetes' protobuf.
const magic = "k8s\x00"

// message is a type of k8s.io with generated protobuf code.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// encode returns an object as protobuf.
func encode(apiVersion, kind string, m message) ([]byte, error) {
	raw, err := m.Marshal()
	if err != nil {
		return nil, err
	}
	envelope := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	body, err := envelope.Marshal()
	return append([]byte(magic), body...), err
}

// decode decodes protobuf or JSON into out. It returns an error for other kinds.
func decode(body []byte, out message, kinds ...string) error {
	if inner, binary := bytes.CutPrefix(body, []byte(magic)); binary {
		var envelope runtime.Unknown
		if err := envelope.Unmarshal(inner); err != nil {
			return strange(body, err)
		}
		if err := expect(envelope.Kind, kinds); err != nil {
			return strange(body, err)
		}
		return out.Unmarshal(envelope.Raw)
	}
	var head metav1.TypeMeta
	if err := json.Unmarshal(body, &head); err != nil {
		return strange(body, err)
	}
	if err := expect(head.Kind, kinds); err != nil {
		return strange(body, err)
	}
	return json.Unmarshal(body, out)
}

// decodeObject decodes an object of a kind from JSON. Numbers become int64 and float64.
func decodeObject(body []byte, kind string) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	if err := json.Unmarshal(body, &obj.Object); err != nil {
		return nil, strange(body, err)
	}
	if err := expect(obj.GetKind(), []string{kind}); err != nil {
		return nil, strange(body, err)
	}
	return obj, nil
}

// expect returns an error if an answer has another kind than the request.
func expect(kind string, kinds []string) error {
	if slices.Contains(kinds, kind) {
		return nil
	}
	return fmt.Errorf("it is of kind %q, not %s", kind, kinds[0])
}

// beginning limits how many bytes of an undecodable answer an error shows.
const beginning = 60

// strange returns the error for an undecodable answer. It shows only the answer's
// beginning, and none of it if it may be an object.
func strange(body []byte, err error) error {
	if start := bytes.TrimSpace(body[:min(len(body), beginning)]); bytes.HasPrefix(start, []byte("<")) {
		return fmt.Errorf("the answer is not a Kubernetes object, and begins with %q", start)
	}
	return fmt.Errorf("lynqctl can't decode the answer: %w", err)
}
