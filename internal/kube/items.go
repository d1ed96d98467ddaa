package kube

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// readItems reads one page of a list, one object at a time, so that memory holds only one
// in addition to what each keeps. The objects have no managedFields, but the text of each
// has them. An incomplete page is an error.
func readItems(body io.Reader, r lynq.APIResource, each func(o *unstructured.Unstructured, text []byte)) (metav1.ListMeta, error) {
	in := bufio.NewReader(body)
	start, _ := in.Peek(beginning) // a shorter answer fails during decoding
	p := &pageReader{decoder: json.NewDecoder(in), resource: r, each: each}
	err := p.object(p.member)
	if err != nil && !passing(err) {
		err = strange(start, err)
	}
	return p.meta, err
}

type pageReader struct {
	decoder  *json.Decoder
	resource lynq.APIResource
	each     func(*unstructured.Unstructured, []byte)
	meta     metav1.ListMeta
}

// object reads an object. member reads each of its members.
func (p *pageReader) object(member func(name string) error) error {
	if err := p.delimiter('{'); err != nil {
		return err
	}
	for p.decoder.More() {
		token, err := p.decoder.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string) // JSON has no other keys
		if err := member(name); err != nil {
			return err
		}
	}
	return p.delimiter('}')
}

func (p *pageReader) delimiter(want json.Delim) error {
	token, err := p.decoder.Token()
	if err == nil && token != want {
		err = fmt.Errorf("there is %v, not %v", token, want)
	}
	return err
}

// member reads a member of the list.
func (p *pageReader) member(name string) error {
	switch name {
	case "metadata":
		return p.decoder.Decode(&p.meta)
	case "items":
		return p.items()
	}
	var other json.RawMessage
	return p.decoder.Decode(&other)
}

func (p *pageReader) items() error {
	token, err := p.decoder.Token()
	if err != nil || token == nil { // a list without items may have null
		return err
	}
	if token != json.Delim('[') {
		return fmt.Errorf("items is %v, and no list", token)
	}
	for p.decoder.More() {
		var text json.RawMessage
		if err := p.decoder.Decode(&text); err != nil {
			return err
		}
		o := &unstructured.Unstructured{}
		if err := utiljson.Unmarshal(text, &o.Object); err != nil {
			return err
		}
		o.SetAPIVersion(p.resource.APIVersion()) // items of built-in kinds lack it
		o.SetKind(p.resource.Kind)
		o.SetManagedFields(nil)
		p.each(o, text)
	}
	return p.delimiter(']')
}
