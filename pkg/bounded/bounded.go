// Package bounded reads files and pipes up to a limit. It never reads devices, which have
// no end. It does read pipes, because shells make them from <(command).
package bounded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
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
	file, err := Open(path)
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

// ErrNoWriter says that no program opened a pipe to write to it.
var ErrNoWriter = errors.New("it is a pipe, and nobody writes to it")

// writerWithin limits how long Open waits for a program that writes to a pipe. Shells start
// it together with lynqctl.
const writerWithin = 10 * time.Second

// Open opens a file or a pipe to read it. os.Open waits for ever if nobody writes to the
// pipe, for example one in the place of a file.
func Open(path string) (*os.File, error) { return open(path, writerWithin) }

func open(path string, within time.Duration) (*os.File, error) {
	type result struct {
		file *os.File
		err  error
	}
	opened := make(chan result, 1)
	go func() {
		file, err := os.Open(path)
		opened <- result{file, err}
	}()
	limit := time.NewTimer(within)
	defer limit.Stop()
	select {
	case r := <-opened:
		return r.file, r.err
	case <-limit.C:
	}
	// A writer ends the wait of os.Open. If the path has other contents by now, the open
	// call ends whenever the system ends it.
	if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		if writer, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = writer.Close() // it wrote nothing
		}
	}
	go func() {
		if r := <-opened; r.err == nil {
			_ = r.file.Close() // nobody reads it
		}
	}()
	return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNoWriter}
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
