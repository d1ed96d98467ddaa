package list_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// TestPage wants the columns that have a value, colours of toned ones alone, and the items
// first that need attention, unless the user sorts them.
func TestPage(t *testing.T) {
	t.Parallel()
	l := &list.List{
		Title: "status", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Urgent: true,
		Columns: []list.Column{{Name: "NODE"}, {Name: "FAILED"}, {Name: "STATUS", Toned: true}, {Name: "NOTE"}},
		Items: []list.Item{
			{Cells: []string{"acme", "0", "Ready", ""}, Tone: tty.Good, Data: thing{Name: "acme"}},
			{Cells: []string{"bolt", "0", "Degraded", "-"}, Tone: tty.Bad, Data: thing{Name: "bolt"}},
		},
		Footer: []string{"1 of 2 nodes Ready"}, Advice: []string{"bolt: why"},
	}
	text, _ := printed(t, l, tty.HTML, 0, false)
	for _, want := range []string{
		"<h1>lynqctl status, 2026-01-02T03:04:05Z</h1>", "<th>NODE</th><th>STATUS</th></tr>", "<li>bolt: why</li>",
		`<td>bolt</td><td class="bad">Degraded</td>`, `<td>acme</td><td class="good">Ready</td>`,
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()

			if !strings.Contains(text, want) {
				t.Errorf("the page lacks %s:\n%s", want, text)
			}
		})
	}
	order := func() bool { return strings.Index(text, "<td>bolt") < strings.Index(text, "<td>acme") }
	if !order() {
		t.Error("the failed node isn't first")
	}
	l.SortBy = "{.name}"
	if text, _ = printed(t, l, tty.HTML, 0, false); order() {
		t.Error("the order isn't the user's")
	}
}
