package gitops

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
)

// kustomizationFile is the file that kustomize, Argo CD and Flux read in a folder.
const kustomizationFile = "kustomization.yaml"

// kustomizationHead sets the order fifo, because kustomize would otherwise sort by kind.
// It sets no namespace or label, so that the tree's objects equal those of the stream.
const kustomizationHead = `# Written by lynqctl render.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
sortOptions:
  order: fifo
`

// kustomization returns a kustomization.yaml with some files and folders beside it.
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

// isPlain reports whether every YAML reader takes a file's name for text. A name that
// starts with a letter and has a dash, a dot or an underscore is neither a number nor a
// special word.
func isPlain(name string) bool {
	return name[0] >= 'a' && name[0] <= 'z' && strings.ContainsAny(name, "-._")
}

// separator starts each document of a stream.
const separator = "---\n"

// stream joins the documents of objects, as render writes them to standard output.
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

// documents splits a stream. Others may have changed the ends of lines, or written something
// behind a separator. No line in a document is a separator, because such lines in texts are
// indented.
func documents(b []byte) [][]byte {
	if crlf := []byte("\r\n"); bytes.Contains(b, crlf) {
		b = bytes.ReplaceAll(b, crlf, []byte("\n"))
	}
	if below, is := belowSeparator(b); is {
		b = below
	}
	var all [][]byte
	for at := 0; ; {
		line := bytes.Index(b[at:], []byte("\n---"))
		if line < 0 {
			return append(all, b)
		}
		at += line + 1
		if below, is := belowSeparator(b[at:]); is {
			all, b, at = append(all, b[:at]), below, 0
		}
	}
}

// belowSeparator returns what follows a separator.
func belowSeparator(b []byte) (below []byte, is bool) {
	rest, is := bytes.CutPrefix(b, []byte("---"))
	line, below, _ := bytes.Cut(rest, []byte("\n"))
	switch text := bytes.TrimSpace(line); {
	case !is || len(line) > 0 && line[0] != ' ' && line[0] != '\t':
		return nil, false
	case len(text) == 0:
		return below, true
	}
	return rest, true
}

// listedIn returns the names in a kustomization.yaml that has only a list. A merge may
// have joined two such files line by line. It returns false if somebody changed the file
// in another way.
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

// onlyLists reports whether a kustomization.yaml lists only files and folders of the tree.
// The index then determines its content, so lynqctl can write it again without losing
// anybody's work. A name of a file in another folder of the tree counts too. Git writes it
// into the list of a new node that it takes for another one with a new name.
func (t *listings) onlyLists(file string, content []byte) bool {
	names, ok := listedIn(content)
	return ok && !slices.ContainsFunc(names, func(name string) bool { return !t.has(path.Join(path.Dir(file), name)) && !t.names[name] })
}

// namesIn returns all words of a kustomization.yaml that may be names of files or folders.
func namesIn(content []byte) []string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-._/"
	return strings.FieldsFunc(string(content), func(r rune) bool { return !strings.ContainsRune(letters, r) })
}

// listings has the old and new paths of a tree, with their folders, and the names of the
// files.
type listings struct{ paths, names map[string]bool }

func newListings(size int) *listings {
	return &listings{paths: make(map[string]bool, 2*size), names: make(map[string]bool, size)}
}

func listingsOf(x *index.Index, files []File) *listings {
	t := newListings(len(files))
	for i := range x.Entries {
		t.add(x.Entries[i].Path)
	}
	for i := range files {
		t.add(files[i].Path)
	}
	return t
}

func (t *listings) add(p string) {
	t.names[path.Base(p)] = true
	for ; p != "." && !t.paths[p]; p = path.Dir(p) {
		t.paths[p] = true
	}
}

func (t *listings) has(p string) bool { return t.paths[p] }
