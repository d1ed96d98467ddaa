package lynq

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

// Ref identifies an object, in any version of its API.
type Ref struct {
	Group, Kind     string
	Namespace, Name string // Namespace "" for cluster-scoped objects
}

// RefFields are the fields of a Ref in JSON. A Ref itself has no names in JSON, because digests
// of older versions cover it.
type RefFields struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Ref identifies the object.
func (f RefFields) Ref() Ref { return Ref(f) }

// String returns Kind/Namespace/Name, or Kind/Name for cluster-scoped objects (seed:
// resource lifecycle, "appliedResources Format").
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + "/" + r.Name
	}
	return r.Kind + "/" + r.Namespace + "/" + r.Name
}

// Object is one rendered object of a node.
type Object struct {
	Ref
	// ID is the id of the resource in its form.
	ID string
	// Template is a digest of the resource in the form, without any row.
	Template string
	// APIVersion is that of the manifest, such as "apps/v1".
	APIVersion string
	// Body is the manifest. Objects of render.Nodes have it only during the call.
	Body manifest.Body
	// Policy has the policies of the resource. Objects of all rows share it, so nobody changes
	// it.
	Policy *Policy
	// DependIDs are the ids of the node's resources that lynqctl writes before.
	DependIDs []string
	// Exclusion is the rule that excludes the object, or nil.
	Exclusion *Exclusion
	// Sensitive is set if it has the value of a secret column, so no message may quote it.
	Sensitive bool
}

// Node holds the name and the objects of one active row and one form, in dependency order.
type Node struct {
	NodeID
	// Generation is the form's metadata.generation, or 0.
	Generation int64
	// Match is the first stage of the form's rollout whose template chooses the row, counted
	// from 1; 0 for none.
	Match int
	// DependForms are the forms of the hub that the form depends on, sorted.
	DependForms []string
	// Extra is the value for annotation lynq.sh/extra, "" for none.
	Extra string
	// Row is a digest of the row's mapped values. It is "" if no object changes only because
	// these change.
	Row     string
	Objects []Object
	// Hooks are the objects that lynqctl runs when it deletes the node, in dependency order.
	Hooks []Object
	// NotIncluded are resources of the form that the row doesn't get, see Drops.
	NotIncluded []string
	// Tombstones name further objects to delete.
	Tombstones []Tombstone
}

// SplitAPIVersion splits "apps/v1" into group and version. The core group is "".
func SplitAPIVersion(apiVersion string) (group, version string) {
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		return "", apiVersion
	}
	return group, version
}

// Drops reports whether a row doesn't get a resource that its form still has. notIncluded has
// the ids of such resources, and for charts entries of DropsChart. template is the digest of
// the form's template at the last write of the resource's object.
func Drops(notIncluded []string, id, template string) bool {
	return slices.ContainsFunc(notIncluded, func(one string) bool {
		chart, of, ofChart := strings.Cut(one, chartMark)
		return one == id || ofChart && strings.HasPrefix(id, chart+"-") && (of == "" || of == template)
	})
}

// DropsChart returns an entry for the objects of a chart that a row doesn't make. template is
// "" if the row doesn't get the chart. Otherwise, the row lacks what it made of the chart with
// this digest.
func DropsChart(id, template string) string { return id + chartMark + template }

// DropsSince returns entries for objects whose templates nobody recorded. same says that the
// charts are those that made the objects. If they aren't, only whole charts are dropped.
func DropsSince(notIncluded []string, same bool) []string {
	var entries []string
	for _, one := range notIncluded {
		chart, template, ofChart := strings.Cut(one, chartMark)
		switch {
		case !ofChart:
			entries = append(entries, one)
		case same || template == "":
			entries = append(entries, DropsChart(chart, ""))
		}
	}
	return entries
}

// chartMark stands between a chart's id and its digest. No id has it.
const chartMark = "-*@"
