package rbac

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/history"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Hub is a hub and its forms.
type Hub struct {
	lynq.HubKey
	Forms []Form
	// Secret has the password of the hub's database or the token of its API, and Certificate has
	// that of a client. They are zero if no Secret of the cluster has it.
	Secret, Certificate lynq.Ref
}

// Form is a form, and the namespace of its nodes.
type Form struct {
	*form.Form
	Namespace string
	// Exclude are the rules for its objects: its own and those of its hub.
	Exclude lynq.Exclusions
}

// Input holds the facts from which Of makes rules.
type Input struct {
	Hubs []Hub
	For  []Purpose
	// Kinds has those of all entries (see Unknown).
	Kinds Kinds
	// All are the kinds of the cluster if NeedsAll says that they count. NotAsked says why nobody
	// knows them.
	All      []lynq.APIResource
	NotAsked error
	// Tombstones are those of files. Forms have others.
	Tombstones []lynq.Tombstone
	// Data is set if orphans prune deletes objects with data, too.
	Data bool
	// Optional also asks for permissions that the commands can do without.
	Optional bool
	// Namespaces are the only ones in which the commands run, none for the whole cluster.
	Namespaces []string
	// Shards is the number of shards, 0 for none.
	Shards int
}

// Rights lists the rules that commands need.
type Rights struct {
	Rules []Rule
	// Notes tell people about permissions that reach far, and about missing ones.
	Notes []string
}

// Of returns the permissions that the input needs.
func Of(in *Input) Rights {
	g := &gatherer{Input: in, rules: newRules(), namespaces: map[form.GroupKind]map[string]bool{}}
	for _, h := range in.Hubs {
		for _, f := range h.Forms {
			for _, r := range f.Resources {
				g.learn(f, r)
			}
		}
	}
	for _, h := range in.Hubs {
		g.records(h)
		g.shards(h)
		for _, f := range h.Forms {
			for _, r := range f.Resources {
				g.objects(f, r)
			}
			g.computed(f)
			g.hooks(f)
		}
		g.watches(h)
	}
	g.tombstones()
	g.keepTo(in.Namespaces)
	slices.Sort(g.notes)
	return Rights{Rules: g.sorted(in.Optional), Notes: slices.Compact(g.notes)}
}

// NeedsAll reports whether a command deletes Namespaces, so that all kinds count that a namespace may
// have.
func (in *Input) NeedsAll() bool {
	for _, h := range in.Hubs {
		for _, f := range h.Forms {
			for _, r := range f.Resources {
				e := in.entry(f, r)
				if e.is("", "Namespace") && slices.ContainsFunc(in.does(), func(p Purpose) bool { n := e.needs(p); return n.deletes() }) {
					return true
				}
			}
		}
	}
	return false
}

func (in *Input) entry(f Form, r *form.Resource) *entry {
	return &entry{Resource: r, group: kindOf(r).Group, data: in.Data, excluded: in.Kinds.excludes(f, r)}
}

