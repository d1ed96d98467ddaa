package form

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/form/files"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// kustomizeSection is the kustomization with resources of all kinds.
const kustomizeSection = "kustomize"

// Builder builds kustomizations, and reads charts.
type Builder interface {
	// Build builds the kustomization in a directory below that of the form's file. With
	// texts, it reads no other files. Problems without a place of their own have that of at.
	// With problems, the Base has only the files that were read.
	Build(at lynq.Pos, dir, base string, texts map[string][]byte) (Base, lynq.Problems)
	// Open reads a chart, which forms name. Problems name its files.
	Open(c *Chart) (OpenedChart, lynq.Problems)
	// Failed returns an error if charts can't be read for another reason than their files.
	Failed() error
}

// Base has the objects that a kustomization makes, and its files.
type Base struct {
	Objects []BaseObject
	// Texts are the files that were read, by their names from the form's file, with slashes.
	// Missing are files that don't exist.
	Texts   map[string][]byte
	Missing []string
}

// BaseObject is an object that a kustomization makes, as YAML.
type BaseObject struct {
	File string // the file that it comes from, or ""
	Text string
	// Suffix is the end of the name that changes with the content, or "".
	Suffix string
}

// readKustomize reads spec.kustomize.
func readKustomize(spec *object) Text {
	t := spec.text("kustomize")
	fix, what := "", ""
	switch {
	case !t.IsSet():
	case t.Pos.File == files.StdinName:
		fix, what = "give the form as a file", "a form from standard input has no directory"
	case document.IsTemplate(t.Text):
		fix, what = "name one base, and write templates into its files", "it may not be a template"
	case strings.Contains(t.Text, "://"):
		fix, what = "copy the base beside the form, so that each run has the same one", "it must be a directory; found an address"
	case !filepath.IsLocal(t.Text):
		fix, what = "move the base there, and write its path from the form's file", "it must be in the directory of the form's file, or below it"
	}
	if what != "" {
		spec.fail(t.Pos, fix, "%s: %s", spec.name("kustomize"), what)
		return Text{}
	}
	return t
}

// hasKustomize reports whether a form has a kustomization, even an invalid one.
func (f *Form) hasKustomize() bool {
	v := f.Spec.Field("kustomize")
	return v != nil && v.Kind != document.Null
}

// build builds the form's kustomization, and returns its objects with their suffixes.
func (f *Form) build(rep *report, builder Builder, texts map[string][]byte) ([]*document.Value, []string) {
	if !f.Kustomize.IsSet() {
		return nil, nil
	}
	subject := subjectOf("form", f.Name)
	if builder == nil {
		rep.problems.Add(f.Kustomize.Pos, "name its files in spec.files", "%s: kustomize: this command builds no kustomizations", subject)
		return nil, nil
	}
	base := path.Clean(filepath.ToSlash(f.Kustomize.Text))
	var problems lynq.Problems
	f.base, problems = builder.Build(f.Kustomize.Pos, filepath.Dir(f.Pos.File), base, texts)
	for _, p := range problems {
		rep.problems.Add(p.Pos, p.Fix, "%s: kustomize: %s", subject, p.What)
	}
	return f.objectsOfBase(rep)
}

// objectsOfBase returns the objects of the kustomization. Their places are those of the same
// values or templates in the files that they come from.
func (f *Form) objectsOfBase(rep *report) (objects []*document.Value, suffixes []string) {
	origins, places := map[string][]*document.Value{}, f.placesInBase()
	for _, o := range f.base.Objects {
		at := lynq.Pos{File: f.pathOf(cmp.Or(o.File, f.Kustomize.Text))}
		var found report
		documents, _ := parse(&found, at.File, []byte(o.Text))
		for _, p := range found.problems {
			rep.problems.Add(at, p.Fix, "%s", p.What)
		}
		if _, known := origins[o.File]; !known && o.File != "" {
			var ignored report // Kustomize has read the file
			all, _ := parse(&ignored, at.File, f.base.Texts[o.File])
			origins[o.File] = objectsOf(&ignored, "", all)
		}
		for _, v := range objectsOf(rep, subjectOf("form", f.Name), documents) {
			objects, suffixes = append(objects, places.placed(v, originOf(v, origins[o.File]), at)), append(suffixes, o.Suffix)
		}
	}
	return objects, suffixes
}

