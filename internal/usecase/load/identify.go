package load

import (
	"errors"
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Identify finds the namespace of each hub. It refuses two hubs that turn out to be the
// same, because one has no namespace in its file and the run supplies the other's. It also
// refuses such forms of one hub.
func (f *RenderOptions) Identify(hubs []HubPrograms) error {
	first := map[lynq.HubKey]*form.Hub{}
	var errs []error
	for i := range hubs {
		h := &hubs[i]
		namespace, err := f.hubNamespace(h.Hub)
		if err != nil {
			return err
		}
		h.Key = lynq.HubKey{Namespace: namespace, Name: h.Hub.Name}
		if other := first[h.Key]; other != nil {
			errs = append(errs, fmt.Errorf("%s: without a namespace of its own this is hub %s, which is also at %s (give it metadata.namespace)", h.Hub.Pos, h.Key, other.Pos))
		}
		first[h.Key] = h.Hub
		errs = append(errs, distinctForms(h))
	}
	return errors.Join(errs...)
}

func distinctForms(h *HubPrograms) error {
	first := map[lynq.FormKey]*form.Form{}
	var errs []error
	for _, p := range h.Programs {
		key := FormKey(p.Form, h.Key.Namespace)
		if other := first[key]; other != nil {
			errs = append(errs, fmt.Errorf("%s: without a namespace of its own this is form %s, which is also at %s (give it metadata.namespace)", p.Form.Pos, key, other.Pos))
		}
		first[key] = p.Form
	}
	return errors.Join(errs...)
}

// hubNamespace returns the namespace of a hub's records.
func (f *RenderOptions) hubNamespace(h *form.Hub) (string, error) {
	for _, ns := range []string{h.Namespace, f.Namespace} {
		if ns != "" {
			return ns, nil
		}
	}
	ns, err := f.Access.Namespace()
	if err != nil || ns != "" {
		return ns, err
	}
	return "default", nil
}
