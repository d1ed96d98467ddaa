package lynq_test

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func TestExclusions(t *testing.T) {
	rules := lynq.Exclusions{
		{Kind: "KubeDescheduler", Name: "cluster"},
		{Kind: "ConfigMap", Namespace: "openshift-cnv", Name: "virt-*"},
		{Kind: "Service", Namespace: "prod-*", Name: "metrics"},
		{Kind: "Secret", Name: "credentials-*"},
		{Kind: "Ingress", Name: "*-config", Namespace: "*"},
	}
	for _, tt := range []struct {
		kind, namespace, name string
		excluded              bool
	}{
		{"KubeDescheduler", "", "cluster", true},
		{"KubeDescheduler", "", "cluster2", false},
		{"kubedescheduler", "", "cluster", false}, // kinds are exact
		{"ConfigMap", "openshift-cnv", "virt-handler", true},
		{"ConfigMap", "openshift-cnv", "virt-", true},
		{"ConfigMap", "openshift-cnv", "my-virt-handler", false},
		{"ConfigMap", "openshift", "virt-handler", false},
		{"Service", "prod-eu", "metrics", true},
		{"Service", "staging", "metrics", false},
		{"Service", "", "metrics", false},
		{"Secret", "any", "credentials-db", true},
		{"Secret", "", "credentials-db", true},
		{"Ingress", "any", "web-config", true},
		{"Ingress", "", "web-config", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ref := lynq.Ref{Kind: tt.kind, Namespace: tt.namespace, Name: tt.name}
			if got := rules.Find(ref) != nil; got != tt.excluded {
				t.Errorf("%s is excluded: %v, want %v", ref, got, tt.excluded)
			}
		})
	}
}
