package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// watches keeps a hub as the service account, until it is ready, an edit was taken back
// and a node went, and gives what is wrong. Whatever a watch warns of is.
func (r *rightsShop) watches(t *testing.T) string {
	p := r.start(t, "watch", "-f", r.dir, "--source=csv:"+filepath.Join(r.dir, "rows.csv"), "--as="+r.account())
	defer func() {
		_ = p.cmd.Process.Kill() // it has ended, unless something was wrong
		<-p.done
	}()
	if why := p.logs(`msg=round \S+ changed=\d+ failedNodes=0 interrupted=false`); why != "" {
		return why
	}
	r.Kubectl(t, "", "patch", "deployment", "t000", "--type=merge", "-p", `{"spec":{"replicas":1}}`)
	if why := p.logs(`object=Deployment/\S+/t000 action=update reason=Drifted outcome=done`); why != "" {
		return why
	}
	r.change(t, "t001", "")
	p.signal(t, syscall.SIGHUP) // a round begins at once, and reads the rows
	if why := p.logs(`object=Deployment/\S+/t001 action=delete reason=NodeGone outcome=done(?s:.*)msg=round \S+ changed=\d+ failedNodes=0 interrupted=false`); why != "" {
		return why
	}
	if left := r.Kubectl(t, "", "get", "configmap", inventory.Name("t001-app"), "--ignore-not-found", "-o", "name"); left != "" {
		return "left: " + left
	}
	p.signal(t, syscall.SIGTERM)
	if <-p.done; p.code != 130 || warned.MatchString(stopped.ReplaceAllString(p.stderr.String(), "")) {
		return "it ended badly: " + p.stderr.String()
	}
	if r.Kubectl(t, "", "get", "events", "--field-selector=reason=LynqNodeDeleted", "-o", "name") == "" {
		return "no events are there"
	}
	return ""
}

// warned finds warnings in a log.
var warned = regexp.MustCompile(`level=WARN`)

// stopped is what a watch says that is stopped while it records what a round did.
var stopped = regexp.MustCompile(`level=WARN msg="interrupted: `)

// logs waits until a line is logged, and gives the log where a warning comes before.
func (p *running) logs(pattern string) (why string) {
	line, late := regexp.MustCompile(pattern), time.After(settleWithin)
	for {
		text := p.stderr.String()
		switch {
		case warned.MatchString(text):
			return text
		case line.MatchString(text):
			return ""
		}
		select {
		case <-p.stderr.wrote:
		case <-p.done:
			return "it ended: " + p.stderr.String()
		case <-late:
			return pattern + " was not logged: " + p.stderr.String()
		}
	}
}

func (p *running) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}
