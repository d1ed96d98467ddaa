package faultproxy

import (
	"bufio"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
)

// watchBody passes on the first events of a watch and then ends.
type watchBody struct {
	source  io.Closer
	events  *bufio.Reader
	binary  bool // protobuf, each event after its length; otherwise one line of JSON each
	left    int
	pending []byte // of the current event
	end     error  // io.EOF, or the error that breaks the connection
}

func newWatchBody(body io.ReadCloser, contentType string, rule Rule) *watchBody {
	end := io.EOF
	if rule.End == CutAfter {
		end = io.ErrUnexpectedEOF
	}
	return &watchBody{
		source: body,
		events: bufio.NewReader(body),
		binary: strings.Contains(contentType, "protobuf"),
		left:   rule.Events,
		end:    end,
	}
}

// Read implements io.Reader.
func (b *watchBody) Read(p []byte) (int, error) {
	if len(b.pending) == 0 {
		if b.left == 0 {
			return 0, b.end
		}
		event, err := b.next()
		if err != nil {
			return 0, err
		}
		b.pending, b.left = event, b.left-1
	}
	n := copy(p, b.pending)
	b.pending = b.pending[n:]
	return n, nil
}

// next reads one event in its encoded form.
func (b *watchBody) next() ([]byte, error) {
	if !b.binary {
		return b.events.ReadBytes('\n')
	}
	event := make([]byte, 4)
	if _, err := io.ReadFull(b.events, event); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(event))
	_, err := io.ReadFull(b.events, body)
	return append(event, body...), err
}

// Close implements io.Closer.
func (b *watchBody) Close() error { return b.source.Close() }

// promptWriter sends the header at once, so that a client gets it before a cut.
type promptWriter struct{ http.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w promptWriter) WriteHeader(status int) {
	w.ResponseWriter.WriteHeader(status)
	// If this fails, the client is gone, and copying the body notices that.
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap is for http.ResponseController.
func (w promptWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
