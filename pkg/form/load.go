package form

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/form/files"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Load reads hubs, forms and related documents from files, directories and, for "-", from
// stdin. If recursive is set, it also reads subdirectories.
//
// The error is lynq.Problems, and has all errors of all files. The Inputs are never nil.
// It builds no kustomizations and opens no charts; the Load of a Memory does.
//
// With an error, they have the readable parts, so that later stages can find more
// problems. A resource may then lack its apiVersion, kind or name, and a form may have no
// hub.
func Load(paths []string, recursive bool, stdin io.Reader) (*Inputs, error) {
	return load(nil, nil, paths, recursive, stdin, needForm)
}

// LoadHubs is Load, but accepts inputs without forms.
func LoadHubs(paths []string, recursive bool, stdin io.Reader) (*Inputs, error) {
	return load(nil, nil, paths, recursive, stdin, needHub)
}

// LoadAny is Load, but accepts inputs without hubs and forms, and empty directories.
func LoadAny(paths []string, recursive bool, stdin io.Reader) (*Inputs, error) {
	return load(nil, nil, paths, recursive, stdin, needNothing)
}

// need says which documents the inputs must have at least.
type need uint8

const (
	needForm need = iota
	needHub
	needNothing
)

func load(m *Memory, builder Builder, paths []string, recursive bool, stdin io.Reader, least need) (*Inputs, error) {
	l := newLoader(m)
	l.in.builder = builder
	if len(paths) == 0 {
		l.problems.Add(lynq.Pos{File: "-f"}, "name files or directories with hubs and forms", "no input is given")
		return l.in, l.problems.Err()
	}
	named := files.Named{Paths: paths, Recursive: recursive, Stdin: stdin, EmptyDirs: least == needNothing}
	complete := named.Read(&l.problems, l.stream)
	if complete {
		m.forget(l.files)
	}
	here := lynq.Pos{File: strings.Join(files.Displayed(paths), ", ")}
	switch missing := complete && !l.sawForm && !l.sawBroken; {
	case missing && least == needForm:
		l.problems.Add(here, "name the files of the forms with -f", "no LynqForm is in these inputs")
	case missing && least == needHub && len(l.in.Hubs) == 0 && len(l.problems) == 0:
		l.problems.Add(here, "name the files of hubs and forms with -f", "neither a LynqHub nor a LynqForm is in these inputs")
	}
	l.finish()
	return l.in, l.err()
}

// err returns what is wrong in the files, else what else failed.
func (l *loader) err() error {
	if err := l.problems.Err(); err != nil || l.in.builder == nil {
		return err
	}
	return l.in.builder.Failed()
}

// loader collects the inputs of one run.
type loader struct {
	report
	memory *Memory
	files  map[string]bool // the files that were read
	in     *Inputs
	// hub and form have the fields of hubs and forms.
	hub, form Field
	// kept are hubs that another load replaces.
	kept      map[lynq.HubKey]bool
	sawForm   bool // the files have a form, even if it has errors
	sawBroken bool // the files have a broken document that may be a form
}

func newLoader(m *Memory) *loader {
	return &loader{memory: m, hub: hubFields(), form: formFields(), files: map[string]bool{}, in: &Inputs{ClusterScoped: map[GroupKind]bool{}, Plurals: map[GroupKind]string{}}}
}

// stream reads the documents of one file.
func (l *loader) stream(file string, data []byte) {
	l.files[file] = true
	l.add(l.memory.part(file, data))
}

// document reads one Kubernetes object, or the items of a list.
func (l *loader) document(v *document.Value) {
	if v.Kind != document.Map {
		fix := ""
		if ext := strings.ToLower(filepath.Ext(v.Pos.File)); ext == ".csv" || ext == ".tsv" {
			fix = "a hub names files of rows; lynqctl init --source csv:FILE writes one"
		}
		l.broken(v.Pos, fix, "not a Kubernetes object: found %s", v.Describe())
		return
	}
	apiVersion, kind := v.Field("apiVersion").Literal(), v.Field("kind").Literal()
	group, version := lynq.SplitAPIVersion(apiVersion)
	switch {
	case kind == "":
		l.broken(v.Pos, "add apiVersion and kind", "not a Kubernetes object: no kind")
	case group == wellknown.Group:
		l.ours(v, kind, version)
	case kind == wellknown.KindHub || kind == wellknown.KindForm:
		l.broken(document.FieldPos(v, "apiVersion"), "write apiVersion: "+wellknown.APIVersion, "kind %s has apiVersion %q", kind, apiVersion)
	case apiVersion == "":
		l.broken(v.Pos, "add it", "not a Kubernetes object: no apiVersion")
	case apiVersion == "v1" && kind == "List":
		l.items(v, "")
	case apiVersion == "v1" && kind == "Secret":
		l.secret(v)
	case group == "apiextensions.k8s.io" && kind == "CustomResourceDefinition":
		l.customResource(v)
	default:
		l.warnings.Add(v.Pos, "", "kind %s is not an input of lynqctl, and lynqctl ignores it", kind)
	}
}

// broken reports a document whose kind is unclear.
func (l *loader) broken(pos lynq.Pos, fix, format string, args ...any) {
	l.sawBroken = true
	l.problems.Add(pos, fix, format, args...)
}

