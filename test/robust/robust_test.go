package robust_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lynqctl/lynqctl/test/robust/model"
)

// historySteps is the usual length of a history: long enough for unforeseen states, and
// short enough to read.
const historySteps = 60

// firstAdded is the number of resources that forms get before a history begins.
const firstAdded = 4

// lanes limits the parallel histories. Finished tests stay in memory until all tests
// parallel to them have finished, so not all histories may be parallel.
const lanes = 8

// spread makes consecutive seeds begin differently.
const spread = 0x9e3779b97f4a7c15

// number reads a number from the environment.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestRobust draws histories, and fails if one of their steps makes a change that the model
// forbids.
func TestRobust(t *testing.T) {
	t.Parallel()
	draw(t, onCluster, number(t, "LYNQCTL_ROBUST_STEPS", 60))
}

// TestMemory works like TestRobust, in memory.
func TestMemory(t *testing.T) {
	t.Parallel()
	draw(t, inMemory, number(t, "LYNQCTL_ROBUST_MEMORY_STEPS", 480))
}

func draw(t *testing.T, in place, steps uint64) {
	t.Helper()
	first, shrink := number(t, "LYNQCTL_ROBUST_SEED", 1), number(t, "LYNQCTL_ROBUST_SHRINK", 0)
	whole := max(number(t, "LYNQCTL_ROBUST_LENGTH", historySteps), 1)
	for lane := range uint64(lanes) {
		t.Run(fmt.Sprintf("lane-%d", lane), func(t *testing.T) {
			t.Parallel()
			for at := lane; at*whole < steps; at += lanes {
				seed, length := first+at, min(steps-at*whole, whole)
				t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) {
					in(t, func(t *testing.T, h *history) { h.drawn(t, seed, int(length), shrink) })
				})
			}
		})
	}
}

// drawn draws a history, and fails if it has a violation.
func (h *history) drawn(t *testing.T, seed uint64, length int, shrink uint64) {
	t.Helper()
	h.random(t, seed, length)
	t.Logf("seed %d:\n%s", seed, indented(strings.Join(h.brief, "\n")))
	if len(h.wrong) > 0 {
		t.Errorf("LYNQCTL_ROBUST_SEED=%d LYNQCTL_ROBUST_LENGTH=%d LYNQCTL_ROBUST_STEPS=%[2]d\n%[3]s", seed, length, h)
		h.shrink(t, shrink)
	}
}

// TestHistories repeats histories in which earlier versions lost objects, on a real control
// plane. Without LYNQCTL_ROBUST_HISTORIES=all, it takes each fourth of them, because
// TestHistoriesInMemory takes all.
func TestHistories(t *testing.T) {
	t.Parallel()
	files, every := historiesIn(t, "testdata/*.txt"), 4
	if os.Getenv("LYNQCTL_ROBUST_HISTORIES") == "all" {
		every = 1
	}
	var some []string
	for i := 0; i < len(files); i += every {
		some = append(some, files[i])
	}
	repeat(t, onCluster, some)
}

// TestHistoriesInMemory repeats them in memory, and others that take minutes elsewhere.
func TestHistoriesInMemory(t *testing.T) {
	t.Parallel()
	repeat(t, inMemory, append(historiesIn(t, "testdata/*.txt"), historiesIn(t, "testdata/memory/*.txt")...))
}

// historiesIn returns the files that match a pattern, of which there must be one.
func historiesIn(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no histories in %s: %v", pattern, err)
	}
	return files
}

func repeat(t *testing.T, in place, files []string) {
	t.Helper()
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in(t, func(t *testing.T, h *history) {
				h.replay(t, strings.Split(strings.TrimSpace(string(text)), "\n"))
				t.Logf("%s", strings.Join(h.log, "\n"))
				if len(h.wrong) > 0 {
					t.Errorf("%s", h)
				}
			})
		})
	}
}

// place runs a history in its own world.
type place func(t *testing.T, run func(*testing.T, *history))

// onCluster runs histories on a real control plane.
func onCluster(t *testing.T, run func(*testing.T, *history)) {
	t.Helper()
	run(t, &history{world: newWorld(t), begin: newWorld})
}

// inMemory runs histories in memory, where pauses take no time.
func inMemory(t *testing.T, run func(*testing.T, *history)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		run(t, &history{world: newMemoryWorld(t), begin: newMemoryWorld})
	})
}

