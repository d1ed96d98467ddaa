package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/bounded"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// StdinName is the name of standard input in positions. StdinPath is its path.
const (
	StdinName = "stdin"
	StdinPath = "-"
)

// maxFile limits the bytes of a file.
const maxFile = 64 << 20

// Named are the files that some paths name.
type Named struct {
	// Paths are files, directories with files, and StdinPath.
	Paths []string
	// Recursive also reads subdirectories.
	Recursive bool
	Stdin     io.Reader
	// EmptyDirs accepts a directory without a manifest.
	EmptyDirs bool
}

// Read calls use once for each file, in order. It reports unreadable files as problems,
// and then returns false.
func (n *Named) Read(problems *lynq.Problems, use func(name string, data []byte)) (complete bool) {
	complete = true
	seen := map[string]bool{}
	for _, path := range n.Paths {
		files, ok := n.expand(problems, path)
		complete = complete && ok
		for _, file := range files {
			key := canonical(file)
			if seen[key] {
				continue
			}
			seen[key] = true
			name, data, err := readFile(file, n.Stdin)
			if err != nil {
				unreadable(problems, name, err)
				complete = false
				continue
			}
			use(name, data)
		}
	}
	return complete
}

// canonical returns the same path for all names of a file.
func canonical(path string) string {
	if path == StdinPath {
		return path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return filepath.Clean(path)
}

// unreadable reports a file or directory that can't be read.
func unreadable(problems *lynq.Problems, path string, err error) {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	fix := "leave it out, or fix it"
	if errors.Is(err, fs.ErrPermission) {
		fix = "let this user read it"
	}
	problems.Add(lynq.Pos{File: path}, fix, "cannot be read: %v", err)
}

// Displayed returns paths as positions show them.
func Displayed(paths []string) []string {
	names := slices.Clone(paths)
	for i, p := range names {
		if p == StdinPath {
			names[i] = StdinName
		}
	}
	return names
}

func readFile(path string, stdin io.Reader) (name string, data []byte, err error) {
	if path == StdinPath {
		data, err = ReadStdin(stdin)
		return StdinName, data, err
	}
	data, err = bounded.ReadFile(path, maxFile)
	return path, data, err
}

// ReadStdin reads standard input like Read.
func ReadStdin(stdin io.Reader) ([]byte, error) { return bounded.ReadAll(stdin, maxFile) }

// expand lists the files of one path. If ok is false, it has reported a problem.
func (n *Named) expand(problems *lynq.Problems, path string) (files []string, ok bool) {
	if path == StdinPath {
		return []string{path}, true
	}
	if path == "" {
		problems.Add(lynq.Pos{File: "-f"}, "an empty variable, perhaps", "the path is empty")
		return nil, false
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		problems.Add(lynq.Pos{File: path}, "check the path", "no such file or directory")
		return nil, false
	case err != nil:
		unreadable(problems, path, err)
		return nil, false
	case !info.IsDir():
		return []string{path}, true
	}
	files, subdirectories, ok := manifests(problems, path, n.Recursive)
	if ok && len(files) == 0 && !n.EmptyDirs {
		fix := ""
		if subdirectories && !n.Recursive {
			fix = "use -R to look into its sub-directories"
		}
		problems.Add(lynq.Pos{File: path}, fix, "the directory has no .yaml, .yml or .json file")
		return nil, false
	}
	return files, ok
}

// manifests lists the manifests in a directory, sorted by path. It skips names with a
// leading dot, such as editors' files. It follows links to files, but not links to
// subdirectories.
func manifests(problems *lynq.Problems, dir string, recursive bool) (files []string, subdirectories, ok bool) {
	ok = true
	visit := func(path string, d fs.DirEntry, err error) error {
		hidden := d != nil && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil:
			unreadable(problems, path, err)
			ok = false
			return nil
		case filepath.Clean(path) == filepath.Clean(dir):
			return nil
		case d.IsDir():
			subdirectories = true
			if !recursive || hidden {
				return fs.SkipDir
			}
			return nil
		case hidden || !isManifest(d.Name()):
			return nil
		}
		switch info, err := os.Stat(path); {
		case err != nil:
			unreadable(problems, path, err)
			ok = false
		case info.Mode().IsRegular():
			files = append(files, path)
		}
		return nil
	}
	// The trailing separator makes WalkDir follow a link to a directory.
	if err := filepath.WalkDir(dir+string(filepath.Separator), visit); err != nil {
		unreadable(problems, dir, err)
		ok = false
	}
	slices.Sort(files)
	return files, subdirectories, ok
}

// isManifest reports whether a file in a directory is a manifest, by its name.
func isManifest(name string) bool {
	if name == "kustomization.yaml" || name == "kustomization.yml" {
		return false
	}
	switch filepath.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// Digest hashes the names and bytes of all files that paths name, except standard input.
// The inputs are unchanged if the digest is. The error is lynq.Problems.
func Digest(paths []string, recursive bool) (string, error) {
	var problems lynq.Problems
	h := sha256.New()
	n := Named{Paths: slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p == StdinPath }), Recursive: recursive, EmptyDirs: true}
	n.Read(&problems, func(name string, data []byte) {
		_, _ = fmt.Fprintf(h, "%q %d\n", name, len(data))
		h.Write(data)
	})
	return hex.EncodeToString(h.Sum(nil)), problems.Err()
}

// Digests adds the digest of each readable file that paths name, by its name.
func Digests(paths []string, recursive bool, digests map[string]string) {
	var unread lynq.Problems
	n := Named{Paths: paths, Recursive: recursive}
	n.Read(&unread, func(name string, data []byte) {
		sum := sha256.Sum256(data)
		digests[name] = hex.EncodeToString(sum[:])
	})
}
