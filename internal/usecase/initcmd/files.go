package initcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lynqctl/lynqctl/internal/draft"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// newFile is a file that must not exist yet.
type newFile struct {
	path, text string
	secret     bool // only the user may read it
}

// files returns the files of a draft.
func (o *Options) files(from *origin, d *draft.Draft) ([]newFile, error) {
	files, err := o.hubFiles(from, d)
	if err != nil {
		return nil, err
	}
	// A form has the namespace of its hub, unless the hub names none.
	names := draft.Names{Name: o.Form}
	if from.given && from.namespace == "" {
		names.Namespace = o.Namespace
	}
	return append(files, newFile{path: filepath.Join(o.Dir, "form.yaml"), text: d.Form(names, from.hub)}), nil
}

// hubFiles returns the file of a new hub.
func (o *Options) hubFiles(from *origin, d *draft.Draft) ([]newFile, error) {
	if from.given {
		return nil, nil
	}
	c, err := besideDir(o.Dir, from.connection)
	if err != nil {
		return nil, session.Fail(err)
	}
	names := draft.Names{Namespace: o.Namespace, Name: from.hub}
	return []newFile{{path: filepath.Join(o.Dir, "hub.yaml"), text: d.Hub(names, c, from.connection.Password != "")}}, nil
}

// besideDir makes the paths of a connection relative to a folder, because paths in a hub's
// file start there.
func besideDir(dir string, c endpoint.Connection) (endpoint.Connection, error) {
	for _, path := range []*string{&c.Path, &c.CAFile, &c.CertFile, &c.KeyFile} {
		if *path == "" || *path == "-" || filepath.IsAbs(*path) {
			continue
		}
		from, err := filepath.Abs(dir)
		if err != nil {
			return c, err
		}
		to, err := filepath.Abs(*path)
		if err != nil {
			return c, err
		}
		if *path, err = filepath.Rel(from, to); err != nil {
			*path = to // the file is on another drive
		}
		*path = filepath.ToSlash(*path)
	}
	return c, nil
}

// writeNew writes all files, or none if one of them exists. newDir, if not "", is a folder that
// must not exist either, so that nothing in it can lead elsewhere.
func writeNew(dir string, files []newFile, newDir string) error {
	paths := []string{newDir}
	for _, file := range files {
		paths = append(paths, file.path)
	}
	for _, path := range paths {
		if path == "" {
			continue
		}
		if _, err := os.Lstat(path); err == nil {
			return &session.Error{Outcome: session.BadInput, Err: fmt.Errorf("%s exists already (remove it, or pass another folder with -o)", path), Summary: "nothing was written"}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return unwritten(err)
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil { //nolint:gosec // what the umask leaves, as for any source file
		return unwritten(err)
	}
	var err error
	if newDir != "" {
		err = os.Mkdir(newDir, 0o700)
	}
	for i, file := range files {
		if err != nil {
			break
		}
		if err = writeFile(file); err != nil {
			for _, written := range files[:i] {
				err = errors.Join(err, os.Remove(written.path))
			}
		}
	}
	if err == nil {
		return nil
	}
	if newDir != "" {
		err = errors.Join(err, os.RemoveAll(newDir))
	}
	return unwritten(err)
}

// unwritten says that writing failed and left no file.
func unwritten(err error) error {
	return &session.Error{Outcome: session.Failed, Err: fmt.Errorf("write hub and form: %w (-o names another folder)", err), Summary: "nothing was written"}
}

// writeFile writes a file, unless it exists.
func writeFile(file newFile) error {
	mode := fs.FileMode(0o666) // what the umask leaves, as for any source file
	if file.secret {
		mode = 0o600
		if err := os.MkdirAll(filepath.Dir(file.path), 0o700); err != nil {
			return err
		}
	}
	out, err := os.OpenFile(file.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if _, err := out.WriteString(file.text); err != nil {
		return errors.Join(err, out.Close(), os.Remove(file.path))
	}
	return out.Close()
}
