package kustomize

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// remote returns what matches names that the library would download.
func remote() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(git::|https?:|ssh:|file:|[a-z][a-z0-9+.-]*://|(www\.)?github\.com[/:]|[a-z][a-z0-9-]*@)`)
}

// refused returns what a kustomization asks for and lynqctl doesn't do.
func refused(file string, text []byte) []wire.Problem {
	documents, _ := parse(text) // the library reports errors
	var found []wire.Problem
	for _, doc := range documents {
		fields := fieldsOf(doc)
		for _, key := range []string{"helmCharts", "helmChartInflationGenerator", "helmGlobals"} {
			if v := fields[key]; v != nil {
				found = append(found, wire.Problem{File: file, Line: v.Line, What: key + " needs the program helm, which lynqctl doesn't run", Fix: helmFix})
			}
		}
		for _, key := range []string{"resources", "bases", "components", "generators", "transformers", "validators", "crds", "configurations", "patchesStrategicMerge"} {
			found = append(found, remotes(file, key, fields[key])...)
		}
		for _, key := range []string{"patches", "patchesJson6902", "replacements"} {
			for _, item := range itemsOf(fields[key]) {
				found = append(found, remotes(file, key, fieldsOf(item)["path"])...)
			}
		}
		for _, key := range []string{"configMapGenerator", "secretGenerator"} {
			for _, item := range itemsOf(fields[key]) {
				for _, list := range []string{"files", "envs", "env"} {
					found = append(found, remotes(file, key, fieldsOf(item)[list])...)
				}
			}
		}
		found = append(found, remotes(file, "openapi", fieldsOf(fields["openapi"])["path"])...)
	}
	return found
}

// remotes returns problems for the names in a value that the library would download.
func remotes(file, key string, v *yaml.Node) []wire.Problem {
	var found []wire.Problem
	for _, item := range append(itemsOf(v), v) {
		if item == nil || item.Kind != yaml.ScalarNode || strings.Contains(item.Value, "\n") {
			continue
		}
		name := item.Value
		if _, value, ok := strings.Cut(name, "="); ok && strings.HasSuffix(key, "Generator") { // KEY=FILE
			name = value
		}
		if remote().MatchString(strings.TrimSpace(name)) {
			found = append(found, wire.Problem{File: file, Line: item.Line, What: fmt.Sprintf("%s: %s is remote, and lynqctl downloads nothing", key, name), Fix: remoteFix})
		}
	}
	return found
}

// withOrigins returns the text with the option by which the library annotates each object
// with the file that it comes from. If the user asked for that, the annotations stay. If the
// text can't be changed in this way, the files stay unknown.
func (f *fileSystem) withOrigins(text []byte) []byte {
	const key, option = "buildMetadata", "originAnnotations"
	documents, err := parse(text)
	if err != nil || len(documents) != 1 || documents[0].Kind != yaml.MappingNode {
		return text
	}
	doc := documents[0]
	options := fieldsOf(doc)[key]
	for _, item := range itemsOf(options) {
		if item.Value == option {
			return text
		}
	}
	added := &yaml.Node{Kind: yaml.ScalarNode, Value: option}
	switch {
	case options == nil:
		list := &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{added}}
		doc.Content = append(doc.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, list)
	case options.Kind == yaml.SequenceNode:
		options.Content = append(options.Content, added)
	default:
		return text
	}
	next, err := yaml.Marshal(doc)
	if err != nil || !sameWithout(key, text, next) {
		return text
	}
	f.added = true
	return next
}

// sameWithout reports whether two texts say the same, except for a field.
func sameWithout(key string, a, b []byte) bool {
	var of [2]map[string]any
	for i, text := range [][]byte{a, b} {
		if err := yaml.Unmarshal(text, &of[i]); err != nil {
			return false
		}
		delete(of[i], key)
	}
	return reflect.DeepEqual(of[0], of[1])
}

// malformed returns errors in the YAML of files that were read.
func (f *fileSystem) malformed() []wire.Problem {
	var found []wire.Problem
	for _, name := range f.sorted() {
		switch path.Ext(name) {
		case ".yaml", ".yml", ".json", "":
		default:
			continue
		}
		documents, err := parse(f.texts[name])
		for _, doc := range documents {
			if at := unquoted(doc); at != nil {
				found = append(found, wire.Problem{File: name, Line: at.Line, What: "a value begins with {{ and has no quotes, so YAML reads a map", Fix: quoteFix})
			}
		}
		if err == nil || !isKustomization(name) && path.Ext(name) == "" {
			continue
		}
		problem := wire.Problem{File: name, What: err.Error()}
		if m := regexp.MustCompile(`^yaml: line (\d+): `).FindStringSubmatch(problem.What); m != nil {
			problem.Line, _ = strconv.Atoi(m[1]) // it has digits only
			problem.What = "yaml: " + strings.TrimPrefix(problem.What, m[0])
		}
		if bytes.Contains(f.texts[name], []byte("{{")) {
			problem.Fix = quoteFix
		}
		found = append(found, problem)
	}
	return found
}

const quoteFix = `quote values with templates: "{{ .uid }}"`

// unquoted returns a key that is a map itself, which comes from a template without quotes.
func unquoted(n *yaml.Node) *yaml.Node {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && child.Kind == yaml.MappingNode {
			return child
		}
		if found := unquoted(child); found != nil {
			return found
		}
	}
	return nil
}

// parse returns the documents of a text, without those after an error.
func parse(text []byte) ([]*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var documents []*yaml.Node
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return documents, err
		}
		if len(doc.Content) > 0 {
			documents = append(documents, doc.Content[0])
		}
	}
}

// fieldsOf returns the fields of a map.
func fieldsOf(n *yaml.Node) map[string]*yaml.Node {
	fields := map[string]*yaml.Node{}
	if n = resolved(n); n != nil && n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			fields[n.Content[i].Value] = resolved(n.Content[i+1])
		}
	}
	return fields
}

// itemsOf returns the items of a list.
func itemsOf(n *yaml.Node) []*yaml.Node {
	if n = resolved(n); n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	items := make([]*yaml.Node, 0, len(n.Content))
	for _, item := range n.Content {
		items = append(items, resolved(item))
	}
	return items
}

// resolved returns the value that an alias stands for.
func resolved(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
