package fields

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/test/sites"
)

// TestWithoutHeld checks that values of the live Service alone are left out. Values of
// another Service remain, so that the server refuses them.
func TestWithoutHeld(t *testing.T) {
	live := &unstructured.Unstructured{Object: sites.Parse(t, `
apiVersion: v1
kind: Service
spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], healthCheckNodePort: 30001, ports: [{port: 80, nodePort: 30080}, {port: 81, nodePort: 30081}]}
`)}
	for name, tt := range map[string]struct{ manifest, want string }{
		"its own": {
			`{apiVersion: v1, kind: Service, spec: {type: NodePort, clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], healthCheckNodePort: 30001, ports: [{port: 90, nodePort: 30080}]}}`,
			`{apiVersion: v1, kind: Service, spec: {type: NodePort, ports: [{port: 90}]}}`,
		},
		"others'": {
			`{apiVersion: v1, kind: Service, spec: {clusterIP: 10.0.0.2, ports: [{port: 90, nodePort: 30090}, {port: 91}]}}`,
			`{apiVersion: v1, kind: Service, spec: {clusterIP: 10.0.0.2, ports: [{port: 90, nodePort: 30090}, {port: 91}]}}`,
		},
		"another kind": {
			`{apiVersion: example.com/v1, kind: Service, spec: {clusterIP: 10.0.0.1}}`,
			`{apiVersion: example.com/v1, kind: Service, spec: {clusterIP: 10.0.0.1}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			manifest := sites.Parse(t, tt.manifest)
			if diff := cmp.Diff(sites.Parse(t, tt.want), WithoutHeld(manifest, live)); diff != "" {
				t.Errorf("%s", diff)
			}
			if diff := cmp.Diff(sites.Parse(t, tt.manifest), manifest); diff != "" {
				t.Errorf("the manifest has changed: %s", diff)
			}
		})
	}
}
