package form

import (
	"errors"
	"fmt"
	"maps"
	"os"
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

// readFilePatterns reads spec.files, and returns only the valid patterns.
func readFilePatterns(spec *object) []Text {
	if v := spec.value.Field("files"); v != nil && v.Kind == document.List && len(v.Items) == 0 {
		spec.fail(v.Pos, "name YAML files, such as base/*.yaml, or remove the field", "%s names no file", spec.name("files"))
	}
	return slices.DeleteFunc(spec.texts("files"), func(t Text) bool {
		_, err := path.Match(t.Text, "")
		switch {
		case t.Pos.File == files.StdinName:
			spec.fail(t.Pos, "give the form as a file", "%s: a form from standard input has no directory", spec.name("files"))
		case !filepath.IsLocal(t.Text):
			spec.fail(t.Pos, "move the file there, and write its path from the form's file", "%s must be in the directory of the form's file, or below it", spec.name("files"))
		case err != nil:
			spec.fail(t.Pos, "write * for any characters", "%s: %q is not a pattern for files", spec.name("files"), t.Text)
		case strings.Contains(t.Text, "**"):
			spec.fail(t.Pos, "write one pattern per directory, such as base/*.yaml", "%s: %q has **, and * never stands for several directories", spec.name("files"), t.Text)
		default:
			return false
		}
		return true
	})
}

// hasFiles reports whether a form has files, even invalid ones.
func (f *Form) hasFiles() bool {
	v := f.Spec.Field("files")
	return v != nil && v.Kind != document.Null
}

// hasMore reports whether a form has resources that its own file doesn't have.
func (f *Form) hasMore() bool { return f.hasFiles() || f.hasKustomize() || len(f.Charts) > 0 }

// tree has the files next to a form. Names have slashes.
type tree struct {
	names func(pattern string) ([]string, error)
	read  func(name string) ([]byte, error)
}

// treeOf returns the files of a directory. No name and no link leads out of it.
func treeOf(dir string) tree {
	return tree{
		names: func(pattern string) ([]string, error) { return namesIn(dir, pattern) },
		read:  func(name string) ([]byte, error) { return readWithin(dir, name) },
	}
}

// treeOfTexts returns the files with these texts.
func treeOfTexts(texts map[string][]byte) tree {
	return tree{
		names: func(pattern string) ([]string, error) {
			return slices.DeleteFunc(slices.Sorted(maps.Keys(texts)), func(name string) bool {
				// Names are clean, as from namesIn. readFilePatterns has checked the pattern.
				matches, _ := path.Match(path.Clean(filepath.ToSlash(pattern)), name)
				return !matches
			}), nil
		},
		read: func(name string) ([]byte, error) { return texts[name], nil },
	}
}

// isPattern reports whether a name stands for several names.
func isPattern(name string) bool { return strings.ContainsAny(name, `*?[\`) }

// namesIn returns the names that a pattern matches in a directory, sorted. Unlike fs.Glob,
// it reports directories that it can't read, because their objects would be deleted. A
// pattern doesn't match dot files, and no kustomization.yaml.
func namesIn(dir, pattern string) ([]string, error) {
	found := []string{"."}
	parts := strings.Split(path.Clean(filepath.ToSlash(pattern)), "/")
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, pathless(err)
	}
	defer func() { _ = root.Close() }() // it was only read
	for i, part := range parts {
		var next []string
		for _, at := range found {
			names := []string{part}
			if isPattern(part) {
				if names, err = matching(root, at, part, i == len(parts)-1); err != nil {
					return nil, fmt.Errorf("%s: %w", at, pathless(err))
				}
			}
			for _, name := range names {
				next = append(next, path.Join(at, name))
			}
		}
		found = next
	}
	if isPattern(pattern) {
		found = slices.DeleteFunc(found, func(name string) bool {
			_, err := root.Lstat(name) // part of the pattern may be a name
			return os.IsNotExist(err)
		})
	}
	return found, nil
}

// matching returns the names in a directory that match one part of a pattern. All parts but
// the last one match directories only.
func matching(root *os.Root, at, part string, last bool) ([]string, error) {
	d, err := root.Open(at)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // it was only read
	all, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range all {
		matches, _ := path.Match(part, name) // readFilePatterns has checked the pattern
		hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(part, ".")
		if !matches || hidden || last && strings.HasPrefix(name, "kustomization.y") {
			continue
		}
		if !last {
			info, err := root.Stat(path.Join(at, name))
			if err != nil {
				return nil, err
			}
			if !info.IsDir() {
				continue
			}
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// readFormFiles reads the files of the forms, also those that another load has read. Forms
// may come from the memory, so a form with files becomes a copy.
func (l *loader) readFormFiles() {
	var found report
	read := map[string]bool{}
	for i, f := range l.in.Forms {
		if hub := l.in.Hub(f); !f.hasMore() || hub != nil && l.kept[hub.Key()] {
			continue
		}
		next := f.withFiles(&found, treeOf(filepath.Dir(f.Pos.File)), l.in.builder, nil)
		for name := range next.texts {
			read[f.pathOf(name)] = true
		}
		for name := range next.base.Texts {
			read[f.pathOf(name)] = true
		}
		for _, c := range next.Charts {
			for _, file := range c.Opened.Files {
				read[file] = true
			}
		}
		l.in.Forms[i] = next
	}
	l.forgetFiles(read)
	l.problems, l.warnings = append(l.problems, found.problems...), append(l.warnings, found.warnings...)
}

// forgetFiles drops what the load says about the files of forms. A directory of inputs may
// have such a file, too, and it is no input. Files with hubs or forms are inputs in any case.
func (l *loader) forgetFiles(read map[string]bool) {
	for _, h := range l.in.Hubs {
		delete(read, filepath.Clean(h.Pos.File))
	}
	for _, f := range l.in.Forms {
		delete(read, filepath.Clean(f.Pos.File))
	}
	from := func(p lynq.Problem) bool { return read[filepath.Clean(p.Pos.File)] }
	l.problems, l.warnings = slices.DeleteFunc(l.problems, from), slices.DeleteFunc(l.warnings, from)
	l.in.Secrets = slices.DeleteFunc(l.in.Secrets, func(s *Secret) bool { return read[filepath.Clean(s.Pos.File)] })
}

// reads reports whether a file is one of the form's files.
func (f *Form) reads(file string) bool {
	for name := range f.texts {
		if f.pathOf(name) == file {
			return true
		}
	}
	return slices.ContainsFunc(f.filesOfBase(), func(name string) bool { return f.pathOf(name) == file })
}

// pathOf returns the path of a file of the form, as positions have it.
func (f *Form) pathOf(name string) string {
	return filepath.Join(filepath.Dir(f.Pos.File), filepath.FromSlash(name))
}

// withFiles returns a copy of a form, with the resources of its files and its kustomization.
// With texts, the kustomization has these files.
func (f *Form) withFiles(rep *report, from tree, builder Builder, texts map[string][]byte) *Form {
	next := *f
	next.texts, next.base, next.builder = map[string][]byte{}, Base{}, builder
	subject, before := subjectOf("form", f.Name), len(rep.problems)
	var documents []*document.Value
	for _, pattern := range f.Files {
		names, err := from.names(pattern.Text)
		if err == nil && len(names) == 0 {
			err = errors.New("no file matches")
		}
		if err != nil {
			rep.problems.Add(pattern.Pos, "check the pattern, which begins at the form's file", "%s: files: read %s: %v", subject, f.pathOf(pattern.Text), err)
		}
		for _, name := range names {
			if _, twice := next.texts[name]; twice {
				continue
			}
			text, err := from.read(name)
			if next.texts[name] = text; err != nil {
				rep.problems.Add(pattern.Pos, "check the path, which begins at the form's file", "%s: files: read %s: %v", subject, f.pathOf(name), err)
				continue
			}
			documents = append(documents, f.documentsIn(rep, name, text)...)
		}
	}
	made, suffixes := next.build(rep, builder, texts)
	next.Charts = f.openCharts(rep, builder, texts != nil)
	whole := len(rep.problems) == before && (!f.hasKustomize() || f.Kustomize.IsSet()) &&
		(!f.hasFiles() || f.Spec.Field("files").Kind == document.List && len(f.Files) == len(f.Spec.Field("files").Items))
	// Callers may change a form's resources, and entries must stay as they are.
	entries := make([]*entry, 0, len(f.entries)+len(documents))
	for _, e := range f.entries {
		own, resource := *e, *e.Resource
		own.Resource = &resource
		entries = append(entries, &own)
	}
	entries = append(entries, f.resourcesOf(rep, fileSection, documents, idsOf(documents))...)
	entries = append(entries, f.resourcesOf(rep, kustomizeSection, made, idsOfBase(made, suffixes))...)
	next.Spec = withDocuments(withDocuments(f.Spec, "files", documents), "kustomize", made)
	next.complete(rep, entries, whole)
	return &next
}

// Beside returns the files that hubs and forms name, and the directories in which patterns
// of forms match files. It doesn't read subdirectories, of which there may be many.
func (in *Inputs) Beside() (paths, dirs []string) {
	for _, h := range in.Hubs {
		for _, l := range h.Lookups {
			if path := l.Path(); path != "" {
				paths = append(paths, path)
			}
		}
	}
	for _, f := range in.Forms {
		for _, pattern := range f.Files {
			if !isPattern(pattern.Text) {
				paths = append(paths, f.pathOf(pattern.Text))
				continue
			}
			names, _ := namesIn(filepath.Dir(f.Pos.File), pattern.Text) // the next load reports it
			for _, name := range names {
				paths = append(paths, f.pathOf(name))
			}
			within, _ := namesIn(filepath.Dir(f.Pos.File), path.Dir(filepath.ToSlash(pattern.Text)))
			for _, dir := range within {
				dirs = append(dirs, f.pathOf(dir))
			}
		}
		for _, name := range f.filesOfBase() {
			paths = append(paths, f.pathOf(name))
		}
		for _, c := range f.Charts {
			more, below := c.beside()
			paths, dirs = append(paths, more...), append(dirs, below...)
		}
		if f.Kustomize.IsSet() {
			dirs = append(dirs, f.pathOf(f.Kustomize.Text)) // it may get its kustomization
		}
	}
	return paths, dirs
}

// Version returns the form as it is when one of its files has another text, or nil if that
// has errors. own is the form in a version of its own file.
func (f *Form) Version(own *Form, file string, text []byte) *Form {
	if !own.hasMore() {
		return own
	}
	change := func(texts map[string][]byte) map[string][]byte {
		next := map[string][]byte{}
		for name, now := range texts {
			if next[name] = now; f.pathOf(name) == file {
				next[name] = text
			}
		}
		return next
	}
	var rep report
	next := own.withFiles(&rep, treeOfTexts(change(f.texts)), f.builder, change(f.base.Texts))
	if len(rep.problems) > 0 {
		return nil
	}
	return next
}

// withDocuments returns a spec that has documents instead of the names in a field, because a
// change of them changes what the form says.
func withDocuments(spec *document.Value, key string, documents []*document.Value) *document.Value {
	next := *spec
	next.Fields = slices.Clone(spec.Fields)
	for i, f := range next.Fields {
		if f.Key == key && f.Value.Kind != document.Null {
			next.Fields[i].Value = &document.Value{Kind: document.List, Pos: f.Value.Pos, Items: documents}
		}
	}
	return &next
}

// documentsIn returns the objects in a file. A file without any may be half written, and
// then its objects would be deleted.
func (f *Form) documentsIn(rep *report, name string, text []byte) []*document.Value {
	file, before := f.pathOf(name), len(rep.problems)
	documents, complete := parse(rep, file, text)
	objects := objectsOf(rep, subjectOf("form", f.Name), documents)
	if len(objects) == 0 && complete && len(rep.problems) == before {
		rep.problems.Add(lynq.Pos{File: file}, "remove the file, or write one", "%s: files: the file has no object", subjectOf("form", f.Name))
	}
	return objects
}

// objectsOf returns objects, and those in lists of kind List.
func objectsOf(rep *report, subject string, documents []*document.Value) []*document.Value {
	var objects []*document.Value
	for _, v := range documents {
		items := v.Field("items")
		switch kind := v.Field("kind").Literal(); {
		case v.Kind != document.Map:
			rep.problems.Add(v.Pos, "write apiVersion, kind and metadata", "%s: not a Kubernetes object: found %s", subject, v.Describe())
		case kind == "List" && v.Field("apiVersion").Literal() == "v1" && items != nil && items.Kind == document.List:
			objects = append(objects, objectsOf(rep, subject, items.Items)...)
		case strings.HasSuffix(kind, "List") && items != nil:
			rep.problems.Add(document.FieldPos(v, "kind"), "write each object as a document of its own, begun by ---", "%s: a %s is not an object", subject, kind)
		case groupOf(v) == wellknown.Group && (kind == "LynqHub" || kind == "LynqForm"):
			rep.problems.Add(document.FieldPos(v, "kind"), "name other files, such as those of a directory of their own", "%s: a %s is an input of lynqctl, and not an object", subject, kind)
		case groupOf(v) == "kustomize.config.k8s.io":
			rep.problems.Add(document.FieldPos(v, "kind"), "name its directory in spec.kustomize instead", "%s: a %s is an input of Kustomize, and not an object", subject, kind)
		default:
			objects = append(objects, v)
		}
	}
	return objects
}

func groupOf(v *document.Value) string {
	group, _ := lynq.SplitAPIVersion(v.Field("apiVersion").Literal())
	return group
}

// resourcesOf turns objects from elsewhere into resources of the form.
func (f *Form) resourcesOf(rep *report, from string, objects []*document.Value, ids []Text) []*entry {
	table := lynq.Policies()
	entries := make([]*entry, 0, len(objects))
	for i, v := range objects {
		entries = append(entries, readObject(rep, subjectOf("form", f.Name), from, entryLabel(ids[i].Text, from, i), ids[i], v, table, f.defaults))
	}
	return entries
}

// idsOf returns the ids of objects.
func idsOf(objects []*document.Value) []Text {
	ids := make([]Text, len(objects))
	for i, v := range objects {
		ids[i] = objectID(v)
	}
	return ids
}

// readObject turns an object from elsewhere into a resource. Its policies come from
// annotations and defaults only.
func readObject(rep *report, subject, from, label string, id Text, v *document.Value, table []lynq.PolicyField, defaults []*policyDefault) *entry {
	r := &Resource{Pos: v.Pos, Section: from, Manifest: &document.Value{Kind: document.Map, Pos: v.Pos}}
	e := &entry{Resource: r, label: label, idPos: id.Pos}
	subject += ", " + label
	manifest := newObject(rep, subject, "", withoutID(v))
	if strings.TrimSpace(id.Text) == "" {
		manifest.fail(id.Pos, "write it as a text, such as web", "annotation %s is empty", wellknown.AnnotationResourceID)
	}
	checkID(manifest, id)
	r.ID = id.Text
	readManifest(manifest, section{Name: from}, r)
	readPolicies(newObject(rep, subject, "", &document.Value{Kind: document.Map, Pos: v.Pos}), r, table, defaults)
	return e
}

// objectID returns the id of an object. Without an annotation, it has the kind and the fixed
// parts of the name, such as deployment-web for {{ .uid }}-web.
func objectID(v *document.Value) Text {
	m := v.Field("metadata")
	if id := m.Field("annotations").Field(wellknown.AnnotationResourceID); id != nil {
		return Text{Pos: id.Pos, Text: id.Str}
	}
	id := Text{Pos: v.Pos, Text: strings.ToLower(v.Field("kind").Literal())}
	if name := m.Field("name"); name != nil && name.Kind == document.String {
		fixed := regexp.MustCompile(`(?s)\{\{.*?\}\}`).ReplaceAllString(name.Str, "-")
		fixed = regexp.MustCompile(`[^A-Za-z0-9.:_]+`).ReplaceAllString(fixed, "-")
		id.Text = strings.Trim(id.Text+"-"+strings.Trim(fixed, "-."), "-")
	}
	return id
}

// withoutID returns an object without the annotation that has its id. lynqctl sets it itself.
func withoutID(v *document.Value) *document.Value {
	return without(v, "metadata", "annotations", wellknown.AnnotationResourceID)
}

// without returns a value without the field at a path.
func without(v *document.Value, key string, path ...string) *document.Value {
	i := slices.IndexFunc(v.Fields, func(f document.Field) bool { return f.Key == key })
	if i < 0 {
		return v
	}
	next := *v
	if next.Fields = slices.Clone(v.Fields); len(path) == 0 {
		next.Fields = slices.Delete(next.Fields, i, i+1)
	} else {
		next.Fields[i].Value = without(v.Fields[i].Value, path[0], path[1:]...)
	}
	return &next
}
