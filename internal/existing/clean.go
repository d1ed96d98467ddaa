package existing

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// fields is a part of an object.
type fields = map[string]any

// at returns a map in a map, or nil. Its methods work on nil.
func at(m fields, path ...string) fields {
	for _, key := range path {
		m, _ = m[key].(fields)
	}
	return m
}

// each calls f for each map in a list.
func each(list any, f func(fields)) {
	items, _ := list.([]any)
	for _, item := range items {
		if m, ok := item.(fields); ok {
			f(m)
		}
	}
}

// drop deletes keys of a map.
func drop(m fields, keys ...string) {
	for _, key := range keys {
		delete(m, key)
	}
}

// dropEqual deletes the fields of a map that have these values as JSON.
func dropEqual(m fields, defaults string) {
	var known fields
	if json.Unmarshal([]byte(defaults), &known) != nil {
		return
	}
	for key, value := range known {
		if found, ok := m[key]; ok && same(found, value) {
			delete(m, key)
		}
	}
}

// same compares values as JSON, because numbers have several types.
func same(a, b any) bool {
	left, err := json.Marshal(a)
	right, other := json.Marshal(b)
	return err == nil && other == nil && reflect.DeepEqual(left, right)
}

// clean removes from an object what the server and controllers set, and the defaults of
// Kubernetes. A field that a form doesn't set stays as it is in an adopted object. Defaults
// within a field that has one manager as a whole, such as fieldRef, stay: without them, the
// field would have another value.
func clean(group, kind string, o fields) {
	drop(o, "status")
	metadata := at(o, "metadata")
	for key := range metadata {
		if !slices.Contains([]string{"name", "labels", "annotations"}, key) {
			delete(metadata, key)
		}
	}
	maps.DeleteFunc(at(metadata, "annotations"), func(key string, _ any) bool { return setByOthers(key) })
	drop(at(metadata, "labels"), "kubernetes.io/metadata.name")
	spec := at(o, "spec")
	switch {
	case group == "apps":
		cleanWorkload(kind, spec)
	case group == "batch":
		cleanJobs(kind, o)
	case group != "":
	case kind == "Service":
		cleanService(spec)
	case kind == "Namespace":
		drop(o, "spec")
	case kind == "ServiceAccount":
		drop(o, "secrets")
	case kind == "Secret":
		drop(o, "data", "stringData", "immutable")
	case kind == "PersistentVolumeClaim":
		drop(spec, "volumeName")
		dropEqual(spec, `{"volumeMode":"Filesystem"}`)
	case kind == "PersistentVolume":
		drop(spec, "claimRef")
		dropEqual(spec, `{"volumeMode":"Filesystem"}`)
	}
	if kind == "ClusterRole" && o["aggregationRule"] != nil {
		drop(o, "rules")
	}
	withoutNulls(o)
	for _, key := range []string{"labels", "annotations"} {
		if len(at(metadata, key)) == 0 {
			delete(metadata, key)
		}
	}
}

// setByOthers reports whether controllers or kubectl set an annotation.
func setByOthers(key string) bool {
	for _, prefix := range []string{"pv.kubernetes.io/", "meta.helm.sh/", "autoscaling.alpha.kubernetes.io/", "batch.kubernetes.io/"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return slices.Contains([]string{
		"kubectl.kubernetes.io/last-applied-configuration", "kubectl.kubernetes.io/restartedAt", "deployment.kubernetes.io/revision",
		"deprecated.daemonset.template.generation", "volume.beta.kubernetes.io/storage-provisioner",
		"volume.kubernetes.io/storage-provisioner", "volume.kubernetes.io/selected-node", "control-plane.alpha.kubernetes.io/leader",
	}, key)
}

// withoutNulls deletes null, which forms refuse.
func withoutNulls(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			withoutNulls(item)
		}
	case fields:
		for key, value := range v {
			if value == nil {
				delete(v, key)
			}
			withoutNulls(value)
		}
	}
}

