package redact_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// TestConcurrentUse hides texts while rows are read, as a run does.
func TestConcurrentUse(t *testing.T) {
	f := redact.New("first-secret", "x1")
	var all sync.WaitGroup
	for reader := range 4 {
		all.Go(func() {
			for i := range 2000 {
				f.Learn(fmt.Sprintf("secret-of-%d-%d", reader, i), fmt.Sprintf("%02x", i%256))
				f.Publish(fmt.Sprintf("row-%d-%d", reader, i))
			}
		})
		all.Go(func() {
			for range 300 {
				if got := f.Hide("the first-secret of row-1-1, 'x1'"); strings.Contains(got, "first-secret") || strings.Contains(got, "x1") {
					t.Errorf("got %s", got)
				}
				if f.Empty() || f.HideData(`{"a": "first-secret"}`) != `{"a": "•••"}` {
					t.Error("data show the value")
				}
			}
		})
	}
	all.Wait()
	if got := f.Hide("secret-of-3-1999"); got != "•••" {
		t.Errorf("got %s", got)
	}
}
