package gitops

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
)

// kustomizationFile is what kustomize, Argo CD and Flux look for in a folder.
const kustomizationFile = "kustomization.yaml"

// kustomizationHead sorts nothing: without the order fifo kustomize would put
// kinds into an order of its own. The file sets no namespace, no label, nothing
// that would make objects of the tree other objects than those of the stream.
const kustomizationHead = `# Written by lynqctl render.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
sortOptions:
  order: fifo
`

// kustomization is a kustomization.yaml of some files and folders beside it.
func kustomization(resources []string) []byte {
	size := len(kustomizationHead) + len("resources: []\n")
	for _, r := range resources {
		size += len(r) + len("- \"\"\n")
	}
	b := append(make([]byte, 0, size), kustomizationHead...)
	if len(resources) == 0 {
		return append(b, "resources: []\n"...)
	}
	b = append(b, "resources:\n"...)
	for _, r := range resources {
		b = append(b, "- "...)
		if isPlain(r) {
			b = append(b, r...)
		} else {
			b = strconv.AppendQuote(b, r)
		}
		b = append(b, '\n')
	}
	return b
}

// isPlain tells whether no reader of YAML takes a name of a file for anything
// but text: what begins with a letter and has a dash, a dot or an underscore is
// neither number nor word with a meaning.
func isPlain(name string) bool {
	return name[0] >= 'a' && name[0] <= 'z' && strings.ContainsAny(name, "-._")
}

// separator begins each document of a stream.
const separator = "---\n"

// stream is the documents of objects one behind the other, as render writes them
// to standard output.
func stream(objects []Object) []byte {
	size := 0
	for i := range objects {
		size += len(separator) + len(objects[i].Bytes)
	}
	b := make([]byte, 0, size)
	for i := range objects {
		b = append(append(b, separator...), objects[i].Bytes...)
	}
	return b
}

// documents takes a stream apart. Within a document no line is a separator: what
// text has of the kind is indented.
func documents(b []byte) [][]byte {
	var all [][]byte
	b, _ = bytes.CutPrefix(b, []byte(separator))
	for {
		end := bytes.Index(b, []byte("\n"+separator))
		if end < 0 {
			return append(all, b)
		}
		all = append(all, b[:end+1])
		b = b[end+1+len(separator):]
	}
}

// listedIn are the names in a kustomization.yaml that only lists, as kustomization writes
// it: two such files that a merge joined line by line are one too. False means that
// somebody made something else of the file.
func listedIn(content []byte) ([]string, bool) {
	ours := strings.Split(kustomizationHead+"resources:\nresources: []\n", "\n")
	var names []string
	for line := range strings.SplitSeq(string(content), "\n") {
		name, entry := strings.CutPrefix(line, "- ")
		if text, err := strconv.Unquote(name); err == nil {
			name = text
		}
		switch {
		case entry:
			names = append(names, name)
		case !slices.Contains(ours, line):
			return nil, false
		}
	}
	return names, true
}

// onlyLists tells whether a kustomization.yaml lists files and folders of the tree, and
// nothing else. What it lists follows from the index then: nobody's work is lost when the
// file is written anew.
func (t *listings) onlyLists(file string, content []byte) bool {
	names, ok := listedIn(content)
	return ok && !slices.ContainsFunc(names, func(name string) bool { return !t.has(path.Join(path.Dir(file), name)) })
}

// listings are the paths that a tree has or is to have, and their folders.
type listings struct{ paths map[string]bool }

func listingsOf(x *index.Index, files []File) *listings {
	t := &listings{paths: make(map[string]bool, 2*len(files))}
	for i := range x.Entries {
		t.add(x.Entries[i].Path)
	}
	for i := range files {
		t.add(files[i].Path)
	}
	return t
}

func (t *listings) add(p string) {
	for ; p != "." && !t.paths[p]; p = path.Dir(p) {
		t.paths[p] = true
	}
}

func (t *listings) has(p string) bool { return t.paths[p] }
