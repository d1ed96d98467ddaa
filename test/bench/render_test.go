package bench_test

import (
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/render"
	"github.com/lynqctl/lynqctl/pkg/render/buffer"
	"github.com/lynqctl/lynqctl/test/bench/floor"
)

// BenchmarkRender measures rendering alone: rows from memory, and a sink that keeps
// nothing. Compare lynqctl-1core with the floor, which is one loop: it has one worker, and
// all goroutines on one core.
func BenchmarkRender(b *testing.B) {
	p := mustCompile(b)
	u, err := newUsual()
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range sizes() {
		plain := tenants(n)
		rows := rowsFor(p, plain)
		compare(b, n, outputSize(plain), []contender{
			{name: nameFloor, run: func() error { return renderFloor(plain, &counter{}) }},
			{name: nameOneCore, run: func() error {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				return renderRows(p, rows, render.Settings{Workers: 1}, &counter{})
			}},
			{name: nameLynqctl, run: func() error { return renderRows(p, rows, render.Settings{}, &counter{}) }},
			{name: nameJSON, run: func() error { return renderRows(p, rows, render.Settings{Format: render.JSON}, &counter{}) }},
			{name: nameUsual, most: usualMost, run: func() error { return renderUsual(u, plain, io.Discard) }},
			{name: nameFloorKept, most: keptMost, run: func() error {
				return keep(func(s sink) error { return renderFloor(plain, s) })
			}},
			{name: nameLynqctlKept, most: keptMost, run: func() error {
				return keep(func(s sink) error { return renderRows(p, rows, render.Settings{}, s) })
			}},
		})
	}
}

// keptMost limits the rows whose output render keeps in memory. It writes more to a file.
const keptMost = 10_000

// keep renders into the buffer in which render keeps its output until the end.
func keep(run func(sink) error) error {
	nodes := buffer.New(buffer.DefaultMemory)
	return errors.Join(run(nodes), nodes.Close())
}

// BenchmarkRun measures whole runs within a process: form and rows come from files, and a
// writer drops the output at the end.
func BenchmarkRun(b *testing.B) {
	for _, kind := range []string{"csv", "sqlite"} {
		b.Run(kind, func(b *testing.B) {
			for _, n := range sizes() {
				rows := tenants(n)
				path := writeRows(b, kind, rows)
				compare(b, n, outputSize(rows), []contender{
					{name: nameFloor, run: func() error { return floor.Run(kind, path, io.Discard) }},
					{name: nameLynqctl, run: func() error { return renderFile(kind, path, io.Discard) }},
					{name: nameUsual, most: usualMost, run: func() error { return usualFile(kind, path, io.Discard) }},
				})
			}
		})
	}
}

func renderFloor(rows []floor.Row, to sink) error {
	var buf []byte
	for i := range rows {
		buf = floor.Append(buf[:0], &rows[i])
		if err := to.Add(buf); err != nil {
			return err
		}
	}
	return nil
}

func renderUsual(u *usual, rows []floor.Row, w io.Writer) error {
	for i := range rows {
		if err := u.row(&rows[i], w); err != nil {
			return err
		}
	}
	return nil
}

// outputSize returns the number of bytes that rows render to.
func outputSize(rows []floor.Row) int64 {
	var c counter
	_ = renderFloor(rows, &c) // a counter never fails
	return c.bytes
}
