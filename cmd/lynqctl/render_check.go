package main

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
	"slices"

	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// secondPass is the flag that makes a process the second one of a check.
const secondPass = "check-second-pass"

// checkFlags are the flags of render that are about rendering twice.
type checkFlags struct {
	check  bool
	second bool // this is the second pass
	stdin  engine.Replayed
}

func (c *checkFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&c.check, "check", false, "render twice, the second time in another process with the rows shuffled, and tell whether both give the same")
	flags.BoolVar(&c.second, secondPass, false, "")
	_ = flags.MarkHidden(secondPass) // the flag is there
}

// renderCheck is one pass of a check; the first one starts the second.
func (a *app) renderCheck(ctx context.Context, f *renderCommandFlags, e *engine.Engine, inputs *engine.Inputs) error {
	if f.check.second {
		f.Shuffle = rand.New(rand.NewPCG(1, 2)) //nolint:gosec // another order, and always the same one
	}
	sink := &engine.Prints{}
	run, err := e.RenderRows(ctx, &f.RenderOptions, f.Settings, inputs, sink)
	if err != nil || run.Err() != nil && !f.KeepGoing || len(run.Missing()) > 0 {
		return f.Ended(run.Run, err)
	}
	if f.check.second {
		return a.tellPrints(sink.Nodes)
	}
	second, err := a.secondPass(ctx, f)
	if err != nil {
		return err
	}
	if what := engine.FirstDifference(sink.Nodes, second); what != "" {
		return &engine.Error{Outcome: engine.Failed, Err: fmt.Errorf("rendered twice, not alike: %s (a function whose result varies, or a row that changed in between)", what)}
	}
	_, _ = fmt.Fprintf(a.noteOut(), "rendered twice, alike: %s, %s\n", lynq.Count(run.Report().Nodes, "node"), lynq.Count(run.Report().Objects, "object"))
	return f.Ended(run.Run, nil)
}

// tellPrints is what the second pass writes.
func (a *app) tellPrints(nodes []engine.NodePrint) error {
	out := bufio.NewWriter(a.out().Data())
	e := json.NewEncoder(out)
	for i := range nodes {
		if err := e.Encode(&nodes[i]); err != nil {
			return engine.Fail(err)
		}
	}
	return engine.Fail(out.Flush())
}

// secondPass renders in another process, so that nothing that this one happens
// to have in memory makes a difference.
func (a *app) secondPass(ctx context.Context, f *renderCommandFlags) ([]engine.NodePrint, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, engine.Fail(fmt.Errorf("render again: %w", err))
	}
	args := slices.Clone(a.args)
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	cmd := exec.CommandContext(ctx, program, slices.Insert(args, end, "--"+secondPass)...) //nolint:gosec // it is this program
	cmd.Args[0] = a.program
	cmd.Stdin = f.check.stdin.Reader(nil)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, engine.Fail(cause)
		}
		return nil, engine.Fail(fmt.Errorf("render again, with the rows in another order: %w\n%s", err, bytes.TrimSpace(said.Bytes())))
	}
	var nodes []engine.NodePrint
	for d := json.NewDecoder(&out); ; {
		var n engine.NodePrint
		err := d.Decode(&n)
		if errors.Is(err, io.EOF) {
			return nodes, nil
		}
		if err != nil {
			return nil, engine.Fail(fmt.Errorf("render again: %w", err))
		}
		nodes = append(nodes, n)
	}
}
