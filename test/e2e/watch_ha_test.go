package e2e_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

const (
	// haRows is large enough that no object is edited often enough to count as a fight.
	haRows = 40
	// haEdits is the number of changes for each edit of an object.
	haEdits = 5
	// haKills is the number of ended instances without LYNQCTL_WATCH_KILLS.
	haKills = 2
	// leaseLasts is the time after which a Lease expires without a renewal.
	leaseLasts = 30 * time.Second
	// lookEvery is the interval at which a waiting instance reads the Lease. The number of
	// reads before it takes over doesn't depend on the load of the machine.
	lookEvery = 3 * time.Second
	// soonTakes limits these reads if the holder was killed or has ended, and both are on
	// one host, as docs/watch.md says. The next read shows it. One may be in progress, and
	// another run may be faster.
	soonTakes = 3
)

// TestWatchTakesOver runs two instances on one hub. It kills the active one again and again
// at random writes, or tells it to end, and starts it again. The records of their proxies
// must show that only one writes at a time. The hub must find its next holder within the
// stated number of reads.
func TestWatchTakesOver(t *testing.T) {
	t.Parallel()
	kills := haKills
	if text := os.Getenv("LYNQCTL_WATCH_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatalf("LYNQCTL_WATCH_KILLS: %v", err)
		}
	}
	p := newPair(t)
	for i := range kills {
		if i == 1 || i > 1 && p.random.IntN(4) == 0 {
			p.endHolder(t)
		} else {
			p.killHolder(t)
		}
	}
	p.await(t, "a write of each instance", func() bool {
		wrote := map[int]bool{}
		for _, w := range p.writes(func(r faultproxy.Record) bool { return writesObject(r.Request) || writesRecord(r.Request) }) {
			wrote[w.by] = true
		}
		return len(wrote) == len(p.instances)
	})
	p.proved(t)
	p.follows(t)
	for i := range p.instances {
		kill(t, p.instances[i].running, syscall.SIGTERM)
		p.instances[i].want(t, 130)
	}
	p.settled(t)
}

// pair are two instances of lynqctl watch on the hub of a shop.
type pair struct {
	*watchedShop
	random    *rand.Rand
	instances [2]*instance
	killed    []death
	ended     []time.Time // when an instance ended as the test told it
	changes   int
}

// death is the period in which an instance was dead, from just before the kill until it
// started again.
type death struct {
	of                 int
	from, known, until time.Time // known: it has certainly ended
}

// instance is one of them after its last start, with its own proxy.
type instance struct {
	*shop
	*running
}

// newPair starts both. The first one is active when the second one starts.
func newPair(t *testing.T) *pair {
	t.Helper()
	env := cluster.Env(t)
	p := &pair{watchedShop: newWatchedShop(t, env, haRows), random: newRandom(t)}
	t.Cleanup(func() {
		for i, in := range p.instances {
			if t.Failed() && in != nil {
				t.Logf("instance %d, as it was started last, said:\n%s", i, in.stderr.String())
			}
		}
	})
	for i := range p.instances {
		own := *p.shop
		own.Env, own.proxy = env.Proxy(t, faultproxy.Options{})
		p.instances[i] = &instance{shop: &own}
		p.begin(t, i)
		p.follows(t)
	}
	return p
}

// begin starts an instance, and waits until it is active or stands by.
func (p *pair) begin(t *testing.T, i int) {
	t.Helper()
	in := p.instances[i]
	in.running = in.watch(t)
	p.await(t, "an instance that begins", func() bool {
		said := in.stderr.String()
		return strings.Contains(said, ": watching") || strings.Contains(said, "standing by")
	})
}

// await waits until a condition is met. Meanwhile it changes rows, and edits objects.
func (p *pair) await(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(4 * pollEvery)
	defer tick.Stop()
	for deadline := time.Now().Add(settleWithin); !so(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		if p.instances[1] != nil { // otherwise the objects may not exist yet
			p.change(t)
		}
	}
}

// change changes a row, or edits an object like another client.
func (p *pair) change(t *testing.T) {
	t.Helper()
	p.changes++
	uid, value := pick(p.random, slices.Sorted(maps.Keys(p.rows))), fmt.Sprintf("v%d", p.changes)
	if p.random.IntN(haEdits) == 0 {
		p.editByHand(t, uid, pick(p.random, shopObjects()), value)
		return
	}
	p.rows[uid] = value
	p.saveRows(t)
}

