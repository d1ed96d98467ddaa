package kustomize

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// Builder builds kustomizations, one at a time, because the library has global state.
type Builder struct{ mu sync.Mutex }

// Build returns the objects of a kustomization, or what is wrong with it. It returns the
// files that it read in both cases.
func (b *Builder) Build(r wire.Build) (*wire.Built, []wire.Problem) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !filepath.IsLocal(filepath.FromSlash(r.Base)) {
		return nil, []wire.Problem{{File: r.Base, What: "the base is outside the directory of the form's file", Fix: "move it there, or below it"}}
	}
	files := &fileSystem{dir: filepath.Clean(r.Dir), base: path.Clean(r.Base), texts: map[string][]byte{}}
	if r.Texts != nil {
		files.from = texts(r.Texts)
	} else {
		on, err := openDisk(files.dir)
		if err != nil {
			return nil, []wire.Problem{{File: r.Base, What: fmt.Sprintf("open the directory of the form's file: %v", err)}}
		}
		defer on.close()
		files.from = on
	}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionUnspecified // as in kubectl kustomize
	objects, problems := files.build(options)
	if len(problems) > 0 {
		objects = nil
	}
	built := &wire.Built{Objects: objects, Texts: files.texts}
	for _, a := range files.absent {
		if !slices.Contains(built.Missing, a.name) {
			built.Missing = append(built.Missing, a.name)
		}
	}
	return built, problems
}

// build returns the objects of the base.
func (f *fileSystem) build(options *krusty.Options) ([]wire.Object, []wire.Problem) {
	made, err := krusty.MakeKustomizer(options).Run(f, filepath.Join(f.dir, filepath.FromSlash(f.base)))
	if len(f.problems) > 0 {
		return nil, f.problems
	}
	if err != nil {
		return nil, f.explain(err)
	}
	objects, err := f.objects(made)
	if err != nil {
		return nil, f.explain(err)
	}
	if len(objects) == 0 {
		return nil, []wire.Problem{{File: f.kustomization(), What: "the kustomization makes no object", Fix: "list files with objects in its resources"}}
	}
	return objects, nil
}

// objects returns the objects with the files that they come from.
func (f *fileSystem) objects(made resmap.ResMap) ([]wire.Object, error) {
	// The hash of the content in the names of ConfigMaps and Secrets.
	hashed := regexp.MustCompile(`-[bcdfghkmt2456789]{10}$`)
	objects := make([]wire.Object, 0, made.Size())
	for _, r := range made.Resources() {
		origin, err := r.GetOrigin()
		if err != nil {
			return nil, err
		}
		file, suffix := "", ""
		if origin != nil {
			file = origin.Path
			if file == "" {
				file = origin.ConfiguredIn
			}
			if strings.HasSuffix(origin.ConfiguredBy.Kind, "Generator") {
				suffix = hashed.FindString(r.GetName())
			}
		}
		if file != "" {
			file = path.Join(f.base, filepath.ToSlash(file))
		}
		if _, read := f.texts[file]; !read {
			file = ""
		}
		objects = append(objects, wire.Object{File: file, Suffix: suffix})
	}
	if f.added {
		if err := made.RemoveOriginAnnotations(); err != nil {
			return nil, err
		}
	}
	for i, r := range made.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			return nil, err
		}
		objects[i].Text = string(text)
	}
	return objects, nil
}

// kustomization returns the name of the base's kustomization, as far as it is known.
func (f *fileSystem) kustomization() string {
	for name := range f.texts {
		if path.Dir(name) == f.base && isKustomization(name) {
			return name
		}
	}
	return f.base
}

// explain returns problems for an error of the library. Errors in YAML are at their lines.
func (f *fileSystem) explain(err error) []wire.Problem {
	if found := f.malformed(); len(found) > 0 {
		return found
	}
	// The library writes absolute paths, and some errors have a line for each attempt.
	what := strings.ReplaceAll(err.Error(), f.dir+string(filepath.Separator), "")
	what = strings.ReplaceAll(what, f.dir, ".")
	what = strings.Join(strings.Fields(what), " ")
	if found := f.absences(what); len(found) > 0 {
		return found
	}
	problem := wire.Problem{File: f.kustomization(), What: what}
	for _, hint := range hints() {
		if hint.in.MatchString(what) {
			problem.Fix = hint.fix
			break
		}
	}
	return []wire.Problem{problem}
}

// absences returns problems for names without files, at the lines that have the names. The
// library tries names in several ways, so only those in its error count.
func (f *fileSystem) absences(what string) []wire.Problem {
	var found []wire.Problem
	for _, a := range f.absent {
		if !strings.Contains(what, a.name) {
			continue
		}
		p := wire.Problem{File: f.kustomization(), What: a.name + " " + a.why, Fix: a.fix}
		if a.name == f.base {
			p.File, p.Fix = "", "check spec.kustomize, which begins at the form's file"
		}
		for _, file := range f.sorted() {
			documents, _ := parse(f.texts[file]) // what can't be parsed is reported elsewhere
			for _, doc := range documents {
				if line := lineOf(doc, a.name, path.Dir(file)); line > 0 && isKustomization(file) {
					p.File, p.Line = file, line
				}
			}
		}
		if !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found
}

// lineOf returns the line of a text that names a file from a directory, or 0.
func lineOf(n *yaml.Node, name, dir string) int {
	_, file, _ := strings.Cut(n.Value, "=")
	if n.Kind == yaml.ScalarNode && (path.Join(dir, n.Value) == name || path.Join(dir, file) == name) {
		return n.Line
	}
	for _, child := range n.Content {
		if line := lineOf(child, name, dir); line > 0 {
			return line
		}
	}
	return 0
}

// hint is what to do about an error of the library.
type hint struct {
	in  *regexp.Regexp
	fix string
}

func hints() []hint {
	return []hint{
		{regexp.MustCompile(`uses no network|no 'git' program`), remoteFix},
		{regexp.MustCompile(`enable-helm|HelmChartInflationGenerator`), helmFix},
		{regexp.MustCompile(`external plugins disabled|unable to load external plugin`), pluginFix},
		{regexp.MustCompile(`unable to find one of`), "write a kustomization.yaml, or name another directory"},
		{regexp.MustCompile(`security; file .* is not in or below`), "move the file below the kustomization, or give its directory a kustomization of its own"},
	}
}

// These say what to do about what lynqctl doesn't do.
const (
	remoteFix = "copy the files beside the form, and name them by their paths"
	helmFix   = "name the chart in spec.charts of the form instead"
	pluginFix = "use what is built into Kustomize, or write the plugin's objects into a file"
)

// sorted returns the names of the texts.
func (f *fileSystem) sorted() []string {
	names := make([]string, 0, len(f.texts))
	for name := range f.texts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
