package handover

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// These identify the operator in a cluster: the Lease by which its instances elect one, and
// the labels of its Deployment, which its chart and its kustomization set.
const (
	// OperatorSelector selects its Deployment and its pods, and those of many other
	// controllers.
	OperatorSelector = "control-plane=controller-manager"
	operatorLease    = "f2130106.lynq.sh"
	labelApp         = "app.kubernetes.io/name"
	labelComponent   = "app.kubernetes.io/component"
	operatorImage    = "lynq"
	defaultLease     = 15 * time.Second
)

// Running has the signs of an operator that runs.
type Running struct {
	// Leases are all Leases. Deployments and Pods are those that OperatorSelector selects.
	Leases, Deployments, Pods []*unstructured.Unstructured
	Now                       time.Time
}

// Refusals lists the signs that the operator still runs. It would write to the objects that
// lynqctl takes over, and create its LynqNodes again. It is a pure function.
func (r *Running) Refusals() []plan.Refusal {
	var refusals []plan.Refusal
	refuse := func(fix, format string, args ...any) {
		refusals = append(refusals, plan.Refusal{Guard: plan.GuardOperator, What: "the Lynq operator runs: " + fmt.Sprintf(format, args...), Fix: fix})
	}
	for _, d := range r.Deployments {
		labels, _, _ := unstructured.NestedStringMap(d.Object, "spec", "template", "metadata", "labels")
		replicas, said, _ := unstructured.NestedInt64(d.Object, "spec", "replicas")
		if isOperator(d, labels, "spec", "template", "spec", "containers") && (replicas > 0 || !said) {
			if !said {
				replicas = 1 // the default
			}
			refuse(fmt.Sprintf("stop it: kubectl scale -n %s deployment/%s --replicas=0", d.GetNamespace(), d.GetName()),
				"Deployment %s/%s is to have %s", d.GetNamespace(), d.GetName(), phrase.Count(replicas, "replica"))
		}
	}
	for _, p := range r.Pods {
		phase, _, _ := unstructured.NestedString(p.Object, "status", "phase")
		if isOperator(p, p.GetLabels(), "spec", "containers") && phase != "Succeeded" && phase != "Failed" {
			refuse(fmt.Sprintf("scale what made it to 0, and wait: kubectl wait -n %s pod/%s --for=delete --timeout=60s", p.GetNamespace(), p.GetName()),
				"pod %s/%s is there", p.GetNamespace(), p.GetName())
		}
	}
	for _, l := range r.Leases {
		if holder, age, left := held(l, r.Now); left > 0 {
			refuse(fmt.Sprintf("when it has stopped, that ends in %s by itself (if it never does, a clock is wrong: kubectl delete -n %s lease/%s)", left.Round(time.Second), l.GetNamespace(), operatorLease),
				"%s renewed its Lease %s/%s %s ago", holder, l.GetNamespace(), operatorLease, age.Round(time.Second))
		}
	}
	return refusals
}

// isOperator reports whether a Deployment or a pod is the operator, by its labels or its
// image, and not its dashboard.
func isOperator(o *unstructured.Unstructured, labels map[string]string, containers ...string) bool {
	if labels[labelComponent] == "dashboard" {
		return false
	}
	if slices.Contains([]string{"lynq", "lynq-operator"}, labels[labelApp]) {
		return true
	}
	list, _, _ := unstructured.NestedSlice(o.Object, containers...)
	return slices.ContainsFunc(list, func(c any) bool {
		container, _ := c.(map[string]any)
		image, _ := container["image"].(string)
		name, _, _ := strings.Cut(path.Base(image), "@")
		name, _, _ = strings.Cut(name, ":")
		return name == operatorImage
	})
}

// held returns who holds the operator's Lease, the time since its renewal, and the time until it
// ends. left is 0 if nobody holds it, or if it is another Lease.
func held(l *unstructured.Unstructured, now time.Time) (holder string, age, left time.Duration) {
	if l.GetName() != operatorLease {
		return "", 0, 0
	}
	holder, _, _ = unstructured.NestedString(l.Object, "spec", "holderIdentity")
	text, _, _ := unstructured.NestedString(l.Object, "spec", "renewTime")
	renewed, err := time.Parse(time.RFC3339, text)
	if holder == "" || err != nil {
		return "", 0, 0
	}
	duration := defaultLease
	if seconds, _, _ := unstructured.NestedInt64(l.Object, "spec", "leaseDurationSeconds"); seconds > 0 {
		duration = time.Duration(seconds) * time.Second
	}
	age = now.Sub(renewed)
	return holder, age, duration - age
}
