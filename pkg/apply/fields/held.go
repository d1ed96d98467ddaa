package fields

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// WithoutHeld returns a manifest without values that only one object can have at a time,
// and that the live object has. These are a Service's addresses and node ports. It doesn't
// change the manifest.
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
