package e2e_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

const (
	endedRows  = 200
	endedTimes = 50
	// healEvery is after how many runs that were ended one is left alone.
	healEvery = 10
	// mostRequests is about what a run has to send here.
	mostRequests = 400
)

// endedInputs are a shop's whose Deployments make no ReplicaSets: thousands of
// them would only keep the control plane busy.
func endedInputs() string {
	return strings.Replace(shopInputs, "replicas: 0", "paused: true", 1)
}

// TestApplyKilled ends runs with SIGKILL. Whenever that is, every object has a
// record, and the next run that is left alone puts all in order.
func TestApplyKilled(t *testing.T) {
	t.Parallel()
	e := &endings{
		shop: newShop(t, endedInputs(), endedRows, faultproxy.Options{}),
		fates: []faultproxy.Rule{
			{Delay: time.Hour},         // what is sent by then never arrives
			{End: faultproxy.CutAfter}, // it takes effect, and lynqctl is not told
			{},                         // nobody knows
		},
	}
	e.end = func(t *testing.T, r *running) {
		kill(t, r, syscall.SIGKILL)
		<-r.done
		e.deleteLease(t) // else each next run would wait until it expires
	}
	e.wrong = (*snapshot).unnamed
	e.run(t)
}

// TestApplyInterrupted ends runs with SIGINT. Then what was under way ends, the
// records know all of it, and the Lease is free.
func TestApplyInterrupted(t *testing.T) {
	t.Parallel()
	e := &endings{
		shop:  newShop(t, endedInputs(), endedRows, faultproxy.Options{}),
		fates: []faultproxy.Rule{{Delay: 20 * time.Millisecond}}, // something is under way
	}
	e.end = func(t *testing.T, r *running) {
		kill(t, r, syscall.SIGINT)
		r.want(t, 130)
	}
	e.wrong = func(s *snapshot) []string { return append(s.unnamed(), s.unconfirmed()...) }
	e.run(t)
}

// TestApplyInterruptedLocking: a run that is interrupted before it knows that it
// has the hub gives it back.
func TestApplyInterruptedLocking(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 5, faultproxy.Options{})
	s.proxy.SetRules(faultproxy.Rule{Verb: "create", Resource: "leases.coordination.k8s.io", End: faultproxy.CutAfter, Times: 1})
	r := s.startApply(t, "--wait=false")
	s.until(t, r, func(records []faultproxy.Record) bool {
		return slices.ContainsFunc(records, func(r faultproxy.Record) bool { return r.Faulted })
	})
	s.Wait(t, "leases.coordination.k8s.io/"+s.leaseName(), harness.Exists())
	kill(t, r, syscall.SIGINT)
	r.want(t, 130, "interrupted")
	shot := s.look(t)
	complain(t, shot.locked())
	if shot.lease == nil {
		t.Error("there is no Lease: it was never taken")
	}
	s.apply(t, "--wait=false", "--lock-timeout=0s").want(t, 0)
	s.settled(t)
}

// TestApplyInterruptedInVain: a server that answers nothing any more does not
// keep an interrupted run from ending.
func TestApplyInterruptedInVain(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 5, faultproxy.Options{})
	s.proxy.SetRules(faultproxy.Rule{Verb: "patch", Skip: 4, Delay: time.Hour}, faultproxy.Rule{Verb: "update", Delay: time.Hour})
	r := s.startApply(t, "--wait=false")
	s.until(t, r, func(records []faultproxy.Record) bool {
		return faultproxy.Count(records)[faultproxy.Key{Verb: "patch", Resource: "configmaps"}] > 4
	})
	kill(t, r, syscall.SIGINT)
	r.want(t, 130, "interrupted")
	complain(t, s.look(t).unnamed())
	s.proxy.SetRules()
	s.deleteLease(t)
	s.apply(t, "--wait=false").want(t, 0)
	s.settled(t)
}

// endings end many runs of one hub before their time. The rows change from run
// to run, so that there always is something to do.
type endings struct {
	*shop
	random *rand.Rand
	// fates are what may become of the requests from the moment on.
	fates []faultproxy.Rule
	end   func(*testing.T, *running)
	// wrong is what must not be right after.
	wrong func(*snapshot) []string
}

func (e *endings) run(t *testing.T) {
	e.random = newRandom(t)
	for ended, tried := 0, 0; ended < endedTimes; tried++ {
		if tried == 2*endedTimes {
			t.Fatalf("only %d of %d runs lasted until their moment", ended, tried)
		}
		e.change()
		e.writeRows(t)
		moment, fate := e.random.IntN(mostRequests), e.fates[e.random.IntN(len(e.fates))]
		if !e.round(t, moment, fate) {
			continue
		}
		if ended++; ended%healEvery == 0 {
			e.proxy.SetRules()
			e.apply(t, "--wait=false", "--max-delete=100%").want(t, 0)
			e.settled(t)
		}
		if t.Failed() {
			t.Fatalf("after %d runs; the last ended with request %d, %+v", ended, moment, fate)
		}
	}
}

// round ends one run after so many requests. False means that it had ended by
// itself.
func (e *endings) round(t *testing.T, moment int, fate faultproxy.Rule) bool {
	t.Helper()
	fate.Skip = moment
	e.proxy.SetRules(fate)
	e.proxy.Reset()
	r := e.startApply(t, "--wait=false", "--max-delete=100%")
	if !e.until(t, r, func(records []faultproxy.Record) bool { return len(records) > moment }) {
		r.want(t, 0)
		return false
	}
	e.end(t, r)
	complain(t, e.wrong(e.look(t)))
	return true
}

// change changes a random half of the rows; some go, and some come that may have
// been there before.
func (e *endings) change() {
	uids := slices.Sorted(maps.Keys(e.rows))
	for _, uid := range uids {
		if e.random.IntN(2) == 0 {
			e.rows[uid] = fmt.Sprintf("plan-%d", e.random.IntN(100))
		}
	}
	for range 4 {
		delete(e.rows, uids[e.random.IntN(len(uids))])
	}
	for len(e.rows) < endedRows {
		e.rows[fmt.Sprintf("t%03d", e.random.IntN(endedRows+20))] = "free"
	}
}

// kill sends a signal.
func kill(t *testing.T, r *running, signal syscall.Signal) {
	t.Helper()
	if err := r.cmd.Process.Signal(signal); err != nil {
		t.Fatalf("%v:\n%s", err, r.stderr.String())
	}
}

// newRandom is another source of random numbers each time. What it gave once it
// gives again where LYNQCTL_TEST_SEED says so.
func newRandom(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("LYNQCTL_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("LYNQCTL_TEST_SEED: %v", err)
		}
	}
	t.Logf("for the same moments again: LYNQCTL_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
