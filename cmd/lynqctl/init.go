package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/draft"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// initFlags are the flags of init.
type initFlags struct {
	clusterFlags
	deadlineFlag
	source   string
	hubPaths []string
	dir      string
	name     string
	form     string
	choice   draft.Choice
}

func (a *app) initCommand() *cobra.Command {
	f := initFlags{dir: "forms", form: "web"}
	cmd := &cobra.Command{
		Use:   "init --source URL|-f HUB",
		Short: "Write a hub and a first form for a table",
		Long: `Look at a table, and write a hub and a form for it to go on from: which column
is the uid, which tells what is active, and a template variable for each of the
others. Columns that look as if they held secrets get none, and are named in a
comment.

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
		RunE: func(cmd *cobra.Command, _ []string) error { return a.draft(cmd.Context(), &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.source, "source", "", "where the rows are: the URL of a database or file, as render takes it")
	flags.StringArrayVarP(&f.hubPaths, "filename", "f", nil, "file with the hub, where there is one already (may be repeated, for its Secret)")
	flags.StringVarP(&f.dir, "output-dir", "o", f.dir, "write hub.yaml and form.yaml into this folder")
	flags.StringVar(&f.name, "name", "", "of the hub (default: the table's, or the file's)")
	flags.StringVar(&f.form, "form-name", f.form, "of the form")
	flags.StringVar(&f.choice.UID, "uid", "", "column that identifies the rows (default: a key, or one with a usual name)")
	flags.StringVar(&f.choice.Activate, "activate", "", "column that tells which rows are active (default: one with a usual name)")
	f.register(cmd)
	flags.Lookup("namespace").Usage = "namespace of the Secret with the password, where the hub has none"
	f.registerDeadline(cmd)
	return cmd
}

func (f *initFlags) check() error {
	switch {
	case (f.source == "") == (len(f.hubPaths) == 0):
		return badUsage(errors.New("say where the rows are: with --source URL, or with -f and the file of a hub"))
	case len(f.hubPaths) > 0 && f.name+f.choice.UID+f.choice.Activate != "":
		return badUsage(errors.New("--name, --uid and --activate are for a new hub: the one of -f says these itself"))
	case f.dir == "":
		return badUsage(errors.New("-o is empty (an unset variable, perhaps)"))
	}
	return errors.Join(checkName("--name", f.name), checkName("--form-name", cmp.Or(f.form, "-")), f.checkDeadline())
}

// checkName checks the name of a hub or form; "" is none.
func checkName(flag, name string) error {
	if name != "" && !lynq.IsDNS1123Label(name) {
		return badUsage(fmt.Errorf("%s: %q is no valid name (lower case letters, digits and dashes, at most 63)", flag, name))
	}
	return nil
}

// draft is the command: a table is looked at, a hub and a form are written.
func (a *app) draft(ctx context.Context, f *initFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	ctx, cancel := f.deadline(ctx)
	defer cancel()
	origin, err := f.origin(ctx, a)
	if err != nil {
		return err
	}
	table, err := lookAt(ctx, origin.connection, a.stdin)
	if err != nil {
		return &exitError{code: exitBadInput, err: err, summary: "nothing was written"}
	}
	d, err := draft.Decide(*table, origin.choice)
	if err != nil {
		return &exitError{code: exitBadInput, err: fmt.Errorf("%s: %w", origin.place, err), summary: "nothing was written"}
	}
	files, err := f.files(origin, d)
	if err != nil {
		return err
	}
	if err := writeNew(f.dir, files); err != nil {
		return err
	}
	return a.tellDraft(f, origin, d, files)
}

// tellDraft says what was written, and what was left out.
func (a *app) tellDraft(f *initFlags, o *origin, d *draft.Draft, files []newFile) error {
	for _, file := range files {
		if _, err := fmt.Fprintln(a.stdout, file.path); err != nil {
			return failed(err)
		}
	}
	tell := func(format string, args ...any) { _, _ = fmt.Fprintf(a.stderr, format+"\n", args...) }
	tell("hub %s: column %q is the uid, %q tells which rows are active; %s more", o.hub, d.UID, d.Activate, count(len(d.Mappings), "column"))
	if len(d.Secrets) > 0 {
		tell("left out, for they look like secrets: %s", strings.Join(d.Secrets, ", "))
	}
	if len(d.Bytes) > 0 {
		tell("left out, for they hold bytes: %s", strings.Join(d.Bytes, ", "))
	}
	inputs := "-f " + f.dir
	for _, p := range f.hubPaths {
		inputs = "-f " + p + " " + inputs
	}
	tell("next: lynqctl render %s", inputs)
	return nil
}