// ours reads an object of the Lynq operator's API group.
func (l *loader) ours(v *document.Value, kind, version string) {
	l.sawForm = l.sawForm || kind == wellknown.KindForm
	if version != "v1" {
		l.broken(document.FieldPos(v, "apiVersion"), "write apiVersion: "+wellknown.APIVersion, "kind %s has version %q, which does not exist", kind, version)
		return
	}
	switch kind {
	case wellknown.KindHub:
		l.in.Hubs = append(l.in.Hubs, readHub(&l.report, v, l.hub.Fields))
	case wellknown.KindForm:
		l.in.Forms = append(l.in.Forms, readForm(&l.report, v, l.form.Fields))
	case wellknown.KindNode, wellknown.KindNode + "List":
		l.warnings.Add(v.Pos, "", "kind %s is made from hubs and forms, and lynqctl ignores it", kind)
	case wellknown.KindHub + "List", wellknown.KindForm + "List":
		l.items(v, strings.TrimSuffix(kind, "List"))
	default:
		known := []string{wellknown.KindHub, wellknown.KindForm, wellknown.KindNode}
		l.broken(document.FieldPos(v, "kind"), suggest.Fix(kind, known), "unknown kind %q of group %s", kind, wellknown.Group)
	}
}

// items reads the items of a list. Items of a list of one kind may lack apiVersion and
// kind, because some servers omit them.
func (l *loader) items(v *document.Value, kind string) {
	list := v.Field("items")
	if list == nil || list.Kind != document.List {
		l.broken(v.Pos, "", "a list of objects needs items, which must be a list")
		return
	}
	for _, item := range list.Items {
		if kind != "" && item.Kind == document.Map && item.Field("kind") == nil && item.Field("apiVersion") == nil {
			l.ours(item, kind, "v1")
			continue
		}
		l.document(item)
	}
}

// finish sorts the inputs and checks relations between documents.
func (l *loader) finish() {
	l.in.sort()
	l.forgetRows()
	l.readLookupFiles()
	l.readFormFiles()
	names := map[[3]string]lynq.Pos{}
	for _, hub := range l.in.Hubs {
		l.unique(names, wellknown.KindHub, hub.Namespace, hub.Name, hub.Pos)
	}
	for _, form := range l.in.Forms {
		l.unique(names, wellknown.KindForm, form.Namespace, form.Name, form.Pos)
		l.link(form)
		l.in.learnScopes(form)
	}
	l.linkForms()
	l.linkRenamed()
	l.checkKinds()
	for _, secret := range l.in.Secrets {
		l.unique(names, "Secret", secret.Namespace, secret.Name, secret.Pos)
	}
	l.in.Warnings = l.warnings.Sorted()
}

// sort orders hubs and forms by name.
func (in *Inputs) sort() {
	slices.SortStableFunc(in.Hubs, func(a, b *Hub) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	slices.SortStableFunc(in.Forms, func(a, b *Form) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
}

// forgetRows drops problems of files that a hub reads rows from. Such a file isn't an
// input, although a directory of inputs may have it.
func (l *loader) forgetRows() {
	for _, hub := range l.in.Hubs {
		isLookup := func(p lynq.Problem) bool { return isLookupFile(hub, p) }
		l.problems, l.warnings = slices.DeleteFunc(l.problems, isLookup), slices.DeleteFunc(l.warnings, isLookup)
		if hub.Source.Path == "" || hub.Source.Path == files.StdinPath {
			continue
		}
		isRows := func(p lynq.Problem) bool { return filepath.Clean(p.Pos.File) == filepath.Clean(hub.Source.Path) }
		l.problems = slices.DeleteFunc(l.problems, isRows)
		l.warnings = slices.DeleteFunc(l.warnings, isRows)
	}
}

// unique reports a duplicate of kind, namespace and name.
func (l *loader) unique(names map[[3]string]lynq.Pos, kind, namespace, name string, pos lynq.Pos) {
	key := [3]string{kind, namespace, name}
	first, twice := names[key]
	switch {
	case name == "":
		return
	case !twice:
		names[key] = pos
	case namespace == "":
		l.problems.Add(pos, "rename or remove one of them", "%s %q appears twice, first at %s", kind, name, first)
	default:
		l.problems.Add(pos, "rename or remove one of them", "%s %q of namespace %q appears twice, first at %s", kind, name, namespace, first)
	}
}

// link checks that a form names exactly one hub.
func (l *loader) link(form *Form) {
	if form.HubID == "" || l.in.Hub(form) != nil {
		return
	}
	var names, places []string
	for _, hub := range l.in.Hubs {
		if hub.Name == form.HubID {
			places = append(places, hub.Pos.String())
		}
		if hub.Name != "" {
			names = append(names, hub.Name)
		}
	}
	subject := subjectOf("form", form.Name)
	switch {
	case len(places) > 0:
		l.problems.Add(form.HubIDPos, "give the form the namespace of one of them", "%s: hubId %q is ambiguous: hubs of that name are at %s",
			subject, form.HubID, strings.Join(places, " and "))
	case len(names) == 0:
		l.problems.Add(form.HubIDPos, "pass the hub's file with -f too", "%s: hubId %q isn't in your files: they have no LynqHub", subject, form.HubID)
	default:
		l.problems.Add(form.HubIDPos, suggest.Fix(form.HubID, slices.Compact(names)), "%s: hubId %q isn't a hub in your files", subject, form.HubID)
	}
}

// Hub returns the hub that a form names in hubId. If several hubs have this name, it
// returns the one in the form's namespace. It returns nil if there is none, and Load
// reports that.
func (in *Inputs) Hub(f *Form) *Hub {
	var named, near []*Hub
	for _, hub := range in.Hubs {
		if hub.Name != f.HubID {
			continue
		}
		named = append(named, hub)
		if hub.Namespace == f.Namespace {
			near = append(near, hub)
		}
	}
	switch {
	case len(named) == 1:
		return named[0]
	case len(near) > 0:
		return near[0]
	}
	return nil
}

// subjectOf names a hub or form for messages.
func subjectOf(what, name string) string {
	if name == "" {
		return what + " without a name"
	}
	return what + ` "` + name + `"`
}
