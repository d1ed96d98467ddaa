package watch

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// How long to wait after a round in which something failed, and at most.
const (
	firstPause = 5 * time.Second
	lastPause  = 5 * time.Minute
)

// Pause returns how long to wait after so many rounds in turn in which something
// failed: 5 seconds, doubled each time, at most 5 minutes; 0 after none.
func Pause(failures int) time.Duration {
	if failures < 1 {
		return 0
	}
	pause := firstPause
	for range failures - 1 {
		if pause *= 2; pause >= lastPause {
			return lastPause
		}
	}
	return pause
}

// How long changes are collected before a round begins, and at most.
const (
	firstSettle = 200 * time.Millisecond
	lastSettle  = 10 * time.Second
)

// Settle returns how long a watch collects changes of the cluster after so many rounds in
// turn that such changes began and that found nothing to do: 0.2 seconds, doubled each
// time, at most 10 seconds. What others write all the time, and is not ours, costs no more
// than that.
func Settle(idle int) time.Duration {
	settle := firstSettle
	for range idle {
		if settle *= 2; settle >= lastSettle {
			return lastSettle
		}
	}
	return settle
}

// IdleRounds counts the rounds in turn that changes of the cluster alone began, and that found
// nothing to do. The zero value has counted none.
type IdleRounds struct{ count int }

// Began says what began a round.
type Began uint8

// The ways.
const (
	ByTimer   Began = iota // nothing changed
	ByCluster              // other clients changed objects, and nothing else is new
	ByNews                 // rows, files or other hubs are new
)

// Ended notes the end of a round, and whether it wrote an object. A round for rows or files
// says nothing of other clients.
func (c *IdleRounds) Ended(began Began, wrote bool) {
	switch {
	case wrote || began == ByTimer:
		c.count = 0
	case began == ByCluster:
		c.count++
	}
}

// Collect waits while changes are collected: as long as Settle says, or until done closes.
// News of rows and files never wait for changes of the cluster.
func (c *IdleRounds) Collect(done <-chan struct{}, changes *Changes) {
	settle := time.NewTimer(Settle(c.count))
	defer settle.Stop()
	soon := time.NewTimer(firstSettle)
	defer soon.Stop()
	for {
		if changes.News() {
			select {
			case <-soon.C:
			case <-settle.C:
			case <-done:
			}
			return
		}
		select {
		case <-settle.C:
			return
		case <-changes.Due():
		case <-done:
			return
		}
	}
}

// Another client that changes an object so often, each time so soon after lynq took it
// back, fights for it.
const (
	fightTimes = 5
	fightGap   = time.Minute
)

// Fights knows which objects other clients change again and again. The zero value knows
// none. It is not safe for concurrent use.
type Fights struct{ objects map[lynq.Ref]fight }

type fight struct {
	times int
	last  time.Time
	until time.Time // no change of it matters before
}

// TakenBack notes that an object was written since another client had changed it. Where
// that has happened again and again, it gives how long its further changes do not matter,
// else 0.
func (f *Fights) TakenBack(ref lynq.Ref, now time.Time) time.Duration {
	if f.objects == nil {
		f.objects = map[lynq.Ref]fight{}
	}
	x := f.objects[ref]
	if gap := now.Sub(x.last); gap > fightGap+Pause(x.times-fightTimes+1) {
		x.times = 0
	}
	x.times, x.last = x.times+1, now
	pause := Pause(x.times - fightTimes + 1)
	if x.until = (time.Time{}); pause > 0 {
		x.until = now.Add(pause)
	}
	f.objects[ref] = x
	return pause
}

// Muted reports whether changes of an object do not matter now.
func (f *Fights) Muted(ref lynq.Ref, now time.Time) bool {
	x, known := f.objects[ref]
	return known && now.Before(x.until)
}

// Next returns when the changes of some object matter again; zero where none is muted.
func (f *Fights) Next() time.Time {
	var next time.Time
	for _, x := range f.objects {
		if !x.until.IsZero() && (next.IsZero() || x.until.Before(next)) {
			next = x.until
		}
	}
	return next
}

// Over gives the objects whose changes matter again: one that was muted may have been
// changed meanwhile. Each is given once.
func (f *Fights) Over(now time.Time) []lynq.Ref {
	var over []lynq.Ref
	for ref, x := range f.objects {
		if !x.until.IsZero() && !now.Before(x.until) {
			x.until = time.Time{}
			f.objects[ref] = x
			over = append(over, ref)
		}
	}
	return over
}