// history is a list of steps in its own world, up to the first violation.
type history struct {
	*world
	begin func(*testing.T) *world // creates another world like it
	lines []string                // the steps
	log   []string                // their results
	brief []string                // the same, a line each
	wrong []string                // the violations of the last step
}

// String returns a history for people, and its lines for a file.
func (h *history) String() string {
	return fmt.Sprintf("%s\n\nviolations:\n%s\n\nhistory:\n%s", strings.Join(h.log, "\n"), strings.Join(h.wrong, "\n"), strings.Join(h.lines, "\n"))
}

// random draws that many steps.
func (h *history) random(t *testing.T, seed uint64, steps int) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed*spread, seed))
	d := drawer{random, h.inputs, h.last, h.served, h.memory != nil, h.lines}
	for _, at := range random.Perm(len(resourceIDs()))[:firstAdded] {
		h.step(t, with("add", d.form().Name, resourceIDs()[at]))
	}
	h.step(t, "apply max=100%")
	for i := 1 + firstAdded; i < steps && len(h.wrong) == 0; i++ {
		h.step(t, drawer{random, h.inputs, h.last, h.served, h.memory != nil, h.lines}.line())
	}
}

// replay runs the steps in lines. Lines that begin with # are comments.
func (h *history) replay(t *testing.T, lines []string) {
	t.Helper()
	for _, line := range lines {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if h.step(t, line); len(h.wrong) > 0 {
			return
		}
	}
}

// step runs one step.
func (h *history) step(t *testing.T, line string) {
	t.Helper()
	h.lines = append(h.lines, line)
	words := strings.Fields(line)
	op, args := words[0], words[1:]
	if slices.Contains(verbs(), op) {
		var e execution
		before := h.last
		e, h.wrong = h.run(t, op, parseOptions(args))
		h.brief = append(h.brief, fmt.Sprintf("%s: exit %d, %s", line, e.exit, difference(before, h.last)))
		h.log = append(h.log, fmt.Sprintf("%s\n  exit %d\n%s", line, e.exit, indented(e.said)))
		return
	}
	h.log, h.brief = append(h.log, line), append(h.brief, line)
	err := edit(h.inputs, op, args)
	if !errors.Is(err, errUnknown) {
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return
	}
	if op == "pass" { // HOURS
		hours, _ := strconv.Atoi(args[0])
		if h.memory != nil {
			<-time.After(time.Duration(hours) * time.Hour) // of the bubble
		}
		return
	}
	if err := h.strange(t, op, args); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	before := h.last
	h.last = h.look(t)
	// A person may delete objects. A person may also delete an inventory that the garbage
	// collector treats as the owner of an unserved kind.
	if !slices.Contains([]string{"erase", "expire", "replace", "remake", "lose"}, op) {
		h.wrong = model.Check(model.Command{Verb: "wait"}, before, h.last, 0)
	}
}

// difference counts the created and deleted objects.
func difference(before, after *model.Cluster) string {
	created, deleted := 0, 0
	for uid := range after.Objects {
		if _, was := before.Objects[uid]; !was {
			created++
		}
	}
	for uid, o := range before.Objects {
		if now, is := after.Objects[uid]; !before.Condemned(o) && (!is || after.Condemned(now)) {
			deleted++
		}
	}
	return fmt.Sprintf("%d created, %d deleted", created, deleted)
}

func indented(text string) string {
	if text == "" {
		return ""
	}
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}

// shrink removes lines while the rest is still a violation. It reports the shortest history
// after that many tries.
func (h *history) shrink(t *testing.T, tries uint64) {
	t.Helper()
	shortest := h
	for size := len(h.lines) / 2; size > 0 && tries > 0; size /= 2 {
		for at := 0; at+size < len(shortest.lines) && tries > 0; tries-- {
			shorter := &history{world: h.begin(t), begin: h.begin}
			shorter.replay(t, slices.Delete(slices.Clone(shortest.lines), at, at+size))
			if len(shorter.wrong) > 0 {
				shortest = shorter
			} else {
				at += size
			}
		}
	}
	if shortest != h {
		t.Errorf("the shortest history that was found:\n%s", shortest)
	}
}
