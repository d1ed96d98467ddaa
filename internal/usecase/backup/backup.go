package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// OpenDir opens a directory. If it doesn't exist, OpenDir creates it for its owner alone.
func OpenDir(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// Name returns the file name for an object, in a folder for each namespace.
func Name(ref lynq.Ref) string {
	folder := ref.Namespace
	if folder == "" {
		folder = "_cluster" // no namespace has an underscore
	}
	// Some names have colons, which some file systems refuse.
	return filepath.Join(folder, strings.ReplaceAll(ref.GroupKind()+"_"+ref.Name, ":", "%3A")+".yaml")
}

// WriteOnce writes a new file. If the file exists with the same content, WriteOnce does
// nothing. With other content, it returns an error that names the flag.
func WriteOnce(root *os.Root, name string, text []byte, flag string) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if there, readErr := root.ReadFile(name); readErr == nil && bytes.Equal(there, text) {
			return nil
		}
		return fmt.Errorf("%s exists already, with other content (name another %s)", filepath.Join(root.Name(), name), flag)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = root.Remove(name) // half a file is useless
	}
	return err
}
