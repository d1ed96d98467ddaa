package existing

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Live is an object of the cluster.
type Live struct {
	Metadata *metav1.PartialObjectMetadata // with managedFields
	Content  *unstructured.Unstructured
}

// Refused returns why a form can't have an object, or nil.
func Refused(l *Live) error {
	m := l.Metadata
	kind := m.GroupVersionKind()
	tools := tracking.Object{Ref: lynq.Ref{Group: kind.Group, Kind: kind.Kind, Namespace: m.Namespace, Name: m.Name}, Labels: m.Labels, Annotations: m.Annotations, Managers: m.ManagedFields}
	controller := metav1.GetControllerOf(m)
	switch {
	case m.DeletionTimestamp != nil:
		return errors.New("it is being deleted (wait until it is gone)")
	case m.Labels[wellknown.LabelNode] != "" || m.Labels[wellknown.LabelRecord] != "" || m.Labels[wellknown.LabelPartOf] != "":
		return errors.New("a node of lynqctl, or an ApplySet, has it already (lynqctl inventory list shows nodes)")
	case controller != nil:
		return fmt.Errorf("%s %s controls it, and would undo changes (name %s/%s instead)", controller.Kind, controller.Name, controller.Kind, controller.Name)
	case strings.HasPrefix(tools.Owner(), "Helm release "):
		return fmt.Errorf("%s has it (run: lynqctl init --from helm %s)", tools.Owner(), m.Annotations["meta.helm.sh/release-name"])
	case tools.Owner() != "":
		return fmt.Errorf("%s has it (have that tool give it up first)", tools.Owner())
	case kind.Kind == "Secret" && l.Content.Object["type"] == "helm.sh/release.v1":
		return errors.New("it is a release of Helm (run: lynqctl init --from helm RELEASE)")
	case kind.Group == "" && slices.Contains([]string{"Pod", "Node", "Event", "Endpoints", "ReplicationController"}, kind.Kind),
		slices.Contains([]string{"apps/ReplicaSet", "apps/ControllerRevision", "coordination.k8s.io/Lease", "discovery.k8s.io/EndpointSlice", "events.k8s.io/Event"}, kind.Group+"/"+kind.Kind),
		kind.Group == wellknown.Group:
		return fmt.Errorf("forms from the cluster have no %s (name the object from which it comes)", kind.Kind)
	}
	return nil
}

// Tenant returns the beginning that all names share, in whole parts between dashes. It is "" if
// they share none.
func Tenant(objects []Live) string {
	var common []string
	for i, l := range objects {
		parts := strings.Split(l.Metadata.Name, "-")
		if i == 0 {
			common = parts
		}
		n := 0
		for n < min(len(common), len(parts)) && common[n] == parts[n] {
			n++
		}
		common = common[:n]
	}
	return strings.Join(common, "-")
}

// resource is an entry of a form.
type resource struct {
	section, id, policy string
	content             fields
}

// Form returns a form that makes objects. Where texts are the tenant's name, or begin with it,
// they become templates.
func Form(names Names, objects []Live, tenant string) (string, error) {
	var sections []string
	resources := make([]resource, len(objects))
	for i, l := range objects {
		r, err := resourceOf(&l, tenant)
		if err != nil {
			return "", fmt.Errorf("%s/%s: %w", l.Content.GetKind(), l.Metadata.Name, err)
		}
		if resources[i] = r; !slices.Contains(sections, r.section) {
			sections = append(sections, r.section)
		}
	}
	dropScaled(resources)
	uniqueIDs(resources)
	var w writer
	w.head("From objects of the cluster, without the fields that it sets itself.", names.Namespace, names.Name, names.Hub)
	for _, section := range sections {
		w.line("  %s:", section)
		for _, r := range resources {
			if r.section != section {
				continue
			}
			w.line("    - id: %s", scalar(r.id))
			if r.policy != "" {
				w.line("      %s", r.policy)
			}
			w.line("      spec:")
			if err := w.value(8, r.content); err != nil {
				return "", err
			}
		}
	}
	return w.String(), nil
}

func resourceOf(l *Live, tenant string) (resource, error) {
	text, err := json.Marshal(l.Content.Object)
	if err != nil {
		return resource{}, err
	}
	v, err := decode(text)
	content, ok := v.(fields)
	if err != nil || !ok {
		return resource{}, errors.New("it is no object")
	}
	kind := l.Content.GroupVersionKind()
	clean(kind.Group, kind.Kind, content)
	r := resource{section: form.SectionFor(kind.Group, kind.Kind)}
	switch kind.Kind {
	case "Job":
		r.policy = "creationPolicy: Once # it ran for this tenant"
	case "StatefulSet":
		if at(content, "spec")["volumeClaimTemplates"] != nil {
			r.policy = `ignoreFields: ["$.spec.volumeClaimTemplates"] # Kubernetes refuses changes`
		}
	case "Secret":
		r.policy = "deletionPolicy: Retain # the form has none of its values"
	case "PersistentVolumeClaim", "PersistentVolume", "Namespace":
		r.policy = "deletionPolicy: Retain # it has data"
	}
	if v, err = (literal{name: tenant}).of(content, ""); err != nil {
		return resource{}, err
	}
	r.content, _ = v.(fields)
	rest := strings.Trim(strings.TrimPrefix(l.Metadata.Name, tenant), "-.")
	r.id = strings.Trim(strings.ToLower(kind.Kind)+"-"+rest, "-")
	return r, nil
}

// dropScaled removes the replicas of workloads for which the form has an autoscaler.
func dropScaled(resources []resource) {
	for _, scaler := range resources {
		if scaler.content["kind"] != "HorizontalPodAutoscaler" {
			continue
		}
		target := at(scaler.content, "spec", "scaleTargetRef")
		for _, r := range resources {
			if r.content["kind"] == target["kind"] && at(r.content, "metadata")["name"] == target["name"] {
				drop(at(r.content, "spec"), "replicas")
			}
		}
	}
}

// uniqueIDs adds numbers to ids that occur twice.
func uniqueIDs(resources []resource) {
	slices.SortStableFunc(resources, func(a, b resource) int { return cmp.Compare(a.section, b.section) })
	seen := map[string]int{}
	for i := range resources {
		id := resources[i].id
		if seen[id]++; seen[id] > 1 {
			resources[i].id = fmt.Sprintf("%s-%d", id, seen[id])
		}
	}
}
