package lynq_test

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
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
		t.Run(test.name, func(t *testing.T) {
			if got := test.names.Choose(test.namespace, test.name); got != test.want {
				t.Errorf("%q choose %s/%s: %t", test.names, test.namespace, test.name, got)
			}
		})
	}
}

func TestShortNames(t *testing.T) {
	s := lynq.ShortNames{}
	for _, key := range []lynq.HubKey{{Namespace: "shop", Name: "crm"}, {Namespace: "shop", Name: "crm"}, {Namespace: "far", Name: "web"}, {Namespace: "shop", Name: "web"}, {Namespace: "", Name: ""}, {Namespace: "shop", Name: ""}} {
		s.See(key.Namespace, key.Name)
	}
	for key, want := range map[lynq.HubKey]string{
		{Namespace: "shop", Name: "crm"}: "crm", {Namespace: "far", Name: "web"}: "far/web", {Namespace: "shop", Name: "web"}: "shop/web", {Namespace: "shop", Name: ""}: "", {Namespace: "shop", Name: "other"}: "other",
	} {
		if got := s.Of(key.Namespace, key.Name); got != want {
			t.Errorf("%v: %q, want %q", key, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"1 node": phrase.Count(1, "node"), "0 nodes": phrase.Count(0, "node"), "1 inventory": phrase.Count(1, "inventory"), "2 inventories": phrase.Count(int64(2), "inventory"),
	} {
		t.Run(want, func(t *testing.T) {
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
