package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// listed is a package in the go command's output.
type listed struct {
	Dir, ImportPath, Name, Export string
	GoFiles                       []string
}

// list asks the go command for packages and their imports, with their types.
func list(patterns []string) (all map[string]*listed, err error) {
	out, err := output(exec.Command("go", append([]string{"list", "-export", "-deps", "-json=Dir,ImportPath,Name,Export,GoFiles"}, patterns...)...))
	if err != nil {
		return nil, err
	}
	all = map[string]*listed{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all[p.ImportPath] = &p
	}
}

// output runs a command, and returns what it writes to standard output.
func output(cmd *exec.Cmd) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%v: %w\n%s%s", cmd.Args, err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.Bytes(), nil
}

// mutated has a package's mutants, and the files that replace others in the build.
type mutated struct {
	mutants []mutant
	overlay map[string]string // from a path in the tree to one in dir
}

// mutate makes the mutants of packages, and writes their files to dir.
func mutate(patterns []string, dir string) (*mutated, error) {
	roots, err := output(exec.Command("go", append([]string{"list"}, patterns...)...))
	if err != nil {
		return nil, err
	}
	all, err := list(patterns)
	if err != nil {
		return nil, err
	}
	result := &mutated{overlay: map[string]string{}}
	for _, path := range bytes.Fields(roots) {
		if err := result.add(all, all[string(path)], dir); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// add makes the mutants of one package.
func (r *mutated) add(all map[string]*listed, p *listed, dir string) error {
	fset := token.NewFileSet()
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(all[path].Export) })
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	pkg, err := (&types.Config{Importer: imports}).Check(p.ImportPath, fset, files, info)
	if err != nil {
		return err
	}
	peers := peersOf(pkg, func(*types.Const) bool { return true })
	for _, imported := range pkg.Imports() {
		for c, peer := range peersOf(imported, (*types.Const).Exported) {
			if module(imported.Path()) == module(p.ImportPath) {
				peers[c] = peer
			}
		}
	}
	for i, f := range files {
		path := filepath.Join(p.Dir, p.GoFiles[i])
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		m := &mutator{fset: fset, info: info, text: text, name: p.ImportPath[len(module(p.ImportPath))+1:] + "/" + p.GoFiles[i], peers: peers}
		m.file(len(r.mutants), f)
		r.mutants = append(r.mutants, m.mutants...)
		if err := r.write(dir, path, written(text, m.edits)); err != nil {
			return err
		}
	}
	return r.write(dir, filepath.Join(p.Dir, "zz_mutants.go"), []byte(fmt.Sprintf(chooser, p.Name)))
}

// module returns the first three parts of an import path: a host, an owner and a name.
func module(path string) string {
	for i, slashes := 0, 0; i < len(path); i++ {
		if path[i] == '/' {
			if slashes++; slashes == 3 {
				return path[:i]
			}
		}
	}
	return path
}

// write writes a file that the go command reads instead of the one at path.
func (r *mutated) write(dir, path string, text []byte) error {
	instead := filepath.Join(dir, fmt.Sprintf("%d-%s", len(r.overlay), filepath.Base(path)))
	r.overlay[path] = instead
	return os.WriteFile(instead, text, 0o600)
}

// chooser is the file that each package gets. Its mutants call it.
const chooser = `package %s

import (
	"os"
	"strconv"
	"sync"
)

var (
	mutActive, _ = strconv.Atoi(os.Getenv("MUTANT"))
	mutHits      = os.Getenv("MUTANT_HITS")
	mutSeen      sync.Map
)

func mutant(id int) bool {
	if mutHits != "" && id != 0 {
		if _, seen := mutSeen.LoadOrStore(id, true); !seen {
			if f, err := os.OpenFile(mutHits, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
				f.WriteString(strconv.Itoa(id) + "\n")
				f.Close()
			}
		}
	}
	return id != 0 && id == mutActive
}

func mutBool(is, not int, v bool) bool {
	if mutant(is) {
		return true
	}
	return !mutant(not) && v
}

func mutError(id int, err error) error {
	if mutant(id) {
		return nil
	}
	return err
}

func mutPick[T any](id int, other, v T) T {
	if mutant(id) {
		return other
	}
	return v
}

var _, _, _ = mutBool, mutError, mutPick[int]
`