// atWrite waits until the active instance is about to write, some writes from now. With
// hold, this write waits and never arrives. It returns the instance, and a function that
// ends the wait.
func (p *pair) atWrite(t *testing.T, hold bool) (holder int, release func()) {
	t.Helper()
	writes := p.leaseWrites()
	holder = writes[len(writes)-1].by
	met, released := make(chan struct{}), make(chan struct{})
	in := p.instances[holder]
	rule := faultproxy.Rule{Match: faultproxy.Request.IsWrite, Skip: p.random.IntN(25), Times: 1, Before: func() { close(met) }}
	free := sync.OnceFunc(func() { close(released) })
	if hold {
		t.Cleanup(free)
		rule.End, rule.Before = faultproxy.CutBefore, func() {
			close(met)
			<-released
		}
	}
	in.proxy.SetRules(rule)
	p.await(t, "a write", func() bool {
		select {
		case <-met:
			return true
		default:
			return false
		}
	})
	return holder, func() {
		free()
		in.proxy.SetRules()
	}
}

// taken waits until an instance has taken the Lease after a time.
func (p *pair) taken(t *testing.T, since time.Time) {
	t.Helper()
	p.await(t, "an instance that takes over", func() bool {
		return slices.ContainsFunc(p.leaseWrites(), func(w instanceWrite) bool { return succeeded(w.Record) && w.Began.After(since) })
	})
}

// killHolder kills the active instance and starts it again at once.
func (p *pair) killHolder(t *testing.T) {
	t.Helper()
	holder, release := p.atWrite(t, p.random.IntN(2) == 0)
	in := p.instances[holder]
	d := death{of: holder, from: time.Now()}
	kill(t, in.running, syscall.SIGKILL)
	<-in.done
	d.known = time.Now()
	release()
	d.until = time.Now()
	p.killed = append(p.killed, d)
	p.begin(t, holder)
	p.taken(t, d.known)
}

// endHolder tells the active instance to end, and starts it again after the other one took
// over.
func (p *pair) endHolder(t *testing.T) {
	t.Helper()
	holder, release := p.atWrite(t, false)
	in := p.instances[holder]
	kill(t, in.running, syscall.SIGTERM)
	in.want(t, 130)
	release()
	ended := time.Now()
	p.ended = append(p.ended, ended)
	p.taken(t, ended)
	p.begin(t, holder)
}

// instanceWrite is a write of an instance.
type instanceWrite struct {
	by int
	faultproxy.Record
}

