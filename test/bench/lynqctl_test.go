package bench_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/render"
	"github.com/lynqctl/lynqctl/pkg/render/buffer"
	"github.com/lynqctl/lynqctl/pkg/source"
	"github.com/lynqctl/lynqctl/test/bench/floor"
)

// inputs is the folder with the benchmark's hub and form.
const inputs = "testdata"

// compile loads and compiles the benchmark's hub and form.
func compile() (*render.Program, error) {
	in, err := form.Load([]string{inputs}, false, nil)
	if err != nil {
		return nil, err
	}
	f := in.Forms[0]
	p, problems := render.Compile(f, in.Hub(f), render.Options{})
	return p, problems.Err()
}

func mustCompile(tb testing.TB) *render.Program {
	tb.Helper()
	p, err := compile()
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// rowsFor brings rows into the order in which a program reads them.
func rowsFor(p *render.Program, rows []floor.Row) []lynq.Row {
	columns := render.Columns(p.Hub)
	out := make([]lynq.Row, len(rows))
	for i := range rows {
		out[i].Line = i + 1
		for _, c := range columns {
			out[i].Values = append(out[i].Values, rows[i][slices.Index(floor.Columns(), c)])
		}
	}
	return out
}

// sink receives the bytes of nodes.
type sink interface{ Add(node []byte) error }

// counter is a sink that counts bytes and keeps none.
type counter struct{ bytes int64 }

func (c *counter) Add(node []byte) error {
	c.bytes += int64(len(node))
	return nil
}

// renderRows renders rows from memory.
func renderRows(p *render.Program, rows []lynq.Row, o render.Settings, to sink) error {
	sequence := func(yield func(lynq.Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
	return runHub(p, sequence, func(int) string { return "row" }, o, to)
}

func runHub(p *render.Program, rows iter.Seq2[lynq.Row, error], place func(int) string, o render.Settings, to sink) error {
	run := render.NewRun(o, []*render.Program{p})
	for n, err := range run.Bytes(context.Background(), render.Input{Programs: []*render.Program{p}, Rows: rows, Place: place}) {
		if err := cmp.Or(err, to.Add(n.Out)); err != nil {
			return err
		}
	}
	return run.Err()
}

// renderFile does the work of lynqctl render within its process. It loads inputs, reads
// rows from a file, and writes the output at the end, all or nothing.
func renderFile(kind, path string, w io.Writer) error {
	p, err := compile()
	if err != nil {
		return err
	}
	c := endpoint.Connection{Type: endpoint.SourceType(kind), Path: path, Table: "tenants"}
	ctx := context.Background()
	src, err := source.Open(ctx, c, nil, nil)
	if err != nil {
		return err
	}
	nodes := buffer.New(buffer.DefaultMemory)
	defer func() { _ = nodes.Close() }() // the run has read its file
	query := source.Query{Columns: render.Columns(p.Hub), UID: "id"}
	rows := src.Records(ctx, query)
	if err := errors.Join(runHub(p, rows, src.Place, render.Settings{}, nodes), src.Close()); err != nil {
		return err
	}
	_, err = nodes.WriteTo(w)
	return err
}
