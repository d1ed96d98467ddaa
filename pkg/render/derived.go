package render

import (
	"fmt"
	"strconv"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// revisionSuffix is a dash and the hash of a Pod template (k8s.io/kubernetes:
// controller.ComputeHash has up to 10 characters).
const revisionSuffix = 11

// jobSuffix is a dash and the minutes since 1970, which CronJobs add for their Jobs
// (k8s.io/kubernetes: pkg/controller/cronjob, getJobName). They have 8 digits until 2160.
const jobSuffix = 9

// narrowed returns the rule for the names of a kind whose controller makes other names
// from them. The server accepts longer ones, but then the controller creates nothing.
func narrowed(rule nameRule, group, kind string) nameRule {
	switch {
	case group == "apps" && kind == "Deployment":
		rule.max, rule.why = 253-revisionSuffix, "its ReplicaSets get names with 11 characters more"
	case group == "apps" && kind == "DaemonSet":
		rule.max, rule.why = 253-revisionSuffix, "its ControllerRevisions get names with 11 characters more"
	case group == "apps" && kind == "StatefulSet":
		rule.form, rule.max, rule.why = nameLabel, maxLabelValue-revisionSuffix, "its Pods get a label with the name and 11 characters more"
	}
	return rule
}

// indexed is an indexed Job, or a CronJob with one. The host names of its Pods have the
// Job's name and the index (k8s.io/kubernetes: batch validation, maximumPodHostname).
type indexed struct {
	mode, completions *node
	suffix            int // characters that a CronJob adds for the Job
}

// indexedOf returns the Job in a manifest that may be indexed, or nil.
func indexedOf(group, kind string, root *node) *indexed {
	spec, suffix := root.child("spec"), 0
	switch {
	case group != "batch":
		return nil
	case kind == "CronJob":
		spec, suffix = spec.child("jobTemplate", "spec"), jobSuffix
	case kind != "Job":
		return nil
	}
	i := &indexed{mode: spec.child("completionMode"), completions: spec.child("completions"), suffix: suffix}
	if i.mode == nil || i.completions == nil {
		return nil
	}
	return i
}

// checkIndexed reports a name that is too long for the host names of an indexed Job.
func (f *frame) checkIndexed(r *resource, problems *lynq.Problems) {
	if string(f.textOf(r.indexed.mode)) != "Indexed" {
		return
	}
	completions := f.count(r.indexed.completions)
	if completions <= 0 {
		return // the server refuses it, or the Job has no Pods
	}
	suffix := r.indexed.suffix + 1 + len(strconv.FormatInt(completions-1, 10))
	rule := nameRule{
		form: nameLabel, max: maxLabelValue - suffix, what: r.name.rule.what,
		why: fmt.Sprintf("the host names of its Pods have %d characters more", suffix),
	}
	f.checkNameBy(&r.name, rule, problems)
}

// count returns the value of a node that is an integer, or 0.
func (f *frame) count(n *node) int64 {
	if n.kind == document.Int {
		return n.value.Int
	}
	i, err := strconv.ParseInt(string(f.textOf(n)), 10, 64)
	if err != nil {
		return 0
	}
	return i
}

// podNames compiles names in a StatefulSet that the names of its Pods' volumes and hosts
// are made of. Servers before 1.36 accept others, and then the Pods are never created.
func (c *compiler) podNames(r *resource) []checkedName {
	if r.group != "apps" || r.Kind != "StatefulSet" {
		return nil
	}
	var names []checkedName
	spec, source := r.root.child("spec"), r.Manifest.Field("spec")
	label := func(n *node, v *document.Value, path ...string) {
		if v == nil || v.Kind != document.String || v.Str == "" {
			return
		}
		rule, at := nameRule{form: nameLabel, max: maxLabelValue, what: "name"}, c.place(v.Pos, fieldPath(path))
		c.checkNameText(n, v.Str, rule, at)
		names = append(names, checkedName{node: n, at: at, rule: rule})
	}
	label(spec.child("serviceName"), source.Field("serviceName"), "spec", "serviceName")
	if claims := source.Field("volumeClaimTemplates"); claims != nil && claims.Kind == document.List {
		for i, claim := range claims.Items {
			n := spec.child("volumeClaimTemplates").items[i].child("metadata", "name")
			label(n, claim.Field("metadata").Field("name"), "spec", "volumeClaimTemplates", "[]", "metadata", "name")
		}
	}
	return names
}

// child returns the node at a path of keys, or nil.
func (n *node) child(path ...string) *node {
	for _, key := range path {
		var next *node
		if n != nil {
			for i := range n.fields {
				if n.fields[i].key == key {
					next = n.fields[i].node
				}
			}
		}
		n = next
	}
	return n
}