// writes returns the selected writes of both instances, in the order of their answers.
func (p *pair) writes(meant func(faultproxy.Record) bool) []instanceWrite {
	var all []instanceWrite
	for i, in := range p.instances {
		if in == nil {
			continue
		}
		for _, r := range in.proxy.Records() {
			if meant(r) && !r.Answered.IsZero() {
				all = append(all, instanceWrite{i, r})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b instanceWrite) int { return a.Answered.Compare(b.Answered) })
	return all
}

// leaseWrites returns the writes of the Lease that took effect, or may have because a kill
// came before the answer.
func (p *pair) leaseWrites() []instanceWrite {
	return p.writes(func(r faultproxy.Record) bool {
		return r.IsWrite() && r.Resource == "leases.coordination.k8s.io" && (r.Status == 0 || r.Status/100 == 2)
	})
}

// looks counts how often an instance read the Lease in a period.
func (p *pair) looks(by int, from, to time.Time) int {
	n := 0
	for _, r := range p.instances[by].proxy.Records() {
		if r.Verb == "get" && r.Resource == "leases.coordination.k8s.io" && r.Began.After(from) && r.Began.Before(to) {
			n++
		}
	}
	return n
}

// leftOver reports whether a write was in progress when its instance was killed. Nobody
// knows when it arrives.
func (p *pair) leftOver(w instanceWrite) bool {
	return slices.ContainsFunc(p.killed, func(d death) bool { return d.of == w.by && w.Began.Before(d.until) && w.Answered.After(d.from) })
}

// reign is the period in which one instance held the Lease.
type reign struct {
	by       int
	from, to time.Time // to is zero for the last one
	renewals []time.Time
}

// reigns returns the reigns that follow from the writes of the Lease.
func reigns(writes []instanceWrite) []reign {
	var all []reign
	for _, w := range writes {
		if !succeeded(w.Record) {
			continue
		}
		if n := len(all); n == 0 || all[n-1].by != w.by {
			if n > 0 {
				all[n-1].to = w.Began
			}
			all = append(all, reign{by: w.by, from: w.Answered})
		}
		last := &all[len(all)-1]
		last.renewals = append(last.renewals, w.Began)
	}
	return all
}

// covers reports whether a write lies within a reign, while the Lease had not expired.
func (r *reign) covers(w instanceWrite) bool {
	if r.by != w.by || w.Began.Before(r.from) || !r.to.IsZero() && w.Answered.After(r.to) {
		return false
	}
	return slices.ContainsFunc(r.renewals, func(at time.Time) bool { return at.Before(w.Began) && w.Began.Sub(at) <= leaseLasts })
}

// proved fails the test if an instance wrote without the Lease, or the hub had no holder
// for too long.
func (p *pair) proved(t *testing.T) {
	t.Helper()
	leases := p.leaseWrites()
	all := reigns(leases)
	var wrong []string
	var writers [2]int
	for _, w := range p.writes(func(r faultproxy.Record) bool { return writesObject(r.Request) || writesRecord(r.Request) }) {
		writers[w.by]++
		if !p.leftOver(w) && !slices.ContainsFunc(all, func(r reign) bool { return r.covers(w) }) {
			wrong = append(wrong, fmt.Sprintf("instance %d did not hold the Lease for its %s %s %s", w.by, w.Verb, w.Resource, w.Name))
		}
	}
	complain(t, wrong)
	t.Logf("%d and %d writes of objects and records, in %d reigns; %d changes of rows and objects", writers[0], writers[1], len(all), p.changes)
	p.neverLong(t, leases)
}

// neverLong fails the test if the hub had no holder for longer than stated.
func (p *pair) neverLong(t *testing.T, leases []instanceWrite) {
	t.Helper()
	for i, next := range leases[1:] {
		// A waiting instance takes a Lease that it saw expire.
		if looks, most := p.looks(next.by, leases[i].Answered, next.Began), int(leaseLasts/lookEvery)+2; looks > most {
			t.Errorf("no one renewed the Lease, and instance %d looked at it %d times; want at most %d times", next.by, looks, most)
		}
	}
	var killed []time.Time
	for _, d := range p.killed {
		killed = append(killed, d.known)
	}
	p.soonTaken(t, "kills", killed, leases)
	p.soonTaken(t, "endings", p.ended, leases)
}

// soonTaken fails the test if an instance read the Lease too often between the end of the
// other one and its own takeover.
func (p *pair) soonTaken(t *testing.T, what string, gone []time.Time, leases []instanceWrite) {
	t.Helper()
	var waits []time.Duration
	for _, at := range gone {
		i := slices.IndexFunc(leases, func(w instanceWrite) bool { return succeeded(w.Record) && w.Began.After(at) })
		if i < 0 {
			t.Errorf("of the %s, no one took the Lease after one", what)
			continue
		}
		waits = append(waits, leases[i].Began.Sub(at))
		if looks := p.looks(leases[i].by, at, leases[i].Began); looks > soonTakes {
			t.Errorf("of the %s, one left the hub without a holder for %d looks; want at most %d", what, looks, soonTakes)
		}
	}
	t.Logf("without a holder after %d %s for at most %s", len(gone), what, slices.MaxFunc(append(waits, 0), cmp.Compare))
}

// TestReigns wants the check of TestWatchTakesOver to find problems.
func TestReigns(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	at := func(by int, from, to time.Duration, status int) instanceWrite {
		return instanceWrite{by, faultproxy.Record{Began: begin.Add(from * time.Second), Answered: begin.Add(to * time.Second), Status: status}}
	}
	all := reigns([]instanceWrite{at(0, 1, 2, 201), at(0, 11, 12, 200), at(1, 13, 14, 0), at(1, 45, 47, 200), at(0, 50, 51, 200)})
	if len(all) != 3 || all[0].by != 0 || all[1].by != 1 || all[2].by != 0 {
		t.Fatalf("got the reigns %+v", all)
	}
	for name, tt := range map[string]struct {
		write instanceWrite
		want  bool
	}{
		"in its first reign":           {at(0, 3, 4, 200), true},
		"before it had the Lease":      {at(0, 1, 3, 200), false},
		"of the one that stands by":    {at(1, 5, 6, 200), false},
		"before its answer was lost":   {at(0, 38, 40, 0), true},
		"when it had expired":          {at(0, 42, 43, 200), false},
		"when another takes it":        {at(0, 40, 46, 200), false},
		"before it has taken it":       {at(1, 46, 48, 200), false},
		"of the one that has taken it": {at(1, 48, 49, 200), true},
		"in its second reign":          {at(0, 60, 61, 200), true},
		"long after":                   {at(0, 90, 91, 200), false},
	} {
		if got := slices.ContainsFunc(all, func(r reign) bool { return r.covers(tt.write) }); got != tt.want {
			t.Errorf("a write %s: in a reign is %t, want %t", name, got, tt.want)
		}
	}
}
