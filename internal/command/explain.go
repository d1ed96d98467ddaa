package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/explain"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

func explainCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "explain TYPE[.FIELD...]",
		Short: "Describe a field of hubs and forms",
		Long: `Describe a field of hubs and forms, and the fields below it. The text is that of
the JSON schemas, which editors use.

Exit codes:
  0    success
  2    no such field`,
		Example: `  lynqctl explain form.spec.rollout
  lynqctl explain hub.spec.source`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("explain takes one field, such as form.spec.rollout")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			what, path, _ := strings.Cut(args[0], ".")
			f, err := explain.Find(strings.TrimSuffix(cmdflags.TypeOf(what)+"."+path, "."))
			if err != nil {
				return session.BadUsage(err)
			}
			_, err = fmt.Fprint(a.Out(), explained(f))
			return session.Fail(err)
		},
	}
}

// explained returns a field as text.
func explained(f *explain.Field) string {
	var b strings.Builder
	b.WriteString(fieldLine(f) + "\n")
	if f.Description != "" {
		b.WriteString("  " + f.Description + "\n")
	}
	if len(f.Fields) > 0 {
		b.WriteString("\nFields:\n")
	}
	for i := range f.Fields {
		below := &f.Fields[i]
		b.WriteString("  " + fieldLine(below) + "\n")
		if below.Description != "" {
			b.WriteString("    " + below.Description + "\n")
		}
	}
	return b.String()
}

// fieldLine returns a field with its type, its default and its words.
func fieldLine(f *explain.Field) string {
	line := f.Name + "  <" + f.Type + ">"
	if f.Required {
		line += "  required"
	}
	if f.Default != "" {
		line += "  default " + f.Default
	}
	if len(f.Values) > 0 {
		line += "  one of " + strings.Join(f.Values, ", ")
	}
	return line
}
