package cmdflags

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/planfile"
	"github.com/lynqctl/lynqctl/pkg/bounded"
)

// maxPlanFile limits the size of a plan file, in bytes.
const maxPlanFile = 256 << 20

// WritePlan writes a plan file. If the write breaks off, the id in the file shows that it
// is incomplete.
func WritePlan(path string, f *planfile.File) error {
	b, err := f.Encode()
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, b, 0o644); err != nil { //nolint:gosec // it holds nothing secret, and others read it
		return fmt.Errorf("write the plan: %w", err)
	}
	return nil
}

// CheckOut refuses - as the file of --out. Standard output shows the changes, and a program
// that reads both would find no plan in them.
func CheckOut(path string) error {
	if path != "-" {
		return nil
	}
	return session.BadUsage(errors.New("--out -: standard output shows the changes; write the plan to a file (a file named - is ./-)"))
}

// Plan holds the flags of commands that write and carry out plan files.
type Plan struct{ plan, out string }

// Register registers the flags of a command that writes and carries out plan files.
func (f *Plan) Register(flags *pflag.FlagSet, command string) {
	flags.StringVar(&f.out, "out", "", "with --dry-run=client, write the plan to this `file`")
	flags.StringVar(&f.plan, "plan", "", "carry out this plan `file` of '"+command+" --out' and nothing else; don't ask for confirmation")
}

// RegisterFile registers the flag that reads a plan file of another command.
func (f *Plan) RegisterFile(flags *pflag.FlagSet) {
	flags.StringVar(&f.plan, "plan", "", "apply this plan `file` of 'lynqctl plan' and nothing else; don't ask for confirmation")
}

// Apply checks the flags and sets the options of a run.
func (f *Plan) Apply(o *session.RunOptions) error {
	if f.out == "" {
		return readPlan(f.plan, o)
	}
	switch {
	case f.plan != "":
		return session.BadUsage(errors.New("--plan with --out is not possible: the plan exists"))
	case o.Mode != session.ModeClient:
		return session.BadUsage(errors.New("--out needs --dry-run=client"))
	}
	if err := CheckOut(f.out); err != nil {
		return err
	}
	o.WritePlan = func(file *planfile.File) error { return WritePlan(f.out, file) }
	return nil
}

// readPlan reads the plan file of --plan into options.
func readPlan(path string, o *session.RunOptions) error {
	if path == "" {
		return nil
	}
	b, err := bounded.ReadFile(path, maxPlanFile)
	if err != nil {
		return session.BadUsage(fmt.Errorf("--plan: %w", err))
	}
	if o.Plan, err = planfile.Decode(b); err != nil {
		return session.BadUsage(fmt.Errorf("--plan: %s is no plan of lynqctl: %w", path, err))
	}
	return nil
}