// originOf returns the object from which Kustomize made another one, or nil. Kustomize keeps
// the kind, and may add to the name.
func originOf(v *document.Value, among []*document.Value) *document.Value {
	var best *document.Value
	for _, o := range among {
		if o.Field("kind").Literal() == v.Field("kind").Literal() && strings.Contains(nameOf(v), nameOf(o)) && (best == nil || len(nameOf(o)) > len(nameOf(best))) {
			best = o
		}
	}
	return best
}

// places has the place of each template that the files of a base have once. The others have
// no place.
type places map[string]lynq.Pos

// actions returns the templates in a text.
func actions(text string) []string { return regexp.MustCompile(`\{\{.*?\}\}`).FindAllString(text, -1) }

func (f *Form) placesInBase() places {
	all := places{}
	for name, text := range f.base.Texts {
		for i, line := range strings.Split(string(text), "\n") {
			for _, action := range actions(line) {
				at := lynq.Pos{File: f.pathOf(name), Line: i + 1}
				if _, twice := all[action]; twice {
					at = lynq.Pos{}
				}
				all[action] = at
			}
		}
	}
	return all
}

// placed returns a value with the places of the values of its origin. A text that Kustomize
// changed has the place of its new template. Other values that Kustomize added have the place
// of the value around them.
func (ps places) placed(v, origin *document.Value, at lynq.Pos) *document.Value {
	if origin != nil {
		at = origin.Pos
	}
	if v.Kind == document.String {
		for _, action := range actions(v.Str) {
			if p := ps[action]; p.File != "" && (origin == nil || !strings.Contains(origin.Str, action)) {
				at = p
				break
			}
		}
	}
	next := *v
	next.Pos, next.Items, next.Fields = at, slices.Clone(v.Items), slices.Clone(v.Fields)
	for i, item := range next.Items {
		next.Items[i] = ps.placed(item, itemLike(item, i, origin), at)
	}
	for i, field := range next.Fields {
		from := at
		if origin != nil {
			if k := slices.IndexFunc(origin.Fields, func(o document.Field) bool { return o.Key == field.Key }); k >= 0 {
				from = origin.Fields[k].Pos
			}
		}
		next.Fields[i].Pos, next.Fields[i].Value = from, ps.placed(field.Value, origin.Field(field.Key), from)
	}
	return &next
}

// itemLike returns the item of a list that has the same name as another, or else the same
// place.
func itemLike(item *document.Value, index int, list *document.Value) *document.Value {
	if list == nil {
		return nil
	}
	if name := item.Field("name").Literal(); name != "" {
		for _, other := range list.Items {
			if other.Field("name").Literal() == name {
				return other
			}
		}
		return nil
	}
	if index < len(list.Items) {
		return list.Items[index]
	}
	return nil
}

// idsOfBase returns the ids of objects without the suffixes of names, which change with the
// content.
func idsOfBase(objects []*document.Value, suffixes []string) []Text {
	ids := make([]Text, len(objects))
	for i, v := range objects {
		ids[i] = objectID(v)
		if v.Field("metadata").Field("annotations").Field(wellknown.AnnotationResourceID) == nil {
			ids[i].Text = strings.TrimSuffix(ids[i].Text, suffixes[i])
		}
	}
	return ids
}

// FilesOf returns the files that decide what a resource is, the most likely one first. They
// are the file with the resource, those of its kustomization, and the form's.
func (f *Form) FilesOf(r *Resource) []string {
	all := []string{r.Pos.File}
	if r.Section == kustomizeSection {
		for _, name := range slices.Sorted(maps.Keys(f.base.Texts)) {
			all = append(all, f.pathOf(name))
		}
	}
	all = append(all, f.Pos.File) // a default may have changed
	var files []string
	for _, file := range all {
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// filesOfBase returns the files that a build has read, and those that it looked for.
func (f *Form) filesOfBase() []string {
	return append(slices.Sorted(maps.Keys(f.base.Texts)), f.base.Missing...)
}

// checkPods reports kustomizations and charts, which pods can't build.
func (f *Form) checkPods(problems *lynq.Problems) {
	if f.hasKustomize() {
		problems.Add(f.Kustomize.Pos, fmt.Sprintf("run kubectl kustomize %s, save what it prints as a file, and name that in spec.files instead", f.pathOf(f.Kustomize.Text)),
			"%s: kustomize: pods can't build it, because their image has no lynqctl-chart", subjectOf("form", f.Name))
	}
	for _, c := range f.Charts {
		problems.Add(c.Pos, "run lynqctl outside the cluster for this form", "%s, chart %q: pods can't render it, because their image has no lynqctl-chart", subjectOf("form", f.Name), c.ID)
	}
}
