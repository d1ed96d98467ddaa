package load

import (
	"bytes"
	"io"
)

// Replayed makes standard input readable more than once. Each read returns the same bytes.
type Replayed struct {
	kept  bytes.Buffer
	again bool
}

// Reader returns stdin the first time, and the kept bytes after that. Then stdin may be
// nil.
func (r *Replayed) Reader(stdin io.Reader) io.Reader {
	if r.again {
		return bytes.NewReader(r.kept.Bytes())
	}
	r.again = true
	if stdin == nil {
		return nil
	}
	return io.TeeReader(stdin, &r.kept)
}
