package source

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/bounded"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source/httprows"
)

// stdinName is the name of standard input in messages.
const stdinName = "stdin"

// dataFile is an open file of rows that can be read twice.
type dataFile struct {
	file *os.File
	name string // for messages
	temp string // path to remove with the file; "" for none
	// shared are the rows of the API that filled this file. It is nil for other files.
	shared *httprows.Rows
}

// openData opens the file at c.Path. It first copies standard input and pipes to a private
// file, because it reads each file twice.
func openData(ctx context.Context, c endpoint.Connection, stdin io.Reader) (*dataFile, error) {
	switch c.Path {
	case "":
		return nil, &Error{Place: string(c.Type), What: "no path is set", Fix: "set path to a file, or to - for standard input"}
	case "-":
		if stdin == nil {
			return nil, &Error{Place: stdinName, What: "standard input is closed"}
		}
		return spool(ctx, stdin, stdinName)
	}
	info, err := statFile(c.Path)
	if err != nil {
		return nil, err
	}
	file, err := bounded.Open(c.Path)
	if err != nil {
		return nil, fileError(c.Path, err)
	}
	if info.Mode().IsRegular() {
		return &dataFile{file: file, name: c.Path}, nil
	}
	defer func() { _ = file.Close() }() // it was only read
	return spool(ctx, file, c.Path)
}

// statFile is os.Stat with errors that include a fix. A directory is an error.
func statFile(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	if info.IsDir() {
		return nil, &Error{Place: path, What: "it is a directory", Fix: "set path to a file in it"}
	}
	if err := bounded.Check(info.Mode()); err != nil {
		return nil, &Error{Place: path, What: err.Error(), Fix: "set path to a file or a pipe, or to - for standard input"}
	}
	return info, nil
}

// fileError explains why path can't be opened.
func fileError(path string, err error) error {
	switch {
	case mayBeURL(path) && !errors.Is(err, fs.ErrPermission):
		return &Error{Place: "path", What: "no such file; it looks like a URL, which may hold a password and is not shown", Fix: "give the path of a file; rows may also come from standard input, which is -"}
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Place: path, What: "no such file", Fix: "paths in a hub start at the hub's file, those of --source at the working directory"}
	case errors.Is(err, fs.ErrPermission):
		return &Error{Place: path, What: "this user can't read it", Fix: "give this user permission to read it", Err: fs.ErrPermission}
	}
	if errors.Is(err, bounded.ErrNoWriter) {
		return &Error{Place: path, What: bounded.ErrNoWriter.Error(), Fix: "set path to a file, or start the program that writes to the pipe"}
	}
	return &Error{Place: path, What: "it can't be opened", Err: err}
}

// mayBeURL reports whether a path may be a URL, which may have a password. It checks the
// scheme and the part before the host. filepath.Join removes one slash of a URL.
func mayBeURL(path string) bool {
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	return regexp.MustCompile(`[A-Za-z]{2,}:/|:.*@|[?&][^=]*=`).MatchString(path)
}

// spool copies in to a temporary file that only this process can open.
func spool(ctx context.Context, in io.Reader, name string) (*dataFile, error) {
	file, err := os.CreateTemp("", "lynqctl-rows-")
	if err != nil {
		return nil, &Error{Place: name, What: "lynqctl can't create a temporary file for it", Fix: "free space, or set TMPDIR", Err: err}
	}
	d := &dataFile{file: file, name: name, temp: file.Name()}
	// If the system can remove an open file, a killed process leaves no file behind.
	if os.Remove(d.temp) == nil {
		d.temp = ""
	}
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(file, in)
		done <- err
	}()
	select {
	case <-ctx.Done(): // a read from a terminal can't be canceled
		err = context.Cause(ctx)
	case err = <-done:
	}
	if err != nil {
		return nil, errors.Join(&Error{Place: name, What: "it can't be read to the end", Err: err}, d.Close())
	}
	return d, nil
}

// Read implements io.Reader.
func (d *dataFile) Read(p []byte) (int, error) { return d.file.Read(p) }

// ReadAt implements io.ReaderAt.
func (d *dataFile) ReadAt(p []byte, offset int64) (int, error) { return d.file.ReadAt(p, offset) }

// Seek implements io.Seeker.
func (d *dataFile) Seek(offset int64, whence int) (int64, error) { return d.file.Seek(offset, whence) }

// Close closes the file and removes it if it still exists.
func (d *dataFile) Close() error {
	if d.shared != nil {
		return d.shared.Close()
	}
	err := d.file.Close()
	if d.temp != "" {
		err = errors.Join(err, os.Remove(d.temp))
	}
	return err
}

// at names a line of the file.
func (d *dataFile) at(line int) string {
	if d.shared != nil {
		return d.shared.Place(line)
	}
	return lynq.Pos{File: d.name, Line: line}.String()
}

// version identifies a state of a file's content.
type version struct {
	size int64
	time time.Time
}

func (d *dataFile) version() (version, error) {
	info, err := d.file.Stat()
	if err != nil {
		return version{}, fileError(d.name, err)
	}
	return version{size: info.Size(), time: info.ModTime()}, nil
}

// unchanged returns an error if the file has changed since v.
func (d *dataFile) unchanged(v version) error {
	now, err := d.version()
	if err != nil {
		return err
	}
	if now != v {
		return d.changed()
	}
	return nil
}

// gone explains why a record isn't where the first reading found it. The file has changed,
// unless the read failed.
func (d *dataFile) gone(line int, err error) error {
	_, isParse := errors.AsType[*csv.ParseError](err)
	if err == nil || isParse || errors.Is(err, io.EOF) {
		return d.changed()
	}
	return d.readError(line, err)
}

func (d *dataFile) changed() error {
	return &Error{Place: d.name, What: "the file changed while lynqctl read it", Fix: "run again; write such files elsewhere and rename them into place"}
}

// textStart returns the offset of the first character. It skips a UTF-8 byte order mark,
// and refuses UTF-16 and UTF-32.
func (d *dataFile) textStart() (int64, error) {
	var head [4]byte
	n, err := d.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, fileError(d.name, err)
	}
	const mark = "\xef\xbb\xbf"
	text := string(head[:n])
	var encoding string
	switch {
	case strings.HasPrefix(text, mark):
		return int64(len(mark)), nil
	case text == "\xff\xfe\x00\x00", text == "\x00\x00\xfe\xff":
		encoding = "is UTF-32"
	case strings.HasPrefix(text, "\xff\xfe"), strings.HasPrefix(text, "\xfe\xff"):
		encoding = "is UTF-16"
	case n > 1 && (head[0] == 0) != (head[1] == 0): // a Latin letter without a mark
		encoding = "looks like UTF-16"
	default:
		return 0, nil
	}
	return 0, &Error{Place: d.name, What: "the file " + encoding, Fix: "save it as UTF-8"}
}

// readError wraps a failure in the middle of the file.
func (d *dataFile) readError(line int, err error) error {
	return &Error{Place: d.at(line), What: "reading failed", Fix: "check the disk, and run again", Err: err}
}

// fileSource is the part that sources of files share.
type fileSource struct{ file *dataFile }

// Place implements Source.
func (s fileSource) Place(line int) string { return s.file.at(line) }

// Close implements Source.
func (s fileSource) Close() error { return s.file.Close() }
