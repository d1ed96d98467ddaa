package plan

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestEnds checks which objects end by themselves. The form alone decides that, and not the
// entry.
func TestEnds(t *testing.T) {
	pod := func(policy string) map[string]any {
		spec := map[string]any{}
		if policy != "" {
			spec["restartPolicy"] = policy
		}
		return map[string]any{"spec": spec}
	}
	hinted := func(condition string) map[string]any { return map[string]any{"readiness": condition} }
	for name, tt := range map[string]struct {
		ref     lynq.Ref
		content map[string]any
		want    bool
	}{
		"a Job":                   {lynq.Ref{Group: "batch", Kind: "Job"}, map[string]any{}, true},
		"a Job of another group":  {lynq.Ref{Group: "example.com", Kind: "Job"}, map[string]any{}, false},
		"a CronJob":               {lynq.Ref{Group: "batch", Kind: "CronJob"}, map[string]any{}, false},
		"a Pod with the default":  {lynq.Ref{Kind: "Pod"}, pod(""), false},
		"a Pod, Always":           {lynq.Ref{Kind: "Pod"}, pod("Always"), false},
		"a Pod, OnFailure":        {lynq.Ref{Kind: "Pod"}, pod("OnFailure"), true},
		"a Pod, Never":            {lynq.Ref{Kind: "Pod"}, pod("Never"), true},
		"a ConfigMap":             {lynq.Ref{Kind: "ConfigMap"}, map[string]any{}, false},
		"a RoleBinding":           {lynq.Ref{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}, map[string]any{}, false},
		"a Deployment":            {lynq.Ref{Group: "apps", Kind: "Deployment"}, map[string]any{}, false},
		"a Pod of another group":  {lynq.Ref{Group: "example.com", Kind: "Pod"}, pod("Never"), false},
		"a custom Task, complete": {lynq.Ref{Group: "example.com", Kind: "Task"}, map[string]any{}, false},
		"a custom Task, Ready":    {lynq.Ref{Group: "example.com", Kind: "Task"}, hinted("Ready"), false},
		"a custom Task, done":     {lynq.Ref{Group: "example.com", Kind: "Task"}, hinted("Succeeded"), true},
		"a RoleBinding, done":     {lynq.Ref{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}, hinted("Succeeded"), false},
		"a Pod, done":             {lynq.Ref{Kind: "Pod"}, hinted("Complete"), true},
	} {
		t.Run(name, func(t *testing.T) {
			tt.ref.Namespace, tt.ref.Name = "ns", "a"
			p := lynq.DefaultPolicy()
			if condition, is := tt.content["readiness"].(string); is {
				p.Readiness, tt.content = &lynq.Readiness{Conditions: []string{condition}}, map[string]any{}
			}
			o := makeOne(t, tt.ref, p, "", tt.content)
			r := &inventory.Entry{Ref: tt.ref, UID: "u", Digest: o.Digest, Ended: true}
			if o.Ends != tt.want || o.Ended(r) != tt.want {
				t.Errorf("ends %t, ended %t", o.Ends, o.Ended(r))
			}
		})
	}
}
