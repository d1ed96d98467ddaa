package lynq_test

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func TestNamesChoose(t *testing.T) {
	for _, test := range []struct {
		names           lynq.Names
		namespace, name string
		want            bool
	}{
		{nil, "a", "crm", true},
		{lynq.Names{"crm"}, "a", "crm", true},
		{lynq.Names{"crm"}, "", "crm", true},
		{lynq.Names{"a/crm"}, "a", "crm", true},
		{lynq.Names{"a/crm"}, "b", "crm", false},
		{lynq.Names{"/crm"}, "", "crm", false},
		{lynq.Names{"web", "b/crm"}, "b", "crm", true},
		{lynq.Names{"a"}, "a", "crm", false},
	} {
		if got := test.names.Choose(test.namespace, test.name); got != test.want {
			t.Errorf("%q choose %s/%s: %t", test.names, test.namespace, test.name, got)
		}
	}
}
