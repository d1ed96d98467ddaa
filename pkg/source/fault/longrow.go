package fault

import (
	"errors"
	"fmt"
	"io"
)

// MaxRow limits the bytes of a row. Kubernetes takes no object of this size.
const MaxRow = 16 << 20

// ErrLongRow means that a row has more than MaxRow bytes.
var ErrLongRow = errors.New("a row is too long")

// LongRow returns the error for a row that has more than MaxRow bytes.
func LongRow(place, fix string) error {
	return &Error{Place: place, What: fmt.Sprintf("the row has more than %d MiB", MaxRow>>20), Fix: fix}
}

// RowLimit is a reader that fails if a row has more than MaxRow bytes. The parser sets
// where each row begins.
type RowLimit struct {
	io.Reader
	// Row is the offset of the current row.
	Row  int64
	read int64
}

// Read implements io.Reader. It returns few bytes at a time. Otherwise the bytes of later
// rows would count for this row.
func (r *RowLimit) Read(p []byte) (int, error) {
	const most = 256 << 10
	if r.read-r.Row > MaxRow+most {
		return 0, ErrLongRow
	}
	n, err := r.Reader.Read(p[:min(len(p), most)])
	r.read += int64(n)
	return n, err
}
