//go:build unix

package e2e_test

import (
	"fmt"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// TestApplyHolderStopped stops a run in the middle. It continues after another run took its
// Lease and ended. It must write nothing more, not even the write that it was about to
// send.
func TestApplyHolderStopped(t *testing.T) {
	t.Parallel()
	const writers = 8
	s := newShop(t, endedInputs(), 30, faultproxy.Options{})
	// All of its writers wait for an answer when the run stops. The requests that they sent
	// take effect. They must send none after the answer.
	sent, answer := make(chan struct{}, 1000), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(answer) })
	t.Cleanup(goOn)
	s.proxy.SetRules(faultproxy.Rule{Verb: "patch", Skip: 20, Before: func() {
		sent <- struct{}{}
		<-answer
	}})
	first := s.startApply(t, "--wait=false", "--concurrency="+strconv.Itoa(writers))
	for range writers {
		select {
		case <-sent:
		case <-first.done:
			t.Fatalf("it ended with code %d:\n%s", first.code, first.stderr.String())
		}
	}
	kill(t, first, syscall.SIGSTOP)
	goOn()
	s.proxy.SetRules()
	eventually(t, func() []string { // its earlier requests take effect before another run gets its Lease
		for _, r := range s.proxy.Records() {
			if r.Verb == "patch" && r.Answered.IsZero() {
				return []string{fmt.Sprintf("%s %s %s is still under way", r.Verb, r.Resource, r.Name)}
			}
		}
		return nil
	})
	second := s.startApply(t, "--wait=false")
	second.said(t, pid(first))
	second.want(t, 0)
	before := s.look(t).versions()

	s.proxy.Reset()
	kill(t, first, syscall.SIGCONT)
	// If a renewal was in progress, the message contains its error as the reason.
	first.want(t, 1, "lost Lease "+s.Namespace+"/"+s.leaseName(), "lynqctl writes nothing more")
	for _, r := range s.proxy.Records() {
		if r.IsWrite() && r.Resource != "leases.coordination.k8s.io" {
			t.Errorf("it wrote though another run had its Lease: %+v", r.Request)
		}
	}
	if diff := differing(before, s.look(t).versions()); len(diff) > 0 {
		t.Errorf("it changed %v", diff)
	}
	s.settled(t)
}
