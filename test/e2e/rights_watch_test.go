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

// watches keeps a hub as the service account until it is ready, an edit was restored, and a
// node was deleted. It returns the first problem. Every warning of a watch is one.
func (r *rightsShop) watches(t *testing.T) string {
	p := r.start(t, "watch", "-f", r.dir, "--source=csv:"+filepath.Join(r.dir, "rows.csv"), "--as="+r.account())
	defer func() {
		_ = p.cmd.Process.Kill() // it has ended, unless there was a problem
		<-p.done
	}()
	if why := p.logs(`msg=round \S+ changed=\d+ failedNodes=0 interrupted=false`); why != "" {
		return why
	}
	r.Kubectl(t, "", "patch", "deployment", "t000", "--type=merge", "-p", `{"spec":{"replicas":1}}`)
	if why := p.logs(`object=Deployment/\S+/t000 action=update reason=Drifted outcome=(done|not-ready)`); why != "" {
		return why
	}
	r.change(t, "t001", "")
	p.signal(t, syscall.SIGHUP) // this starts a round at once, which reads the rows
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

// warned matches warnings in a log.
var warned = regexp.MustCompile(`level=WARN`)

// stopped matches the message of a watch that was stopped while it recorded a round.
var stopped = regexp.MustCompile(`level=WARN msg="interrupted: `)

// logs waits for a line in the log. If a warning comes first, it returns the log.
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
