package fields

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// WithoutHeld is a manifest without what only one object can have at a time, and the
// live one has: a Service's addresses and node ports. The manifest is not changed.
func WithoutHeld(manifest map[string]any, live *unstructured.Unstructured) map[string]any {
	if _, ok := manifest["spec"].(map[string]any); !ok || manifest["apiVersion"] != "v1" || manifest["kind"] != "Service" {
		return manifest
	}
	manifest = runtime.DeepCopyJSON(manifest)
	spec, _ := manifest["spec"].(map[string]any)
	held, _ := live.Object["spec"].(map[string]any)
	if spec["clusterIP"] != "None" && reflect.DeepEqual(spec["clusterIP"], held["clusterIP"]) {
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	}
	if reflect.DeepEqual(spec["healthCheckNodePort"], held["healthCheckNodePort"]) {
		delete(spec, "healthCheckNodePort")
	}
	taken := map[any]bool{}
	ports, _ := held["ports"].([]any)
	for _, port := range ports {
		if port, ok := port.(map[string]any); ok {
			taken[port["nodePort"]] = true
		}
	}
	ports, _ = spec["ports"].([]any)
	for _, port := range ports {
		if port, ok := port.(map[string]any); ok && taken[port["nodePort"]] {
			delete(port, "nodePort")
		}
	}
	return manifest
}
