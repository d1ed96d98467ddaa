package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/lynqctl/lynqctl/pkg/render"
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

// nodePrint is what of a node is compared: its objects, and a hash of each.
type nodePrint struct {
	Namespace string        `json:"namespace"`
	Node      string        `json:"node"`
	Failed    bool          `json:"failed,omitempty"`
	Objects   []objectPrint `json:"objects"`
}

type objectPrint struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	SHA256 string `json:"sha256"`
}

// printSink takes the prints of nodes. It is a render.ObjectSink.
type printSink struct{ nodes []nodePrint }

// Write implements render.ObjectSink.
func (s *printSink) Write(w render.Written) {
	n := nodePrint{Namespace: w.Namespace, Node: w.Name, Failed: w.Failed}
	for _, o := range w.Objects {
		sum := sha256.Sum256(w.Bytes[o.Start:o.End])
		n.Objects = append(n.Objects, objectPrint{o.Full(), o.ID, hex.EncodeToString(sum[:])})
	}
	s.nodes = append(s.nodes, n)
}

// Drop implements render.Sink.
func (s *printSink) Drop(i int) bool {
	s.nodes[i].Failed, s.nodes[i].Objects = true, nil
	return true
}

// Add implements render.Sink; an ObjectSink is never given bytes alone.
func (*printSink) Add([]byte) error { return nil }

// renderCheck is one pass of a check; the first one starts the second.
func (a *app) renderCheck(ctx context.Context, f *renderCommandFlags, e *engine.Engine, inputs *engine.Inputs) error {
	if f.check.second {
		f.Shuffle = rand.New(rand.NewPCG(1, 2)) //nolint:gosec // another order, and always the same one
	}
	sink := &printSink{}
	run, err := e.RenderRows(ctx, &f.RenderOptions, f.Settings, inputs, sink)
	if err != nil || run.Err() != nil && !f.KeepGoing || len(run.Missing()) > 0 {
		return f.Ended(run.Run, err)
	}
	if f.check.second {
		return a.tellPrints(sink.nodes)
	}
	second, err := a.secondPass(ctx, f)
	if err != nil {
		return err
	}
	if what := firstDifference(sink.nodes, second); what != "" {
		return &engine.Error{Outcome: engine.Failed, Err: fmt.Errorf("rendered twice, not alike: %s (a function whose result varies, or a row that changed in between)", what)}
	}
	_, _ = fmt.Fprintf(a.stderr, "rendered twice, alike: %s, %s\n", lynq.Count(run.Report().Nodes, "node"), lynq.Count(run.Report().Objects, "object"))
	return f.Ended(run.Run, nil)
}

// tellPrints is what the second pass writes.
func (a *app) tellPrints(nodes []nodePrint) error {
	out := bufio.NewWriter(a.stdout)
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
func (a *app) secondPass(ctx context.Context, f *renderCommandFlags) ([]nodePrint, error) {
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
	var nodes []nodePrint
	for d := json.NewDecoder(&out); ; {
		var n nodePrint
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

// firstDifference names the first node or object that is not alike, "" where all
// are. Nodes come in another order the second time.
func firstDifference(first, second []nodePrint) string {
	again := map[[2]string]*nodePrint{}
	for i := range second {
		again[[2]string{second[i].Namespace, second[i].Node}] = &second[i]
	}
	for i := range first {
		n := &first[i]
		key := [2]string{n.Namespace, n.Node}
		name := fmt.Sprintf("node %s/%s", n.Namespace, n.Node)
		other := again[key]
		delete(again, key)
		switch {
		case other == nil:
			return name + " is there the first time only"
		case n.Failed != other.Failed:
			return name + " can be rendered one time and not the other"
		case len(n.Objects) != len(other.Objects):
			return name + " has another number of objects"
		}
		for j, o := range n.Objects {
			if o != other.Objects[j] {
				return fmt.Sprintf("%s, resource %q, %s", name, o.ID, o.Object)
			}
		}
	}
	for _, n := range second {
		if again[[2]string{n.Namespace, n.Node}] != nil {
			return fmt.Sprintf("node %s/%s is there the second time only", n.Namespace, n.Node)
		}
	}
	return ""
}
