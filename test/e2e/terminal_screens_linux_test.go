package e2e_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// screen runs lynqctl on a terminal, with additional environment variables. The terminal
// keeps everything that it showed.
func (s *shop) screen(t *testing.T, more []string, args ...string) *terminal {
	t.Helper()
	cmd := exec.Command(s.bin, args...)
	cmd.Env = append(os.Environ(), slices.Concat([]string{"KUBECONFIG=" + s.Kubeconfig, "TERM=xterm", "NO_COLOR=", "CI="}, more)...)
	return onTerminal(t, cmd)
}

// TestScreens wants output on a terminal to fit it, with the requested colours. Other
// output must be plain and uncut.
func TestScreens(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 3, faultproxy.Options{})
	s.apply(t, "--wait=false").want(t, 0)
	s.Kubectl(t, "", "create", "configmap", "t003-settings", "-n", s.Namespace)
	s.Kubectl(t, "", "label", "configmap", "t003-settings", "-n", s.Namespace, "kapp.k14s.io/app=a-rather-long-name-of-an-app")
	s.rows["t003"], s.rows["t000"] = "free", "gold"
	s.writeRows(t)
	const escape = "\x1b["
	for _, args := range [][]string{
		{"apply", "--help"}, {"orphans", "prune", "--help"},
		{"status"}, {"status", "node", "t000-app"}, {"inventory", "list"}, {"inventory", "show", "t001-app"}, {"inventory", "verify"},
		{"apply", "-f", s.dir, "--dry-run=client"}, {"apply", "-f", s.dir, "--dry-run=server"}, {"graph", "-f", s.dir},
	} {
		x := s.screen(t, []string{"NO_COLOR=1"}, args...)
		<-x.done
		for line := range strings.Lines(withoutMoves(x.stderr.String())) {
			if line = strings.TrimRight(line, "\n"); utf8.RuneCountInString(line) > 80 {
				t.Errorf("%q: on a terminal of 80 columns a line has %d: %q", args, utf8.RuneCountInString(line), line)
				break
			}
		}
	}
	for _, args := range [][]string{{"status"}, {"diff", "-f", s.dir}, {"apply", "-f", s.dir, "--dry-run=server"}} {
		dumb := s.screen(t, []string{"TERM=dumb"}, args...)
		elsewhere := s.start(t, args...)
		<-elsewhere.done
		if text := elsewhere.stdout.String() + elsewhere.stderr.String(); strings.ContainsAny(text, "\x1b…\r") {
			t.Errorf("%q: what is for a terminal goes to a file: %q", args, text)
		}
		if dumb.shows(escape) {
			t.Errorf("%q: escapes go to a dumb terminal: %q", args, dumb.stderr.String())
		}
		if ci := s.screen(t, []string{"CI=true"}, args...); ci.shows(escape + "A") {
			t.Errorf("%q: in a CI job the view is drawn over and over: %q", args, ci.stderr.String())
		}
	}
	for args, want := range map[string]string{"status": escape + "1mNODE", "diff -f " + s.dir: escape + "32m+  plan: gold"} {
		if x := s.screen(t, nil, strings.Fields(args)...); !x.shows(want) {
			t.Errorf("%s has no colours on a terminal: %q", args, x.stderr.String())
		}
		if x := s.screen(t, []string{"NO_COLOR=1"}, strings.Fields(args)...); x.coloured() {
			t.Errorf("%s has colours though NO_COLOR is set: %q", args, x.stderr.String())
		}
	}
	x := s.screen(t, nil, "validate", "-f", "-")
	x.asks(t, "reading -f - from the terminal; Ctrl-D ends it")
	x.types(t, "\x04")
	x.want(t, 2, "neither a LynqHub nor a LynqForm is in these inputs")
}

// shows waits for the end, and reports whether the terminal showed a text.
func (x *terminal) shows(text string) bool {
	<-x.done
	return strings.Contains(x.stderr.String(), text)
}

// coloured waits for the end, and reports whether the terminal showed colours. Cursor
// movements don't count, because a slow machine shows a progress bar.
func (x *terminal) coloured() bool {
	<-x.done
	return regexp.MustCompile("\x1b\\[[0-9;]*m").MatchString(x.stderr.String())
}

// TestInterruptAtTerminal wants Ctrl-C to end a run once its begun work is recorded, with a
// message meanwhile. A second one ends it at once, and the inventory still lists every
// object.
func TestInterruptAtTerminal(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 2, faultproxy.Options{})
	for _, c := range []struct {
		resource string // with writes in progress
		twice    bool
		end      faultproxy.End
	}{
		{"services", false, ""}, // they arrive after the message
		{"deployments.apps", true, faultproxy.CutBefore},
	} {
		told := make(chan struct{})
		goOn := sync.OnceFunc(func() { close(told) })
		t.Cleanup(goOn)
		s.proxy.SetRules(faultproxy.Rule{Verb: "patch", Resource: c.resource, End: c.end, Before: func() { <-told }})
		s.proxy.Reset()
		x := s.screen(t, nil, "apply", "-f", s.dir, "--wait=false")
		s.until(t, x.running, func(records []faultproxy.Record) bool {
			return slices.ContainsFunc(records, func(r faultproxy.Record) bool { return r.Verb == "patch" && r.Resource == c.resource })
		})
		x.types(t, ctrlC)
		x.asks(t, "interrupted: lynqctl finishes and records its current work")
		if c.twice {
			x.types(t, ctrlC)
			x.want(t, -1) // the signal ended it
			s.deleteLease(t)
			goOn()
		} else {
			goOn()
			x.want(t, 130, "error: interrupted")
		}
		s.proxy.SetRules()
		complain(t, s.look(t).unnamed())
	}
	s.apply(t, "--wait=false").want(t, 0)
	s.settled(t)
}
