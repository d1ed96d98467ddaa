package watch_test

import (
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/watch"
)

func TestReading(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	reads := 0
	read := func(text string) func() string { return func() string { reads++; return text } }
	r := watch.NewReading("a", now)
	for _, test := range []struct {
		after time.Duration
		text  string
		again time.Duration // 0 for sure
		reads int
	}{
		{0, "a", 5 * time.Second, 0},
		{4999 * time.Millisecond, "a", 5 * time.Second, 0},
		{5 * time.Second, "b", 10 * time.Second, 1},
		{10 * time.Second, "a", 0, 2},
		{11 * time.Second, "b", 0, 2},
	} {
		t.Run(test.text, func(t *testing.T) {
			want := time.Time{}
			if test.again > 0 {
				want = now.Add(test.again)
			}
			if again := r.Again(now.Add(test.after), read(test.text)); !again.Equal(want) || reads != test.reads {
				t.Errorf("after %s: again at %s after %d reads, want %s after %d", test.after, again, reads, want, test.reads)
			}
		})
	}
	var none watch.Reading
	if again := none.Again(now, read("")); !again.IsZero() {
		t.Errorf("no files are to be read again at %s", again)
	}
}
