package bench_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
)

// contender is one of the programs to compare.
type contender struct {
	name string
	most int // its limit of rows, 0 for none
	run  func() error
}

// The names in ratios.
const (
	nameFloor   = "floor"
	nameLynqctl = "lynqctl"
	nameOneCore = "lynqctl-1core"
	nameJSON    = "lynqctl-json"
	nameUsual   = "usual"
	// The same two, if they keep all of the output until its end, as render does.
	nameFloorKept   = "floor-kept"
	nameLynqctlKept = "lynqctl-kept"
)

// compare measures contenders one after another as sub-benchmarks. For each, it reports the
// time per row, throughput, allocations, and the ratios to those before.
func compare(b *testing.B, rows int, output int64, contenders []contender) {
	median := medians{}
	for _, c := range contenders {
		if c.most > 0 && rows > c.most {
			continue
		}
		b.Run(fmt.Sprintf("rows=%d/%s", rows, c.name), func(b *testing.B) {
			var before, after runtime.MemStats
			var times []time.Duration
			runtime.GC()
			runtime.ReadMemStats(&before)
			for b.Loop() {
				start := time.Now()
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			runtime.ReadMemStats(&after)
			m := middle(times)
			median[c.name] = m
			all := float64(rows) * float64(len(times))
			b.ReportMetric(0, "ns/op") // the time per row says it
			b.ReportMetric(float64(m.Nanoseconds())/float64(rows), "ns/row")
			b.ReportMetric(float64(output)/1e6/m.Seconds(), "MB/s")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/all, "allocs/row")
			median.report(b, c.name)
		})
	}
}

// medians has the median time of each contender by name. Other work on the machine affects
// the median least.
type medians map[string]time.Duration

func middle(of []time.Duration) time.Duration {
	of = slices.Sorted(slices.Values(of))
	return of[len(of)/2]
}

// report reports the ratios that contain a contender's time.
func (m medians) report(b *testing.B, name string) {
	ratio := func(of, by, unit string) {
		if m[of] > 0 && m[by] > 0 {
			b.ReportMetric(float64(m[of])/float64(m[by]), unit)
		}
	}
	switch name {
	case nameUsual:
		ratio(nameUsual, nameLynqctl, "usual/ours")
		ratio(nameUsual, nameOneCore, "usual/1core")
	case nameLynqctl, nameOneCore, nameJSON:
		ratio(name, nameFloor, "ours/floor")
	case nameLynqctlKept:
		ratio(name, nameFloorKept, "ours/floor")
	}
}
