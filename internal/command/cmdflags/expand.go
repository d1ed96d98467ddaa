package cmdflags

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

// Expand is the flag with the groups of changes to show object by object.
type Expand struct{ value string }

// expandAll is the value of --expand for all groups.
const expandAll = "all"

// Register registers the flag.
func (f *Expand) Register(flags *pflag.FlagSet) {
	flags.StringVar(&f.value, "expand", "", "show each object of a group of changes, by the group's number; without a number, of all groups")
	flags.Lookup("expand").NoOptDefVal = expandAll
}

// Groups returns the groups that --expand asks for.
func (f *Expand) Groups() (ui.Expand, error) {
	switch number, err := strconv.Atoi(f.value); {
	case f.value == "":
		return ui.Expand{}, nil
	case f.value == expandAll:
		return ui.Expand{All: true}, nil
	case err != nil || number < 1:
		return ui.Expand{}, session.BadUsage(fmt.Errorf("--expand must be the number of a group, as in --expand=2; found %q", f.value))
	default:
		return ui.Expand{Group: number}, nil
	}
}
