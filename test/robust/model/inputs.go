package model

import (
	"path"
	"slices"
	"strings"
	"time"
)

// The kinds of forms in the model.
const (
	Claim  = "PersistentVolumeClaim"
	Config = "ConfigMap"
	Widget = "Widget"
	Set    = "StatefulSet"
	Job    = "Job"
	Space  = "Namespace"
	Kind   = "CustomResourceDefinition"
	Note   = "Event"
)

// The namespaces of the model: the nodes' one, another one, and none.
const (
	Near = "near"
	Far  = "far"
	None = ""
)

// The deletion policies.
const (
	Delete         = "Delete"
	Retain         = "Retain"
	RetainOnApply  = "RetainOnApply"
	RetainOnDelete = "RetainOnDelete"
)

// The adoption policies.
const (
	Never     = "Never"
	IfUnowned = "IfUnowned"
	Always    = "Always"
)

// Ref names an object.
type Ref struct{ Kind, Namespace, Name string }

// String returns KIND/NAMESPACE/NAME.
func (r Ref) String() string { return r.Kind + "/" + r.Namespace + "/" + r.Name }

// ParseRef parses the result of String.
func ParseRef(text string) Ref {
	kind, rest, _ := strings.Cut(text, "/")
	namespace, name, _ := strings.Cut(rest, "/")
	return Ref{kind, namespace, name}
}

// Node is the identity of a node.
type Node struct{ Hub, Form, Row string }

// Name returns the node's name in the cluster. No form of the model has a dash in its name.
func (n Node) Name() string { return n.Row + "-" + n.Form }

// Row is a row of a hub's table, by its columns.
type Row struct {
	UID      string
	Previous string // its former uid, "" for none
	Active   bool
	Columns  map[string]string
}

// Rule excludes objects of a kind. Name may contain asterisks.
type Rule struct{ Kind, Name string }

func (r Rule) matches(ref Ref) bool {
	ok, err := path.Match(r.Name, ref.Name)
	return err == nil && ok && r.Kind == ref.Kind
}

// Resource is a resource of a form. In Name, {{ .COLUMN }} stands for the row's value.
type Resource struct {
	ID, Kind, Name     string
	Far                bool
	Deletion, Adoption string
	When               string // the column that includeWhen reads; "" includes always
	Purge, Recreate    bool
	Data               bool // holdsData
	Hook               bool // a Job that runs before its node is deleted, and isn't an object of the node
	TakesClaims        bool // a StatefulSet whose claims Kubernetes deletes with it
	Ends               bool // a Job that Kubernetes deletes when it has ended
	Alias              bool // the form names its kind by the other API group that serves it
}

// Form is a form of a hub.
type Form struct {
	Name      string
	Before    string // its former name, "" for none
	Resources []Resource
	Exclude   []Rule
	Tombstone bool // it has a tombstone, see TombstoneOf
	Stages    []Stage
	MaxFailed int // with more failed nodes in a stage, later stages don't begin
	Revision  int // it is in every object, and grows when the form changes all of them
}

// TombstoneOf returns the object that the tombstone of a form names for a row. The object
// must have the label tenant with the row's uid.
func TombstoneOf(uid string) Ref { return Ref{Config, Near, uid + "-old"} }

// Hub is a hub with its rows and forms.
type Hub struct {
	Name    string
	Rows    []Row
	Forms   []Form
	Exclude []Rule
	Grace   time.Duration // deletionGracePeriod
}

// Inputs are the hubs that a run reads.
type Inputs []Hub

// Rendered is an object that a row and a form render.
type Rendered struct {
	Node     Node
	Resource Resource
	Ref      Ref
	// Certain is false if the row fails to render, so that the object may be desired.
	Certain bool
	// Excluded is set if a rule of the form or the hub matches.
	Excluded bool
}

// Rendered returns all objects of all rows, even if a run is narrowed.
func (in Inputs) Rendered() []Rendered {
	var all []Rendered
	for _, hub := range in {
		for _, form := range hub.Forms {
			for _, row := range hub.Rows {
				if row.Active {
					all = append(all, form.of(hub, row)...)
				}
			}
		}
	}
	return all
}

