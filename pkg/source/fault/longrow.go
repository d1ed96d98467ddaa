package fault

import (
	"errors"
	"fmt"
	"io"
)

// MaxRow limits the bytes of a row. No object that a row makes may have as many.
const MaxRow = 16 << 20

// ErrLongRow says that a row has more than MaxRow bytes.
var ErrLongRow = errors.New("a row is too long")

// LongRow is the error for a row that has more than MaxRow bytes.
func LongRow(place, fix string) error {
	return &Error{Place: place, What: fmt.Sprintf("the row has more than %d MiB", MaxRow>>20), Fix: fix}
}

// RowLimit is a reader that fails where a row has more than MaxRow bytes. Who parses
// what it reads says where each row begins.
type RowLimit struct {
	io.Reader
	// Row is where the row begins that is read.
	Row  int64
	read int64
}

// Read implements io.Reader. It hands over little at a time, so that what was read of
// the next rows is not taken for a part of this one.
func (r *RowLimit) Read(p []byte) (int, error) {
	const most = 256 << 10
	if r.read-r.Row > MaxRow+most {
		return 0, ErrLongRow
	}
	n, err := r.Reader.Read(p[:min(len(p), most)])
	r.read += int64(n)
	return n, err
}
