package e2e_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// TestWatchAtTerminal wants a watch on a terminal to redraw a table of its hubs in place,
// with log lines above. The lines stay at the end.
func TestWatchAtTerminal(t *testing.T) {
	t.Parallel()
	s := newShop(t, strings.Replace(shopInputs, "{type: csv, csv:", "{type: csv, syncInterval: 1s, csv:", 1), 3, faultproxy.Options{})
	row := func(cells string) *regexp.Regexp {
		return regexp.MustCompile(`\n` + s.Namespace[:8] + `\S* +` + strings.ReplaceAll(cells, " ", ` +`) + `\r\n`)
	}
	x := s.screen(t, []string{"NO_COLOR=1"}, "watch", "-f", s.dir)
	x.draws(t, regexp.MustCompile(`HUB +ROWS +ACTIVE +READY +FAILED +HELD +CHANGED +STATUS\r\n`))
	x.draws(t, row(`3 3 3/3 0 - \S+ watching`))

	// Another instance has colours, and nothing to do.
	second := s.screen(t, nil, "watch", "-f", s.dir)
	second.draws(t, row("- - - - - - \x1b\\[32mstanding by\x1b\\[m"))
	second.types(t, ctrlC)
	second.want(t, 130, "SIGINT stopped lynqctl")

	s.Kubectl(t, "", "patch", "configmap", "t000-settings", "-n", s.Namespace, "--type=merge", "-p", `{"data":{"plan":"edited"}}`)
	x.draws(t, regexp.MustCompile(`msg=object(?s:.*)took back(?s:.*)HUB `))
	for _, uid := range []string{"t000", "t001"} {
		delete(s.rows, uid)
	}
	s.writeRows(t)
	x.draws(t, row(`1 1 1/1 0 max-delete \S+ watching`))
	resize(t, x.keyboard, 24, 50)
	x.draws(t, row(`1/1 0 watching`))
	if strings.Contains(x.stderr.String(), "\x1b[1m") {
		t.Errorf("it has colours though NO_COLOR is set: %q", x.stderr.String())
	}

	x.types(t, ctrlC)
	x.want(t, 130, "SIGINT stopped lynqctl")
	shown := x.stderr.String()
	left := shown[strings.LastIndex(shown, "\x1b[J"):]
	if strings.Contains(left, "STATUS") || strings.Contains(left, "^C") || !strings.HasSuffix(strings.Join(strings.Fields(left), " "), `and gave its Leases back"`) {
		t.Errorf("the terminal is left with %q", left)
	}
}
