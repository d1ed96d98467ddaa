package e2e_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// content KIND/NAME FILE writes an object's content to a file, for a later comparison.
func (s *script) content(ts *testscript.TestScript, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: content KIND/NAME FILE")
	}
	o := s.env.Get(s.t, args[0])
	timeless(o)
	text, err := yaml.Marshal(o.Object)
	if err != nil {
		return err
	}
	return os.WriteFile(ts.MkAbs(args[1]), text, 0o600)
}

// timeless removes the fields that every write changes, and the status.
func timeless(o *unstructured.Unstructured) {
	delete(o.Object, "status")
	o.SetResourceVersion("")
	o.SetGeneration(0)
	annotations := o.GetAnnotations()
	delete(annotations, "deployment.kubernetes.io/revision")
	o.SetAnnotations(annotations)
	if len(annotations) == 0 {
		unstructured.RemoveNestedField(o.Object, "metadata", "annotations")
	}
	entries := o.GetManagedFields()
	for i := range entries {
		entries[i].Time = nil
	}
	slices.SortFunc(entries, func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Subresource, b.Subresource))
	})
	o.SetManagedFields(slices.DeleteFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "status" }))
}

// during VERB RESOURCE ARGUMENT... lets another client run kubectl while the next such
// request is in progress. write stands for any verb that changes something, without dry
// runs.
func (s *script) during(_ *testscript.TestScript, args []string) error {
	if s.proxy == nil || len(args) < 3 {
		return fmt.Errorf("usage, after proxy: during VERB RESOURCE ARGUMENT...")
	}
	rule := faultproxy.Rule{
		Verb: args[0], Resource: args[1], Match: s.own,
		// Once: a request that comes meanwhile also waits, such as a retry.
		Before: sync.OnceFunc(func() {
			if _, err := s.env.TryKubectl(s.t, "", args[2:]...); err != nil {
				s.t.Error(err)
			}
		}),
	}
	if rule.Verb == "write" {
		rule.Verb, rule.Match = "", func(r faultproxy.Request) bool { return r.IsWrite() && s.own(r) }
	}
	s.rules = append(s.rules, rule)
	s.proxy.SetRules(s.rules...)
	s.proxy.Reset()
	return nil
}
