package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	packages := flag.String("mutate", "", "packages to change, with commas between them")
	workers := flag.Int("p", 2, "mutants tested at a time")
	only := flag.String("only", "", "test only mutants whose place and change match this regular expression")
	flag.Parse()
	if *packages == "" || flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: mutants -mutate PACKAGE,... TESTS...")
		os.Exit(2)
	}
	pattern, err := regexp.Compile(*only)
	if err == nil {
		err = run(strings.Split(*packages, ","), flag.Args(), *workers, pattern)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// suite is a compiled test binary, with the mutants that its tests reach. A pattern after a
// package's name selects tests: PACKAGE:PATTERN runs those, and PACKAGE:-PATTERN the
// others.
type suite struct {
	name, binary, dir, tests string
	reaches                  map[int]bool
	takes                    time.Duration
}

func run(packages, tests []string, workers int, only *regexp.Regexp) error {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary directory
	m, err := mutate(packages, dir)
	if err != nil {
		return err
	}
	overlay := filepath.Join(dir, "overlay.json")
	content, err := json.Marshal(map[string]any{"Replace": m.overlay})
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlay, content, 0o600); err != nil {
		return err
	}
	var suites []*suite
	for i, name := range tests {
		s, err := compile(name, overlay, filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			return err
		}
		suites = append(suites, s)
	}
	survivors, unreached := m.survivors(suites, workers, only)
	for _, s := range survivors {
		fmt.Printf("survived %s: %s\n", s.Where, s.Change)
	}
	for _, s := range unreached {
		fmt.Printf("unreached %s: %s\n", s.Where, s.Change)
	}
	tested := 0
	for _, mut := range m.mutants {
		if only.MatchString(mut.Where + " " + mut.Change) {
			tested++
		}
	}
	fmt.Printf("%d mutants, %d survived, %d reached by no test\n", tested, len(survivors), len(unreached))
	return nil
}

// compile builds the tests of a package with all mutants in it, and runs them once without
// a change.
func compile(name, overlay, binary string) (*suite, error) {
	name, tests, _ := strings.Cut(name, ":")
	if _, err := output(exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, name)); err != nil {
		return nil, err
	}
	dir, err := output(exec.Command("go", "list", "-f", "{{.Dir}}", name))
	if err != nil {
		return nil, err
	}
	s := &suite{name: name, binary: binary, dir: strings.TrimSpace(string(dir)), tests: tests, reaches: map[int]bool{}}
	began := time.Now()
	hits := binary + ".hits"
	if err := s.run(10*time.Minute, "MUTANT_HITS="+hits); err != nil {
		return nil, fmt.Errorf("tests of %s without a mutant: %w", name, err)
	}
	s.takes = time.Since(began)
	content, err := os.ReadFile(hits)
	if err != nil {
		return nil, fmt.Errorf("tests of %s reach no mutant: %w", name, err)
	}
	for _, id := range bytes.Fields(content) {
		n, err := strconv.Atoi(string(id))
		if err != nil {
			return nil, err
		}
		s.reaches[n] = true
	}
	fmt.Fprintf(os.Stderr, "%s: %d mutants reached in %s\n", name, len(s.reaches), s.takes.Round(time.Millisecond))
	return s, nil
}

// run runs the tests once.
func (s *suite) run(limit time.Duration, env string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args := []string{"-test.failfast", "-test.short"}
	if skipped, ok := strings.CutPrefix(s.tests, "-"); ok {
		args = append(args, "-test.skip", skipped)
	} else if s.tests != "" {
		args = append(args, "-test.run", s.tests)
	}
	cmd := exec.CommandContext(ctx, s.binary, args...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), env)
	cmd.WaitDelay = time.Second
	_, err := output(cmd)
	return err
}

// survivors tests each mutant, and returns those that no test notices and those that no
// test reaches.
func (m *mutated) survivors(suites []*suite, workers int, only *regexp.Regexp) (survived, unreached []mutant) {
	type verdict struct{ reached, killed bool }
	verdicts := make([]verdict, len(m.mutants))
	next := make(chan int)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range next {
				for _, s := range suites {
					if !s.reaches[m.mutants[i].ID] {
						continue
					}
					verdicts[i].reached = true
					var exit *exec.ExitError
					if err := s.run(5*s.takes+20*time.Second, "MUTANT="+strconv.Itoa(m.mutants[i].ID)); errors.As(err, &exit) || err != nil {
						verdicts[i].killed = true
						break
					}
				}
			}
		})
	}
	for i, mut := range m.mutants {
		if only.MatchString(mut.Where + " " + mut.Change) {
			next <- i
		} else {
			verdicts[i] = verdict{true, true}
		}
		if i%100 == 99 {
			fmt.Fprintf(os.Stderr, "%d of %d\n", i+1, len(m.mutants))
		}
	}
	close(next)
	group.Wait()
	for i, v := range verdicts {
		switch {
		case !v.reached:
			unreached = append(unreached, m.mutants[i])
		case !v.killed:
			survived = append(survived, m.mutants[i])
		}
	}
	return survived, unreached
}
