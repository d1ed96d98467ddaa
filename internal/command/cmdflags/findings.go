package cmdflags

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/changeset"
)

// FailOn is the flag with the findings for which a run refuses.
type FailOn struct{ codes []string }

// Register registers the flag.
func (f *FailOn) Register(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.codes, "fail-on", nil, "refuse (exit code 3) if there are findings with these codes (docs/findings.md)")
}

// Codes returns the findings. unseen are those that the command never finds, because without says
// what it lacks for them. It returns a usage error for these, and for unknown ones.
func (f *FailOn) Codes(unseen []changeset.Code, without string) ([]changeset.Code, error) {
	var codes []changeset.Code
	var known []string
	for _, e := range changeset.Codes() {
		known = append(known, string(e.Code))
	}
	for _, text := range f.codes {
		if err := OneOf("--fail-on", text, known...); err != nil {
			return nil, err
		}
		code := changeset.Code(text)
		if slices.Contains(unseen, code) {
			return nil, session.BadUsage(fmt.Errorf("--fail-on: %s never finds %s (lynqctl diff does)", without, code))
		}
		codes = append(codes, code)
	}
	return codes, nil
}
