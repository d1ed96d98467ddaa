package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// maxRow is how many bytes a row may have: more than any object that is made of it.
const maxRow = 16 << 20

// errLongRow is that a row has more than maxRow bytes.
var errLongRow = errors.New("a row is too long")

// longRow is the error for a row that has more than maxRow bytes.
func longRow(place, fix string) error {
	return &Error{Place: place, What: fmt.Sprintf("the row has more than %d MiB", maxRow>>20), Fix: fix}
}

// What to do about rows that are too long.
const (
	fixLongRow  = "store large values elsewhere"
	fixLongText = "look for a quote or bracket that is not closed"
)

// rowLimit is a reader that fails where a row has more than maxRow bytes. Who parses
// what it reads says where each row begins.
type rowLimit struct {
	io.Reader
	read, row int64
}

// Read implements io.Reader. It hands over little at a time, so that what was read of
// the next rows is not taken for a part of this one.
func (r *rowLimit) Read(p []byte) (int, error) {
	const most = 256 << 10
	if r.read-r.row > maxRow+most {
		return 0, errLongRow
	}
	n, err := r.Reader.Read(p[:min(len(p), most)])
	r.read += int64(n)
	return n, err
}

// atOffset names the line at an offset in the file. It reads all that is before it.
func (d *dataFile) atOffset(offset int64) string {
	line := 1
	before := io.NewSectionReader(d, 0, offset)
	buffer := make([]byte, 64<<10)
	for {
		n, err := before.Read(buffer)
		line += bytes.Count(buffer[:n], []byte("\n"))
		if err != nil {
			return lynq.Pos{File: d.name, Line: line}.String()
		}
	}
}
