package form

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

	"github.com/lynqctl/lynqctl/internal/bounded"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// stdinName stands for standard input in positions.
const stdinName = "stdin"

// maxFile is how many bytes a file may have.
const maxFile = 64 << 20

// stdinPath stands for standard input among paths.
const stdinPath = "-"

// readFiles calls use with every file that the paths name, in order, each once.
// What cannot be read becomes a problem, and complete is false then.
func readFiles(rep *report, paths []string, recursive bool, stdin io.Reader, use func(name string, data []byte)) (complete bool) {
	complete = true
	seen := map[string]bool{}
	for _, path := range paths {
		files, ok := expand(rep, path, recursive)
		complete = complete && ok
		for _, file := range files {
			key := canonical(file)
			if seen[key] {
				continue
			}
			seen[key] = true
			name, data, err := readFile(file, stdin)
			if err != nil {
				unreadable(rep, name, err)
				complete = false
				continue
			}
			use(name, data)
		}
	}
	return complete
}

// canonical is the same for all names of a file.
func canonical(path string) string {
	if path == stdinPath {
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

// unreadable reports a file or directory that cannot be read.
func unreadable(rep *report, path string, err error) {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	fix := "leave it out, or fix it"
	if errors.Is(err, fs.ErrPermission) {
		fix = "let this user read it"
	}
	rep.problems.Add(lynq.Pos{File: path}, fix, "cannot be read: %v", err)
}

// displayed are paths as positions have them.
func displayed(paths []string) []string {
	names := slices.Clone(paths)
	for i, p := range names {
		if p == stdinPath {
			names[i] = stdinName
		}
	}
	return names
}

func readFile(path string, stdin io.Reader) (name string, data []byte, err error) {
	if path == stdinPath {
		data, err = bounded.ReadAll(stdin, maxFile)
		return stdinName, data, err
	}
	data, err = bounded.ReadFile(path, maxFile)
	return path, data, err
}

// expand lists the files that one path stands for; ok is false where something
// was wrong with it, which is reported.
func expand(rep *report, path string, recursive bool) (files []string, ok bool) {
	if path == stdinPath {
		return []string{path}, true
	}
	if path == "" {
		rep.problems.Add(lynq.Pos{File: "-f"}, "an empty variable, perhaps", "the path is empty")
		return nil, false
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		rep.problems.Add(lynq.Pos{File: path}, "check the path", "no such file or directory")
		return nil, false
	case err != nil:
		unreadable(rep, path, err)
		return nil, false
	case !info.IsDir():
		return []string{path}, true
	}
	files, subdirectories, ok := manifests(rep, path, recursive)
	if ok && len(files) == 0 && !rep.emptyDirs {
		fix := ""
		if subdirectories && !recursive {
			fix = "use -R to look into its sub-directories"
		}
		rep.problems.Add(lynq.Pos{File: path}, fix, "the directory has no .yaml, .yml or .json file")
		return nil, false
	}
	return files, ok
}

// manifests lists the manifests in a directory, sorted by path. What begins
// with a dot is left out, editors' files among them; links to files are
// followed, links to directories below it are not.
func manifests(rep *report, dir string, recursive bool) (files []string, subdirectories, ok bool) {
	ok = true
	visit := func(path string, d fs.DirEntry, err error) error {
		hidden := d != nil && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil:
			unreadable(rep, path, err)
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
			unreadable(rep, path, err)
			ok = false
		case info.Mode().IsRegular():
			files = append(files, path)
		}
		return nil
	}
	// With a separator at its end, a link to a directory is followed.
	if err := filepath.WalkDir(dir+string(filepath.Separator), visit); err != nil {
		unreadable(rep, dir, err)
		ok = false
	}
	slices.Sort(files)
	return files, subdirectories, ok
}

// isManifest tells by its name whether a file in a directory is to be read.
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

// Digest is of the names and bytes of all that Load reads, standard input left out: while
// it is the same, so are the inputs. The error is lynq.Problems.
func Digest(paths []string, recursive bool) (string, error) {
	rep := &report{emptyDirs: true}
	h := sha256.New()
	paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p == stdinPath })
	readFiles(rep, paths, recursive, nil, func(name string, data []byte) {
		_, _ = fmt.Fprintf(h, "%q %d\n", name, len(data))
		h.Write(data)
	})
	return hex.EncodeToString(h.Sum(nil)), rep.problems.Err()
}

// FileDigests adds the digest of each file that Load reads to digests, by its name. Files
// that cannot be read are left out.
func FileDigests(paths []string, recursive bool, digests map[string]string) {
	readFiles(&report{}, paths, recursive, nil, func(name string, data []byte) {
		sum := sha256.Sum256(data)
		digests[name] = hex.EncodeToString(sum[:])
	})
}