// of returns the objects of one node.
func (f Form) of(hub Hub, row Row) []Rendered {
	var all []Rendered
	certain := f.renders(row)
	for _, resource := range f.Resources {
		if resource.Hook {
			continue
		}
		if certain && resource.When != "" && row.Columns[resource.When] != "true" {
			continue
		}
		ref := resource.of(row)
		all = append(all, Rendered{
			Node: Node{hub.Name, f.Name, row.UID}, Resource: resource, Ref: ref, Certain: certain,
			Excluded: excludedBy(ref, hub.Exclude, f.Exclude),
		})
	}
	return all
}

// renders reports whether every includeWhen of the form is a boolean for this row.
func (f Form) renders(row Row) bool {
	return !slices.ContainsFunc(f.Resources, func(r Resource) bool {
		return r.When != "" && !slices.Contains([]string{"true", "false"}, row.Columns[r.When])
	})
}

// of returns the object that a resource renders for a row.
func (r Resource) of(row Row) Ref {
	name := strings.ReplaceAll(r.Name, "{{ .uid }}", row.UID)
	for column, value := range row.Columns {
		name = strings.ReplaceAll(name, "{{ ."+column+" }}", value)
	}
	namespace := Near
	switch {
	case r.Far:
		namespace = Far
	case r.Kind == Space || r.Kind == Kind:
		namespace = None
	}
	return Ref{r.Kind, namespace, name}
}

func excludedBy(ref Ref, lists ...[]Rule) bool {
	return slices.ContainsFunc(slices.Concat(lists...), func(r Rule) bool { return r.matches(ref) })
}

// Hub returns a hub, or nil.
func (in Inputs) Hub(name string) *Hub {
	for i := range in {
		if in[i].Name == name {
			return &in[i]
		}
	}
	return nil
}

// Form returns a form of the hub, or nil.
func (h *Hub) Form(name string) *Form {
	for i := range h.Forms {
		if h.Forms[i].Name == name {
			return &h.Forms[i]
		}
	}
	return nil
}

// Row returns a row of the hub, active or not, or nil.
func (h *Hub) Row(uid string) *Row {
	for i := range h.Rows {
		if h.Rows[i].UID == uid {
			return &h.Rows[i]
		}
	}
	return nil
}

// Resource returns a resource of the form, or nil.
func (f *Form) Resource(id string) *Resource {
	for i := range f.Resources {
		if f.Resources[i].ID == id {
			return &f.Resources[i]
		}
	}
	return nil
}

// state is the state of a node in the inputs.
type state string

const (
	unknown state = "unknown" // the inputs lack its hub or its form
	broken  state = "broken"  // its row fails to render
	stays   state = "stays"
	leaves  state = "leaves"
)

// Now returns the node that replaces a node, because its form or its row's uid has another
// name now. For most nodes, it is the node itself.
func (in Inputs) Now(n Node) Node {
	hub := in.Hub(n.Hub)
	if hub == nil {
		return n
	}
	if hub.Form(n.Form) == nil {
		for _, f := range hub.Forms {
			if f.Before == n.Form {
				n.Form = f.Name
			}
		}
	}
	if row := hub.Row(n.Row); row == nil || !row.Active {
		for _, r := range hub.Rows {
			if r.Active && r.Previous == n.Row {
				n.Row = r.UID
			}
		}
	}
	return n
}

func (in Inputs) state(n Node) state {
	n = in.Now(n)
	hub := in.Hub(n.Hub)
	if hub == nil {
		return unknown
	}
	form := hub.Form(n.Form)
	if form == nil {
		return unknown
	}
	row := hub.Row(n.Row)
	switch {
	case row == nil || !row.Active:
		return leaves
	case !form.renders(*row):
		return broken
	}
	return stays
}

// rules returns the exclusions for a node.
func (in Inputs) rules(n Node) []Rule {
	n = in.Now(n)
	hub := in.Hub(n.Hub)
	if hub == nil {
		return nil
	}
	form := hub.Form(n.Form)
	if form == nil {
		return hub.Exclude
	}
	return slices.Concat(hub.Exclude, form.Exclude)
}
