package load

import (
	"bytes"
	"io"
)

// Replayed is standard input that can be read more than once: what came of it
// the first time comes again.
type Replayed struct {
	kept  bytes.Buffer
	again bool
}

// Reader reads standard input the first time, and what came of it ever after; stdin
// may be nil then.
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