// does returns the purposes that cover all wanted ones, each once.
func (in *Input) does() []Purpose {
	var all []Purpose
	for _, p := range in.For {
		if p = p.does(); !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

type gatherer struct {
	*Input
	rules
	// namespaces are those of a kind's objects. "" stands for one that comes from rows.
	namespaces map[form.GroupKind]map[string]bool
	notes      []string
}

func (g *gatherer) note(format string, args ...any) {
	g.notes = append(g.notes, fmt.Sprintf(format, args...))
}

// is reports whether one of some purposes is wanted.
func (g *gatherer) is(some ...Purpose) bool {
	return slices.ContainsFunc(g.does(), func(p Purpose) bool { return slices.Contains(some, p) })
}

// namespaceOf returns the namespace of an entry's objects, "" if it depends on the row.
func namespaceOf(f Form, r *form.Resource) string {
	text := r.TargetNamespace.Text
	if text == "" {
		if v := r.Manifest.Field("metadata").Field("namespace"); v != nil {
			text = v.Str
		}
	}
	switch text = strings.TrimSpace(text); {
	case text == "", strings.Join(strings.Fields(strings.Trim(text, "{}-")), " ") == ".namespace":
		return f.Namespace
	case isTemplate(text):
		return ""
	}
	return text
}

func isTemplate(text string) bool { return strings.Contains(text, "{{") }

func (g *gatherer) learn(f Form, r *form.Resource) {
	key := kindOf(r)
	if g.namespaces[key] == nil {
		g.namespaces[key] = map[string]bool{}
	}
	if g.Kinds[key].Namespaced {
		g.namespaces[key][namespaceOf(f, r)] = true
	}
}

// objects adds the rules for the objects of one entry.
func (g *gatherer) objects(f Form, r *form.Resource) {
	e := g.entry(f, r)
	kind, known := g.Kinds[kindOf(r)]
	if !known {
		return // it is excluded: see Unknown
	}
	at := place{APIResource: kind}
	why := fmt.Sprintf("objects %s of form %s", r.ID, f.Name)
	if kind.Namespaced {
		if at.namespace = namespaceOf(f, r); at.namespace == "" {
			why += ", whose namespaces only rows show"
		}
		if at.namespace == "" && len(g.Namespaces) == 0 {
			g.note("%s: %s of form %s are in namespaces that only rows show, so the permissions for %s are for the whole cluster. "+
				"Where the namespaces are known, bind the ClusterRole in each of them by a RoleBinding instead.", r.Pos, r.ID, f.Name, kind.Plural)
		}
	}
	for _, p := range g.does() {
		n := e.needs(p)
		add(g.needed, at, why, n.verbs...)
		if n.everywhere {
			add(g.needed, place{APIResource: kind}, "orphans of "+r.ID+", which lynqctl looks for in the whole cluster", "list")
		}
		if n.watched {
			g.watched(e, at, why)
		}
		if n.deletes() {
			g.contents(e)
		}
	}
	if !kinds.BuiltIn(e.group) {
		g.extensions(e, kind)
	}
	if !e.excluded {
		g.classes(e)
		g.causes(e, at)
		g.escalates(e)
	}
}

// extensions adds the rules for objects of kinds that Kubernetes doesn't define. One without
// a namespace may be a view of a Namespace, so that its deletion deletes everything in that.
// If the server stops serving such a kind, its CustomResourceDefinition shows whether
// objects remain.
func (g *gatherer) extensions(e *entry, kind lynq.APIResource) {
	if !kind.Namespaced && slices.ContainsFunc(g.does(), func(p Purpose) bool { n := e.needs(p); return n.deletes() }) {
		add(g.needed, place{APIResource: core("Namespace", "namespaces")}, "whether an object of "+e.Kind+" is a Namespace, before its deletion", "get", "list")
	}
	if g.is(Apply, Delete, Diff) {
		add(g.optional, place{APIResource: lynq.APIResource{Group: "apiextensions.k8s.io", Plural: "customresourcedefinitions"}},
			"whether a kind that the server no longer serves still has objects", "get", "list")
	}
}

// watched adds the rules for objects for which the commands wait: a watch of the namespace, or of the
// cluster for several namespaces.
func (g *gatherer) watched(e *entry, at place, why string) {
	if len(g.namespaces[kindOf(e.Resource)]) > kinds.NamespacesApart {
		at.namespace = ""
	}
	// lynqctl asks servers before 1.34 for a list before a watch.
	add(g.needed, at, why, "list", "watch")
}

// classes adds the rules that show whether a claim waits for its first consumer.
func (g *gatherer) classes(e *entry) {
	if !e.is("", "PersistentVolumeClaim") || !e.waited() {
		return
	}
	at := place{APIResource: g.Kinds[form.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}]}
	const why = "whether a claim waits for its first consumer"
	if g.is(Apply) {
		add(g.needed, at, why, "list", "watch")
	}
	if g.is(Status) {
		add(g.needed, at, why, "get", "list")
	}
}

// contents adds the rules for the content of a Namespace or a CustomResourceDefinition, which lynqctl
// reads before it deletes one.
func (g *gatherer) contents(e *entry) {
	switch {
	case e.is("", "Namespace"):
		all := g.All
		if all == nil {
			all = BuiltIn()
			for _, r := range g.Kinds {
				all = append(all, r)
			}
			g.note("%s: before lynqctl deletes Namespace %s, it lists every kind in it. "+
				"The kinds of Kubernetes and of your files are here; add the others, because the cluster didn't answer: %v.", e.Pos, e.ID, g.NotAsked)
		}
		for _, r := range all {
			if r.Namespaced && !tracking.Passing(r) {
				add(g.needed, place{APIResource: r}, "the content of a Namespace, before its deletion", "list")
			}
		}
	case e.is("apiextensions.k8s.io", "CustomResourceDefinition"):
		spec := e.Manifest.Field("spec")
		group, plural := literal(spec.Field("group")), literal(spec.Field("names").Field("plural"))
		if group == "" || plural == "" {
			g.note("%s: before lynqctl deletes CustomResourceDefinition %s, it lists its objects. Its group or plural is a template: add list for these.", e.Pos, e.ID)
			return
		}
		add(g.needed, place{APIResource: lynq.APIResource{Group: group, Plural: plural}}, "objects of the kind, before its definition's deletion", "list")
	}
}

func literal(v *document.Value) string {
	if v == nil || isTemplate(v.Str) {
		return ""
	}
	return v.Str
}

// causes adds the rules that show why an object doesn't get ready.
func (g *gatherer) causes(e *entry, at place) {
	if !g.is(Apply, Status) || !ready.Explains(e.group, e.Kind) {
		return
	}
	at.APIResource = core("Pod", "pods")
	add(g.optional, at, "why objects aren't ready", "list")
	at.APIResource = core("Event", "events")
	add(g.optional, at, "why objects aren't ready", "list")
	if g.is(Status) && e.is("apps", "Deployment") {
		at.APIResource = lynq.APIResource{Group: "apps", Plural: "replicasets"}
		add(g.optional, at, "pods of Deployments, in status node", "list")
	}
}

// escalates notes what the API server demands of an account that gives permissions to others.
func (g *gatherer) escalates(e *entry) {
	if !g.is(Apply, Orphans, Diff) {
		return
	}
	what := "all permissions that it grants, or the verb escalate"
	switch {
	case e.is("rbac.authorization.k8s.io", "Role", "ClusterRole"):
	case e.is("rbac.authorization.k8s.io", "RoleBinding", "ClusterRoleBinding"):
		what = "all permissions of the role that it binds, or the verb bind"
	default:
		return
	}
	g.note("%s: %s %s: writing one needs %s. Neither is here: grant lynqctl those permissions, and think twice before granting the verb.",
		e.Pos, e.Kind, e.ID, what)
}

func core(kind, plural string) lynq.APIResource {
	return lynq.APIResource{Version: "v1", Kind: kind, Plural: plural, Namespaced: true}
}

// records adds the rules for lynqctl's records of a hub: inventories, the hub record, its Lease, and
// events.
func (g *gatherer) records(h Hub) {
	configMaps := core("ConfigMap", "configmaps")
	hub := place{configMaps, h.Namespace, []string{inventory.HubName(h.Name)}}
	past := place{configMaps, h.Namespace, []string{history.Name(h.Name)}}
	lease := place{lynq.APIResource{Group: "coordination.k8s.io", Plural: "leases"}, h.Namespace, []string{wellknown.LeaseName(h.Name)}}
	record, locked, runs := "the record of hub "+h.Name, "one run at a time on hub "+h.Name, "the history of hub "+h.Name
	add(g.needed, place{APIResource: configMaps}, "inventories, which lynqctl looks for in the whole cluster", "list")
	add(g.needed, hub, record, "get")
	for _, f := range h.Forms {
		node := place{APIResource: configMaps, namespace: f.Namespace}
		for _, p := range g.does() {
			add(g.needed, node, "inventories of the nodes of form "+f.Name, inventoryVerbs(p)...)
		}
		if g.is(Apply, Delete, Orphans) {
			add(g.optional, place{APIResource: core("Event", "events"), namespace: f.Namespace}, "events of the nodes of form "+f.Name, "create")
		}
	}
	if g.is(Apply, Orphans) {
		add(g.needed, place{APIResource: configMaps, namespace: h.Namespace}, record, "create")
		add(g.needed, hub, record, "update")
	}
	if g.is(Apply, Delete, Orphans) {
		add(g.needed, place{APIResource: lease.APIResource, namespace: h.Namespace}, locked, "create")
		add(g.needed, lease, locked, "get", "update")
		add(g.needed, past, runs, "get", "update")
	}
	if g.is(Delete) {
		add(g.needed, hub, record, "update", "patch", "delete")
		add(g.needed, lease, locked, "delete")
		add(g.needed, past, runs, "delete")
	}
	g.plans(h)
	if g.is(Apply, Delete, Orphans, Diff) {
		add(g.needed, place{APIResource: lynq.APIResource{Group: wellknown.Group, Plural: "lynqnodes"}},
			"whether the Lynq operator manages nodes of hub "+h.Name+", where it is installed", "list")
	}
	if h.Secret.Name != "" && g.is(Apply, Orphans, Diff) {
		add(g.needed, place{core("Secret", "secrets"), h.Secret.Namespace, []string{h.Secret.Name}},
			"the password of hub "+h.Name+"'s database, unless "+endpoint.PasswordVariable+" is set", "get")
	}
	if h.Certificate.Name != "" && g.is(Apply, Orphans, Diff) {
		add(g.needed, place{core("Secret", "secrets"), h.Certificate.Namespace, []string{h.Certificate.Name}},
			"the client certificate of hub "+h.Name, "get")
	}
}

// plans adds the rules for plan files. The uid of the hub's namespace protects one, and a record has
// the plans that ran. Roles in a namespace may allow to get the Namespace itself.
func (g *gatherer) plans(h Hub) {
	namespaces := core("Namespace", "namespaces")
	ran := place{core("ConfigMap", "configmaps"), h.Namespace, []string{history.PlansName(h.Name)}}
	reads := func(some ...Purpose) bool { // watch has no plan files
		return slices.ContainsFunc(g.For, func(p Purpose) bool { return slices.Contains(some, p) })
	}
	if reads(Apply, Diff) {
		add(g.needed, ran, "the plans that ran on hub "+h.Name, "get")
	}
	if reads(Apply) {
		add(g.needed, ran, "the plans that ran on hub "+h.Name, "update")
	}
	if reads(Apply, Diff, Delete) {
		add(g.needed, place{namespaces, h.Namespace, []string{h.Namespace}}, "the namespace's uid, which protects plan files", "get")
	}
	if !g.is(Orphans) {
		return
	}
	for _, f := range h.Forms {
		for _, r := range f.Resources {
			if !g.entry(f, r).Policy.Deletion.Kept().Ever() || !g.Kinds[kindOf(r)].Namespaced {
				continue
			}
			at := place{APIResource: namespaces}
			if at.namespace = namespaceOf(f, r); at.namespace != "" {
				at.names = []string{at.namespace}
			}
			add(g.needed, at, "the namespace's uid, which protects plan files of orphans prune", "get")
		}
	}
}

// inventoryVerbs returns what a purpose does with inventories, beside listing them.
func inventoryVerbs(p Purpose) []string {
	switch p {
	case Apply, Orphans:
		return []string{"get", "create", "update", "patch", "delete"}
	case Delete:
		return []string{"get", "update", "patch", "delete"}
	case Status:
		return []string{"get"}
	}
	return nil
}
