package kube

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
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
		kind, raw, err := opened(inner)
		if err == nil {
			err = expect(kind, kinds)
		}
		if err == nil && raw == nil {
			err = errors.New("it has no content") // it would count as an empty list
		}
		if err != nil {
			return strange(body, err)
		}
		return out.Unmarshal(raw)
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

// The numbers of an envelope's fields, see runtime.Unknown.
const (
	envelopeType = 1
	envelopeRaw  = 2
	typeKind     = 2
)

// opened returns the kind and the content of an envelope. runtime.Unknown would copy the
// content, which may be a page of a list.
func opened(envelope []byte) (kind string, raw []byte, err error) {
	err = eachBytes(envelope, func(field protowire.Number, value []byte) error {
		switch field {
		case envelopeRaw:
			raw = value
		case envelopeType:
			return eachBytes(value, func(field protowire.Number, value []byte) error {
				if field == typeKind {
					kind = string(value)
				}
				return nil
			})
		}
		return nil
	})
	return kind, raw, err
}

// eachBytes calls a function for each field of a protobuf message that has bytes, and skips
// the others.
func eachBytes(message []byte, each func(field protowire.Number, value []byte) error) error {
	for len(message) > 0 {
		field, sort, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(field, sort, message); n < 0 {
			return protowire.ParseError(n)
		}
		if sort == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message[:n]) // its length was checked above
			if err := each(field, value); err != nil {
				return err
			}
		}
		message = message[n:]
	}
	return nil
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
