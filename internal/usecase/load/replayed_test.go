package load

import (
	"io"
	"strings"
	"testing"
)

// TestReplayed reads rows from standard input several times, as a run does that reads again
// after another run.
func TestReplayed(t *testing.T) {
	const rows = `[{"id":"acme","active":"1"}]`
	stdin := strings.NewReader(rows)
	var r Replayed
	for i := range 3 {
		if got, err := io.ReadAll(r.Reader(stdin)); string(got) != rows || err != nil {
			t.Errorf("reading %d: %q, %v", i+1, got, err)
		}
	}
	var none Replayed
	if none.Reader(nil) != nil {
		t.Error("without standard input there is a reader")
	}
}
