package form

import (
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/form/files"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Tombstone names, for each row, an object to delete.
type Tombstone struct {
	Pos              lynq.Pos
	ID               string // its place in the list, for messages
	APIVersion, Kind string
	NameTemplate     Text
	TargetNamespace  Text    // default: the node's namespace
	MatchLabels      []Entry // at least one, sorted by key
}

// readTombstones reads spec.tombstones.
func readTombstones(spec *object) []*Tombstone {
	var stones []*Tombstone
	for i, o := range spec.objects("tombstones") {
		t := &Tombstone{Pos: o.value.Pos, ID: fmt.Sprintf("tombstones[%d]", i), APIVersion: readLiteral(o, "apiVersion"), Kind: readLiteral(o, "kind")}
		t.NameTemplate = o.needText("nameTemplate")
		t.TargetNamespace = notBlank(o.text("targetNamespace"))
		t.MatchLabels = o.entries("matchLabels")
		o.done()
		checkTombstone(o, t.Pos, t.APIVersion, t.Kind, "matchLabels", t.MatchLabels)
		stones = append(stones, t)
	}
	return stones
}

// checkTombstone refuses tombstones that might delete too much. It refuses one without a
// label, and one for a kind that tombstones may not delete.
func checkTombstone(o *object, at lynq.Pos, apiVersion, kind, labels string, match []Entry) {
	group, version := lynq.SplitAPIVersion(apiVersion)
	switch {
	case apiVersion == "" || kind == "": // already reported
	case version == "" || strings.Contains(version, "/"):
		o.fail(at, "write GROUP/VERSION, or VERSION for core kinds", "%s %q is not valid", o.name("apiVersion"), apiVersion)
	case group == wellknown.Group:
		o.fail(at, "remove it", "%s: a %s of group %s belongs to the Lynq operator, and a tombstone can't name it", o.label(), kind, group)
	case len(match) == 0 && o.value.Kind == document.Map:
		o.fail(at, "name a label that the object must have", "%s is missing: only objects with all its labels are deleted", o.name(labels))
	}
	checkSpelling(o, at, group, kind)
	for _, e := range match {
		if e.Text.Text == "" {
			o.fail(e.Text.Pos, "write the value that the object must have", "%s.%s is empty", o.name(labels), e.Key)
		}
	}
}

// LoadTombstones reads tombstones from files, and from directories with their
// subdirectories. They are manifests, and it uses apiVersion, kind, name, namespace and
// labels. The error is lynq.Problems.
func LoadTombstones(paths []string) ([]lynq.Tombstone, error) {
	rep := &report{}
	var stones []lynq.Tombstone
	first := map[lynq.Ref]lynq.Pos{}
	named := files.Named{Paths: paths, Recursive: true}
	named.Read(&rep.problems, func(file string, data []byte) {
		documents, _ := parse(rep, file, data)
		for _, v := range documents {
			t := readTombstone(newObject(rep, "tombstone", "", v))
			if at, twice := first[t.Ref]; twice {
				rep.problems.Add(t.Pos, "remove one of them", "tombstone: %s appears twice, first at %s", t.Ref, at)
			}
			first[t.Ref] = t.Pos
			stones = append(stones, t)
		}
	})
	return stones, rep.problems.Err()
}

// readTombstone reads one object of a file. It ignores the rest of the manifest, so users
// can keep the manifest that they applied.
func readTombstone(o *object) lynq.Tombstone {
	t := lynq.Tombstone{Pos: o.value.Pos, APIVersion: readLiteral(o, "apiVersion"), Labels: map[string]string{}}
	t.Group, _ = lynq.SplitAPIVersion(t.APIVersion)
	t.Kind = readLiteral(o, "kind")
	m := o.needObject("metadata")
	t.Name, t.Namespace = readLiteral(m, "name"), m.text("namespace").Text
	labels := m.entries("labels")
	for _, e := range labels {
		t.Labels[e.Key] = e.Text.Text
	}
	checkTombstone(m, o.value.Pos, t.APIVersion, t.Kind, "labels", labels)
	clusterScoped := kinds.ClusterScoped(t.Group, t.Kind)
	switch {
	case t.Kind == "List":
		o.fail(t.Pos, "write each object as a document", "a List is not a tombstone")
	case t.Namespace == "" && kinds.BuiltIn(t.Group) && !clusterScoped && o.value.Kind == document.Map:
		o.fail(t.Pos, "add it", "metadata.namespace is missing: a %s has one", t.Kind)
	case t.Namespace != "" && clusterScoped:
		o.fail(t.Pos, "remove it", "metadata.namespace is %q, and a %s has none", t.Namespace, t.Kind)
	}
	return t
}
