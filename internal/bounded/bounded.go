// Package bounded reads files and pipes up to a limit. It never reads devices, which have
// no end. It does read pipes, because shells make them from <(command).
package bounded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNoFile says that a path is a device or a socket.
var ErrNoFile = errors.New("it is a device or a socket, and no file")

// SizeError says that a file has more than Limit bytes.
type SizeError struct{ Limit int64 }

func (e *SizeError) Error() string {
	const kibibyte, mebibyte = 1 << 10, 1 << 20
	if e.Limit < mebibyte {
		return fmt.Sprintf("it has more than %d KiB", e.Limit/kibibyte)
	}
	return fmt.Sprintf("it has more than %d MiB", e.Limit/mebibyte)
}

// Check returns ErrNoFile if a file of this mode can't be read.
func Check(mode fs.FileMode) error {
	if mode&(fs.ModeDevice|fs.ModeSocket|fs.ModeIrregular) != 0 {
		return ErrNoFile
	}
	return nil
}

// ReadFile reads a file or a pipe. It returns a *SizeError if it has more than limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && Check(info.Mode()) != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrNoFile}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	b, err := ReadAll(file, limit)
	if size, ok := errors.AsType[*SizeError](err); ok {
		return nil, &fs.PathError{Op: "read", Path: path, Err: size}
	}
	return b, err
}

// ReadAll reads everything from r. It returns a *SizeError if that is more than limit
// bytes.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		return nil, &SizeError{Limit: limit}
	}
	return b, err
}
