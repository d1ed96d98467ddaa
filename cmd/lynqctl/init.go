package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func (a *app) initCommand() *cobra.Command {
	o := engine.DraftOptions{Dir: "forms", Form: "web"}
	cmd := &cobra.Command{
		Use:   "init --source URL|-f HUB",
		Short: "Write a hub and a first form for a table",
		Long: `Look at a table, and write a hub and a form for it to go on from: which column
is the uid, which tells what is active, and a template variable for each of the
others. Columns that look as if they held secrets get none, and are named in a
comment.

Where the table says in words which rows are active, the statement for a view
that has 1 and 0 is printed instead. Where --source names no table, the error
lists them. The password of a database is LYNQCTL_SOURCE_PASSWORD.

With -f the hub is there already, and only the form is written. No file is ever
overwritten.

Exit codes: 0 done; 1 the files could not be written; 2 bad usage or input,
nothing was written; 130 interrupted.`,
		Example: `  # From a file with rows to manifests
  lynqctl init --source csv:tenants.csv -o forms/
  lynqctl render -f forms/

  # From a database
  export LYNQCTL_SOURCE_PASSWORD
  lynqctl init --source 'mysql://reader@db.example/crm?table=tenants'

  # The columns have unusual names
  lynqctl init --source 'sqlite:crm.db?table=firms' --uid code --activate paying`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.draft(cmd.Context(), &o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Source, "source", "", "where the rows are: the URL of a database or file, as render takes it")
	flags.StringArrayVarP(&o.Paths, "filename", "f", nil, "file with the hub, where there is one already (may be repeated, for its Secret)")
	flags.StringVarP(&o.Dir, "output-dir", "o", o.Dir, "write hub.yaml and form.yaml into this folder")
	flags.StringVar(&o.Name, "name", "", "of the hub (default: the table's, or the file's)")
	flags.StringVar(&o.Form, "form-name", o.Form, "of the form")
	flags.StringVar(&o.UID, "uid", "", "column that identifies the rows (default: a key, or one with a usual name)")
	flags.StringVar(&o.Activate, "activate", "", "column that tells which rows are active (default: one with a usual name)")
	flags.StringVarP(&o.Namespace, "namespace", "n", "", "of hub, form and nodes (default: none is written, and each run says where)")
	registerLocalAccess(flags, &o.Access)
	registerTimeout(flags, &o.Timeout)
	return cmd
}

// checkDraft checks the flags.
func checkDraft(o *engine.DraftOptions) error {
	switch {
	case (o.Source == "") == (len(o.Paths) == 0):
		return engine.BadUsage(errors.New("say where the rows are: with --source URL, or with -f and the file of a hub"))
	case len(o.Paths) > 0 && o.Name+o.UID+o.Activate != "":
		return engine.BadUsage(errors.New("--name, --uid and --activate are for a new hub: the one of -f says these itself"))
	case o.Dir == "":
		return engine.BadUsage(errors.New("-o is empty (an unset variable, perhaps)"))
	}
	return errors.Join(checkName("--name", o.Name), checkName("--form-name", cmp.Or(o.Form, "-")), checkName("-n", o.Namespace), checkTimeout(o.Timeout))
}

// checkName checks the name of a hub or form; "" is none.
func checkName(flag, name string) error {
	if name != "" && !lynq.IsDNS1123Label(name) {
		return engine.BadUsage(fmt.Errorf("%s: %q is no valid name (lower case letters, digits and dashes, at most 63)", flag, name))
	}
	return nil
}

// draft is the command: a table is looked at, a hub and a form are written.
func (a *app) draft(ctx context.Context, o *engine.DraftOptions) error {
	if err := checkDraft(o); err != nil {
		return err
	}
	d, err := a.engine("").Draft(ctx, o)
	if err != nil {
		if d != nil {
			_, _ = fmt.Fprint(a.out(), d.View)
		}
		return err
	}
	for _, file := range d.Files {
		if _, err := fmt.Fprintln(a.out(), file); err != nil {
			return engine.Fail(err)
		}
	}
	for _, note := range d.Notes {
		_, _ = fmt.Fprintln(a.noteOut(), note)
	}
	return nil
}