// cleanWorkload removes defaults of a Deployment, a StatefulSet or a DaemonSet.
func cleanWorkload(kind string, spec fields) {
	dropEqual(spec, map[string]string{
		"Deployment": `{"progressDeadlineSeconds":600,"revisionHistoryLimit":10,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}}}`,
		"StatefulSet": `{"revisionHistoryLimit":10,"podManagementPolicy":"OrderedReady","updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0}},
			"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Retain"}}`,
		"DaemonSet": `{"revisionHistoryLimit":10,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":0,"maxUnavailable":1}}}`,
	}[kind])
	each(spec["volumeClaimTemplates"], func(claim fields) {
		drop(claim, "status")
		dropEqual(at(claim, "spec"), `{"volumeMode":"Filesystem"}`)
	})
	cleanTemplate(at(spec, "template"))
}

// cleanJobs removes defaults of a Job or a CronJob, and the labels that the server gives each
// Job.
func cleanJobs(kind string, o fields) {
	job := at(o, "spec")
	if kind == "CronJob" {
		dropEqual(job, `{"concurrencyPolicy":"Allow","failedJobsHistoryLimit":1,"successfulJobsHistoryLimit":3,"suspend":false}`)
		if metadata := at(job, "jobTemplate", "metadata"); len(metadata) == 0 || same(metadata, fields{"creationTimestamp": nil}) {
			drop(at(job, "jobTemplate"), "metadata")
		}
		job = at(job, "jobTemplate", "spec")
	}
	labels := []string{"controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"}
	if job["manualSelector"] != true {
		drop(job, "selector")
		drop(at(job, "template", "metadata", "labels"), labels...)
	}
	drop(at(o, "metadata", "labels"), labels...)
	dropEqual(job, `{"backoffLimit":6,"completionMode":"NonIndexed","completions":1,"parallelism":1,"suspend":false,"podReplacementPolicy":"TerminatingOrFailed","manualSelector":false}`)
	cleanTemplate(at(job, "template"))
}

// cleanService removes what the server allocates.
func cleanService(spec fields) {
	if spec["clusterIP"] != "None" {
		drop(spec, "clusterIP")
	}
	drop(spec, "clusterIPs", "ipFamilies", "healthCheckNodePort")
	dropEqual(spec, `{"ipFamilyPolicy":"SingleStack","internalTrafficPolicy":"Cluster","sessionAffinity":"None","type":"ClusterIP","externalTrafficPolicy":"Cluster","allocateLoadBalancerNodePorts":true}`)
	each(spec["ports"], func(port fields) {
		drop(port, "nodePort")
		dropEqual(port, `{"protocol":"TCP"}`)
	})
}

// cleanTemplate removes defaults of pods.
func cleanTemplate(template fields) {
	metadata, pod := at(template, "metadata"), at(template, "spec")
	drop(metadata, "creationTimestamp")
	maps.DeleteFunc(at(metadata, "annotations"), func(key string, _ any) bool { return setByOthers(key) })
	if len(at(metadata, "annotations")) == 0 {
		drop(metadata, "annotations")
	}
	if len(metadata) == 0 {
		drop(template, "metadata")
	}
	dropEqual(pod, `{"restartPolicy":"Always","dnsPolicy":"ClusterFirst","schedulerName":"default-scheduler","terminationGracePeriodSeconds":30,"securityContext":{}}`)
	if pod["serviceAccountName"] != nil {
		drop(pod, "serviceAccount") // the old name of the same field
	}
	for _, list := range []string{"containers", "initContainers"} {
		each(pod[list], cleanContainer)
	}
	each(pod["volumes"], func(volume fields) {
		for key := range volume {
			dropEqual(at(volume, key), `{"defaultMode":420}`)
		}
	})
}

// cleanContainer removes defaults of a container.
func cleanContainer(c fields) {
	dropEqual(c, `{"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","resources":{}}`)
	image, _ := c["image"].(string)
	if policy := c["imagePullPolicy"]; policy == pullPolicy(image) {
		drop(c, "imagePullPolicy")
	}
	each(c["ports"], func(port fields) { dropEqual(port, `{"protocol":"TCP"}`) })
	for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		p := at(c, probe)
		dropEqual(p, `{"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3}`)
		dropEqual(at(p, "httpGet"), `{"scheme":"HTTP"}`)
	}
}

// pullPolicy returns the default of imagePullPolicy for an image.
func pullPolicy(image string) string {
	name := image[strings.LastIndexByte(image, '/')+1:]
	if _, digest, found := strings.Cut(name, "@"); found && digest != "" {
		return "IfNotPresent"
	}
	if _, tag, found := strings.Cut(name, ":"); !found || tag == "latest" {
		return "Always"
	}
	return "IfNotPresent"
}
