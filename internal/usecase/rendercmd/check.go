package rendercmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// CheckOptions say how Check renders rows twice.
type CheckOptions struct {
	Render Options
	// Second marks the second pass, which writes the hashes to compare.
	Second bool
	// Again is the command line of the second pass, including the program.
	Again []string
}

// Check renders twice and compares. The second pass runs in another process with the rows
// in another order. Check returns an error if the results differ.
func Check(ctx context.Context, e *session.Engine, o *CheckOptions, out io.Writer) error {
	ctx, cancel := session.Deadline(ctx, o.Render.Timeout)
	defer cancel()
	var stdin load.Replayed
	remembering := *e
	remembering.Stdin = stdin.Reader(e.Stdin)
	inputs, err := prepareFor(ctx, &remembering, &o.Render)
	if err != nil {
		return err
	}
	if o.Second {
		o.Render.Shuffle = rand.New(rand.NewPCG(1, 2)) //nolint:gosec // another order, and always the same one
	}
	var first prints
	run, err := load.RenderRows(ctx, &remembering, &o.Render.RenderOptions, o.Render.Settings, inputs, func(run *render.Run, in render.Input) error {
		for n, err := range run.Documents(ctx, in) {
			if err != nil {
				return err
			}
			first = append(first, printOf(&n))
		}
		return nil
	})
	if !o.Render.Wanted(run, err) {
		return o.Render.Ended(run.Run, err)
	}
	for _, i := range run.Retracted() {
		first[i].Failed, first[i].Objects = true, nil
	}
	if o.Second {
		return session.Fail(first.tell(out))
	}
	second, err := o.again(ctx, stdin.Reader(nil))
	if err != nil {
		return session.Fail(err)
	}
	if what := firstDifference(first, second); what != "" {
		return session.Fail(fmt.Errorf("the two renderings differ: %s (a function whose result varies, or a row that changed in between)", what))
	}
	e.Notef("the two renderings are the same: %s, %s", phrase.Count(run.Report().Nodes, "node"), phrase.Count(run.Report().Objects, "object"))
	return o.Render.Ended(run.Run, nil)
}

// tell writes the hashes of the second pass.
func (s prints) tell(to io.Writer) error {
	out := bufio.NewWriter(to)
	e := json.NewEncoder(out)
	for i := range s {
		if err := e.Encode(&s[i]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// again renders in another process, so that the memory of this one can't affect the result.
func (o *CheckOptions) again(ctx context.Context, stdin io.Reader) ([]nodePrint, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("render again: %w", err)
	}
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, program) //nolint:gosec // it is this program
	cmd.Args, cmd.Stdin, cmd.Stdout, cmd.Stderr = o.Again, stdin, &out, &said
	if err := cmd.Run(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, fmt.Errorf("render again, with the rows in another order: %w\n%s", err, bytes.TrimSpace(said.Bytes()))
	}
	var nodes []nodePrint
	for d := json.NewDecoder(&out); ; {
		var n nodePrint
		err := d.Decode(&n)
		if errors.Is(err, io.EOF) {
			return nodes, nil
		}
		if err != nil {
			return nil, fmt.Errorf("render again: %w", err)
		}
		nodes = append(nodes, n)
	}
}
