package form

import (
	"io"
	"regexp"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/form/files"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// InputFile is the text of an input file without other documents. Above all, it has no
// Secrets.
type InputFile struct {
	Name string // "stdin" for standard input
	Text string
	// Secrets are the omitted Secrets.
	Secrets []Secret
}

// InputFiles returns the text of the files that Load reads. It keeps documents with hubs,
// forms and CustomResourceDefinitions. The error is lynq.Problems.
func InputFiles(paths []string, recursive bool, stdin io.Reader) ([]InputFile, error) {
	rep := &report{}
	var found []InputFile
	named := files.Named{Paths: paths, Recursive: recursive, Stdin: stdin}
	named.Read(&rep.problems, func(file string, data []byte) {
		t := InputFile{Name: file}
		line := 0
		for _, chunk := range chunks(string(data)) {
			documents, complete := parse(rep, file, []byte(strings.Repeat("\n", line)+chunk))
			line += strings.Count(chunk, "\n")
			if complete && t.takes(rep, documents) {
				t.Text += chunk
			}
		}
		if t.Text != "" || len(t.Secrets) > 0 {
			found = append(found, t)
		}
	})
	return found, rep.problems.Err()
}

// chunks splits YAML at the lines that begin documents. YAML forbids such a line within a
// scalar.
func chunks(text string) []string {
	var all []string
	from := 0
	for _, at := range regexp.MustCompile(`(?m)^---([ \t\r]|$)`).FindAllStringIndex(text, -1) {
		if at[0] > from {
			all = append(all, text[from:at[0]])
		}
		from = at[0]
	}
	return append(all, text[from:])
}

// takes reports whether all documents of a chunk are inputs, and notes Secrets. Most
// chunks have one document.
func (t *InputFile) takes(rep *report, documents []*document.Value) bool {
	all := len(documents) > 0
	for _, v := range documents {
		if isInput(v) {
			continue
		}
		all = false
		t.secretsIn(v)
		if hasInput(v) {
			rep.problems.Add(v.Pos, "write each object as a document of its own, begun by ---", "hubs or forms are in one list with other objects, which may be secret")
		}
	}
	return all
}

// isInput reports whether a document is a hub, a form, a CustomResourceDefinition, or a
// list of these.
func isInput(v *document.Value) bool {
	group, _ := lynq.SplitAPIVersion(v.Field("apiVersion").Literal())
	switch kind := v.Field("kind").Literal(); {
	case group == wellknown.Group:
		return kind != wellknown.KindNode && kind != wellknown.KindNode+"List"
	case group == "apiextensions.k8s.io":
		return kind == "CustomResourceDefinition"
	case group == "" && kind == "List":
		for _, item := range itemsOf(v) {
			if !isInput(item) {
				return false
			}
		}
		return true
	}
	return false
}

// hasInput reports whether a list has an input.
func hasInput(v *document.Value) bool {
	for _, item := range itemsOf(v) {
		if isInput(item) || hasInput(item) {
			return true
		}
	}
	return false
}

func itemsOf(v *document.Value) []*document.Value {
	items := v.Field("items")
	if items == nil || items.Kind != document.List {
		return nil
	}
	return items.Items
}

// secretsIn notes the names of a document's Secrets.
func (t *InputFile) secretsIn(v *document.Value) {
	if v.Field("kind").Literal() == "Secret" {
		m := v.Field("metadata")
		t.Secrets = append(t.Secrets, Secret{Pos: v.Pos, Name: m.Field("name").Literal(), Namespace: m.Field("namespace").Literal()})
	}
	for _, item := range itemsOf(v) {
		t.secretsIn(item)
	}
}
