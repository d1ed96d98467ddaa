package ui

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// patience is after how long a Counting is shown.
const patience = time.Second

// Counting shows at the bottom of a terminal how far something has come that takes
// longer than a second: how much of it is done, how fast, and how long it may still
// take where that can be told. It goes when it is stopped. A nil Counting shows
// nothing.
type Counting struct {
	live  live
	what  string // "reading rows of hub crm"
	start time.Time
	n, of atomic.Int64
	stop  func() // drawing
	once  sync.Once
}

// StartCounting begins one, nil where out is no terminal. The ticker makes it move.
func StartCounting(out tty.Stream, what string, now time.Time, tick <-chan time.Time) *Counting {
	if !out.Terminal {
		return nil
	}
	c := &Counting{live: live{out: out}, what: what, start: now}
	c.stop = eachTick(tick, c.draw)
	return c
}

func (c *Counting) draw(now time.Time) {
	c.live.drawing.Lock()
	defer c.live.drawing.Unlock()
	columns, _ := c.live.out.Extent()
	c.live.draw(nil, c.frame(now, columns), columns)
}

// Add counts n more. It is safe for concurrent use.
func (c *Counting) Add(n int) {
	if c != nil {
		c.n.Add(int64(n))
	}
}

// Expect says that n more are to be counted. It is safe for concurrent use.
func (c *Counting) Expect(n int) {
	if c != nil {
		c.of.Add(int64(n))
	}
}

// Reached says that so many are done, of so many. It is safe for concurrent use.
func (c *Counting) Reached(n, of int) {
	if c != nil {
		c.n.Store(int64(n))
		c.of.Store(int64(of))
	}
}

// Note writes a line that stays. It is safe for concurrent use.
func (c *Counting) Note(line string) {
	c.live.drawing.Lock()
	defer c.live.drawing.Unlock()
	columns, _ := c.live.out.Extent()
	c.live.draw([]string{tty.Safe(line)}, c.live.frame, columns)
}

// Stop takes it away. Further calls do nothing.
func (c *Counting) Stop() {
	if c == nil {
		return
	}
	c.once.Do(func() {
		c.stop()
		c.live.drawing.Lock()
		defer c.live.drawing.Unlock()
		columns, _ := c.live.out.Extent()
		c.live.draw(nil, nil, columns)
	})
}

// frame is what is shown, in a line that fits; nothing at first.
func (c *Counting) frame(now time.Time, columns int) []string {
	elapsed := now.Sub(c.start)
	if elapsed < patience {
		return nil
	}
	n, of := int(c.n.Load()), int(c.of.Load())
	p := c.live.out.Paint()
	if n == 0 && of == 0 { // files are read whole before the first row is known
		return []string{tty.Cut(tty.Safe(c.what)+"  "+p.Faint(age(elapsed)), columns)}
	}
	parts := []string{tty.Safe(c.what) + ": " + p.Bold(strconv.Itoa(n))}
	if of > 0 {
		parts[0] += p.Bold(fmt.Sprintf("/%d", of))
	}
	parts = append(parts, fmt.Sprintf("%.0f/s", float64(n)/elapsed.Seconds()), p.Faint(age(elapsed)))
	if 0 < n && n < of {
		left := time.Duration(float64(elapsed) * float64(of-n) / float64(n))
		parts = append(parts, p.Faint("~"+age(left+time.Second)+" left"))
	}
	line := strings.Join(parts, "  ")
	if of > 0 {
		line = barred(line, n, of, columns, p)
	}
	return []string{tty.Cut(line, columns)}
}
