package watch

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// The first and the longest pause after a round in which something failed.
const (
	firstPause = 5 * time.Second
	lastPause  = 5 * time.Minute
)

// Pause returns the pause after a number of rounds in a row in which something failed. It begins
// with 5 seconds, and doubles up to 5 minutes. It is 0 for no such round.
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

// The first and the longest time for which a watch collects changes before a round.
const (
	firstSettle = 200 * time.Millisecond
	lastSettle  = 10 * time.Second
)

// Settle returns how long a watch collects changes of the cluster before a round. rounds is the
// number of rounds in a row that such changes began, and that found nothing to do. It begins
// with 0.2 seconds, and doubles up to 10 seconds. So other clients that write all the time
// cause few rounds.
func Settle(idle int) time.Duration {
	settle := firstSettle
	for range idle {
		if settle *= 2; settle >= lastSettle {
			return lastSettle
		}
	}
	return settle
}

// IdleRounds counts the rounds in a row that only changes of the cluster began, and that found
// nothing to do. The zero value has counted none.
type IdleRounds struct{ count int }

// Began says what began a round.
type Began uint8

// What begins a round.
const (
	ByTimer   Began = iota // nothing changed
	ByCluster              // other clients changed objects, and nothing else is new
	ByNews                 // rows, files or other hubs are new
)

// Ended notes the end of a round, and whether it wrote an object. A round for rows or files says
// nothing about other clients.
func (c *IdleRounds) Ended(began Began, wrote bool) {
	switch {
	case wrote || began == ByTimer:
		c.count = 0
	case began == ByCluster:
		c.count++
	}
}

// Collect waits for as long as Settle says, or until done closes. News of rows and files never
// wait for changes of the cluster.
func (c *IdleRounds) Collect(done <-chan struct{}, changes *Changes) {
	settle := time.NewTimer(Settle(c.count))
	defer settle.Stop()
	soon := time.NewTimer(firstSettle)
	defer soon.Stop()
	for {
		noted := changes.Noted()
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
		case <-noted:
		case <-done:
			return
		}
	}
}

// Another client fights for an object if it changes it this often, each time this soon after
// lynqctl restored it.
const (
	fightTimes = 5
	fightGap   = time.Minute
)

// Fights knows the objects that other clients change again and again. The zero value knows
// none. It isn't safe for concurrent use.
type Fights struct{ objects map[lynq.Ref]fight }

type fight struct {
	times int
	last  time.Time
	until time.Time // its changes don't matter before
}

// TakenBack notes that lynqctl restored an object that another client had changed. If this
// happens again and again, it returns how long further changes don't matter. Otherwise it
// returns 0.
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

// Muted reports whether changes of an object don't matter now.
func (f *Fights) Muted(ref lynq.Ref, now time.Time) bool {
	x, known := f.objects[ref]
	return known && now.Before(x.until)
}

// Next returns when the changes of an object matter again. It is zero if no object is muted.
func (f *Fights) Next() time.Time {
	var next time.Time
	for _, x := range f.objects {
		if !x.until.IsZero() && (next.IsZero() || x.until.Before(next)) {
			next = x.until
		}
	}
	return next
}

// Over returns, once, the objects whose changes matter again. Somebody may have changed them
// while they were muted.
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
