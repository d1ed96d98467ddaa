package form

import (
	"crypto/sha256"
	"io"
	"maps"
	"sync"
)

// Memory keeps the documents of input files. With it, a program that loads its inputs again
// parses only changed files. The zero value is ready, and a nil Memory keeps nothing. It is
// safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	files map[string]remembered
}

// remembered has the documents of a file with this digest.
type remembered struct {
	digest [sha256.Size]byte
	part   *loader
}

// Load is the function Load, with a memory. builder builds kustomizations and opens charts.
func (m *Memory) Load(builder Builder, paths []string, recursive bool, stdin io.Reader) (*Inputs, error) {
	return load(m, builder, paths, recursive, stdin, needForm)
}

// LoadHubs is the function LoadHubs, with a memory. builder builds kustomizations and opens charts.
func (m *Memory) LoadHubs(builder Builder, paths []string, recursive bool, stdin io.Reader) (*Inputs, error) {
	return load(m, builder, paths, recursive, stdin, needHub)
}

// LoadAny is the function LoadAny, with a memory. builder builds kustomizations and opens charts.
func (m *Memory) LoadAny(builder Builder, paths []string, recursive bool, stdin io.Reader) (*Inputs, error) {
	return load(m, builder, paths, recursive, stdin, needNothing)
}

// part reads the documents of one file, or returns them from the memory. Callers must not
// change them.
func (m *Memory) part(file string, data []byte) *loader {
	if m == nil {
		return readPart(file, data)
	}
	digest := sha256.Sum256(data)
	m.mu.Lock()
	known, is := m.files[file]
	m.mu.Unlock()
	if is && known.digest == digest {
		return known.part
	}
	known = remembered{digest, readPart(file, data)}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files == nil {
		m.files = map[string]remembered{}
	}
	m.files[file] = known
	return known.part
}

// forget forgets files that aren't among the inputs any more.
func (m *Memory) forget(inputs map[string]bool) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.files, func(file string, _ remembered) bool { return !inputs[file] })
}

// readPart reads the documents of one file.
func readPart(file string, data []byte) *loader {
	part := newLoader(nil)
	documents, complete := parse(&part.report, file, data)
	part.sawBroken = !complete
	for _, document := range documents {
		part.document(document)
	}
	return part
}

// add adds the documents of one file.
func (l *loader) add(part *loader) {
	l.problems, l.warnings = append(l.problems, part.problems...), append(l.warnings, part.warnings...)
	l.sawForm, l.sawBroken = l.sawForm || part.sawForm, l.sawBroken || part.sawBroken
	l.in.Hubs, l.in.Forms = append(l.in.Hubs, part.in.Hubs...), append(l.in.Forms, part.in.Forms...)
	l.in.Secrets = append(l.in.Secrets, part.in.Secrets...)
	maps.Copy(l.in.ClusterScoped, part.in.ClusterScoped)
	maps.Copy(l.in.Plurals, part.in.Plurals)
}
