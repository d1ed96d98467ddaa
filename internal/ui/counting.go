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

// patience is the time after which a Counting appears.
const patience = time.Second

// Counting shows the progress of a task at the bottom of a terminal, if the task takes
// longer than a second. It shows the finished part, the rate, and an estimate of the rest.
// It disappears when it stops. A nil Counting shows nothing.
type Counting struct {
	live  live
	what  string // such as "reading rows of hub crm"
	start time.Time
	n, of atomic.Int64
	stop  func() // stops drawing
	once  sync.Once
}

// StartCounting starts a Counting, which moves with tick. It returns nil if out isn't a
// terminal.
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

// Expect announces n more items. It is safe for concurrent use.
func (c *Counting) Expect(n int) {
	if c != nil {
		c.of.Add(int64(n))
	}
}

// Reached sets the finished items and the total. It is safe for concurrent use.
func (c *Counting) Reached(n, of int) {
	if c != nil {
		c.n.Store(int64(n))
		c.of.Store(int64(of))
	}
}

// Note writes a line that stays on the screen. It is safe for concurrent use.
func (c *Counting) Note(line string) {
	c.live.drawing.Lock()
	defer c.live.drawing.Unlock()
	columns, _ := c.live.out.Extent()
	c.live.draw([]string{tty.Safe(line)}, c.live.frame, columns)
}

// Stop removes the Counting. Further calls do nothing.
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

// frame returns the line to show, cut to the width. It returns none at first.
func (c *Counting) frame(now time.Time, columns int) []string {
	elapsed := now.Sub(c.start)
	if elapsed < patience {
		return nil
	}
	n, of := int(c.n.Load()), int(c.of.Load())
	p := c.live.out.Paint()
	if n == 0 && of == 0 { // lynqctl reads a file completely before it knows the first row
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
