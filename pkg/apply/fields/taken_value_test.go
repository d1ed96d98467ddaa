package fields

import "testing"

// TestHasTaken checks that an object has a contested value only in the same field, and all
// values that the message names.
func TestHasTaken(t *testing.T) {
	service := func(nodePort int64, ip string) map[string]any {
		return map[string]any{"kind": "Service", "spec": map[string]any{
			"clusterIP": ip, "selector": map[string]any{"app": "acme"},
			"ports": []any{map[string]any{"port": int64(80), "nodePort": nodePort}},
		}}
	}
	ingress := func(host, path string) map[string]any {
		return map[string]any{"spec": map[string]any{"rules": []any{map[string]any{"host": host, "http": map[string]any{"paths": []any{map[string]any{"path": path}}}}}}}
	}
	const port, ip = "Invalid value: 30271: provided port is already allocated", `Invalid value: ["10.0.0.5"]: failed to allocate IP 10.0.0.5: provided IP is already allocated`
	const host = `admission webhook "ingress.example.com" denied the request: host "a.example.com" and path "/" is already defined in ingress shop/old`
	for name, tt := range map[string]struct {
		manifest, live map[string]any
		message        string
		want           bool
	}{
		"the node port":           {service(30271, ""), service(30271, ""), port, true},
		"another node port":       {service(30271, ""), service(30272, ""), port, false},
		"a longer number":         {service(3027, ""), service(3027, ""), port, false},
		"the address":             {service(1, "10.0.0.5"), service(2, "10.0.0.5"), ip, true},
		"another address":         {service(1, "10.0.0.5"), service(1, "10.0.0.50"), ip, false},
		"the value elsewhere":     {service(30271, ""), map[string]any{"spec": map[string]any{"healthCheckNodePort": int64(30271)}}, port, false},
		"the host and path":       {ingress("a.example.com", "/"), ingress("a.example.com", "/"), host, true},
		"the path of other hosts": {ingress("a.example.com", "/"), ingress("b.example.com", "/"), host, false},
		"the host, another path":  {ingress("a.example.com", "/"), ingress("a.example.com", "/b"), host, false},
		"no value named":          {service(30271, ""), service(30271, ""), "provided port is already allocated", false},
		"only metadata": {map[string]any{"metadata": map[string]any{"name": "acme"}}, map[string]any{"metadata": map[string]any{"name": "acme"}},
			`Service "acme" is already in use`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := HasTaken(tt.manifest, tt.live, tt.message); got != tt.want {
				t.Errorf("%t", got)
			}
		})
	}
}
