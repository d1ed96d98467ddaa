package gitops

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// page is the table of the documentation, with the losses that reports named for its rows.
type page struct {
	lock sync.Mutex
	rows map[string][]string        // the cells of a row, by the policies in its first one
	lost map[string]map[column]bool // by row
}

func newPage(t *testing.T) *page {
	t.Helper()
	text, err := os.ReadFile("../../docs/gitops-policies.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## The table\n")
	table, _, _ = strings.Cut(table, "\n<a id=")
	p := &page{rows: map[string][]string{}, lost: map[string]map[column]bool{}}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 3 || strings.HasPrefix(cells[0], "policy") {
			continue
		}
		for _, policy := range regexp.MustCompile("`[^`]+`").FindAllString(cells[0], -1) {
			p.rows[strings.Trim(policy, "`")] = cells
		}
	}
	return p
}

// check wants reports to name a policy exactly if its outcome differs.
func (p *page) check(t *testing.T, by column, claims []claim) {
	t.Helper()
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, c := range claims {
		if c.differs != (c.told != "") {
			t.Errorf("%s, %v: told: %q%s", c.row, by, c.told, c.outcomes)
		}
		if p.lost[c.row] == nil {
			p.lost[c.row] = map[column]bool{}
		}
		p.lost[c.row][by] = p.lost[c.row][by] || c.told != ""
	}
}

// checkLosses wants the page to show a loss exactly in the cells for which reports named
// one. If that depends on a flag, the page must name it.
func (p *page) checkLosses(t *testing.T) {
	t.Helper()
	if t.Failed() {
		return
	}
	for row, lost := range p.lost {
		for at, target := range []string{"argo", "flux"} {
			text, some, all := p.text(row, at+1), false, true
			for c, is := range lost {
				if c.target == target {
					some, all = some || is, all && is
				}
			}
			says := strings.Contains(text, "lost") || strings.Contains(text, "likewise")
			if says != some || some && !all && !strings.Contains(text, "--emit-apps") && !strings.Contains(text, "ordered") {
				t.Errorf("%s under %s: lost: %v, and the page says %q", row, target, lost, text)
			}
		}
	}
	for _, row := range slices.Sorted(maps.Keys(p.rows)) {
		if p.lost[row] == nil && heldElsewhere()[row] == "" {
			t.Errorf("nothing holds the row of %s", row)
		}
	}
}

// heldElsewhere are rows without a story, with the test that covers them.
func heldElsewhere() map[string]string {
	return map[string]string{
		"deletionPolicy: Delete":         "TestDeletionLosses",
		"deletionPolicy: Retain":         "TestDeletionLosses",
		"deletionPolicy: RetainOnApply":  "TestDeletionLosses",
		"deletionPolicy: RetainOnDelete": "TestDeletionLosses",
		"holdsData":                      "the guards of lynqctl read it, and no controller does",
		"timeoutSeconds":                 "the controllers measure the time, not their libraries",
		"reapplyInterval":                "the controllers measure the time, not their libraries",
	}
}

// text returns a cell of a row, or of the row that it refers to.
func (p *page) text(row string, at int) string {
	text := p.rows[row][at]
	if other, ok := strings.CutPrefix(text, "as `"); ok {
		return p.text(strings.Trim(other, "`"), at)
	}
	return strings.ToLower(text)
}
