package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/initcmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

func initCommand(a *app) *cobra.Command {
	o := initcmd.Options{Dir: "forms", Form: "web"}
	cmd := &cobra.Command{
		Use:        "init --source URL|-f HUB|--from chart|helm|KIND/NAME [ARG...]",
		SuggestFor: []string{"new", "scaffold"},
		Short:      "Generate a hub and a starter form from a table",
		Long: `Inspect a table, and write a hub and a starter form for you to edit. init picks
the column that identifies a row, the column that shows whether it is active,
and one with a time from which it no longer is, such as deleted_at. If no name
shows active rows, every row is active. Every other column becomes a template
variable. init skips columns that look like secrets, and lists them in a
comment.

If a column shows active rows in words, such as 'trial', init names the words
that you must sort. Set LYNQCTL_SOURCE_PASSWORD to the password of the database,
or to the bearer token of the API.

With -f, init reads an existing hub and writes only the form. It never
overwrites a file.

With --from, the form makes what exists already, so that apply adopts it.
'--from chart DIR' takes a chart in the output directory. '--from helm RELEASE'
takes Helm releases of one chart, with their values. '--from KIND/NAME' takes
objects of the cluster, without the values of Secrets. Without --source, the hub
then reads a new file of rows.

Exit codes:
  0    success
  1    the files couldn't be written
  2    invalid input or usage; nothing was written
  130  interrupted`,
		Example: `  # Turn a CSV file into manifests
  lynqctl init --source csv:tenants.csv -o forms/
  lynqctl render -f forms/

  # Read the rows from a database
  export LYNQCTL_SOURCE_PASSWORD
  lynqctl init --source 'mysql://reader@db.example/crm?table=tenants'

  # Name the columns yourself
  lynqctl init --source 'sqlite:crm.db?table=firms' --uid code --activate paying

  # Take over a Helm release
  lynqctl init --from helm acme -n shop

  # Make a form of objects in the cluster
  lynqctl init --from Deployment/acme-web Service/acme-web -n shop`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.From == "" {
				return cmdflags.NoArgs(cmd, args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			return a.draft(cmd.Context(), &o)
		},
	}
	registerInit(cmd.Flags(), &o)
	return cmd
}

func registerInit(flags *pflag.FlagSet, o *initcmd.Options) {
	flags.StringVar(&o.Source, "source", "", "URL of the database, API or file with the rows")
	flags.StringArrayVarP(&o.Paths, "filename", "f", nil, "file with an existing hub; repeatable, for the hub's Secret")
	flags.StringVarP(&o.Dir, "output-dir", "o", o.Dir, "write hub.yaml and form.yaml to this directory")
	flags.StringVar(&o.From, "from", "", "make the form of this: chart, helm, or KIND/NAME of an object")
	flags.StringVar(&o.Chart, "chart", "", "chart of the release, in the output directory (default: the one that Helm keeps)")
	flags.StringVar(&o.Tenant, "tenant", "", "name with which names of objects begin (default: what they share)")
	flags.StringVar(&o.Name, "name", "", "name of the hub (default: from the table or file)")
	flags.StringVar(&o.Form, "form-name", o.Form, "name of the form")
	flags.StringVar(&o.UID, "uid", "", "column that identifies a row (default: a key, or a usual name)")
	flags.StringVar(&o.Activate, "activate", "", "column that shows whether a row is active, or none if every row is (default: a usual name)")
	flags.StringVarP(&o.Namespace, "namespace", "n", "", "namespace of hub, form, and nodes (default: set by each run)")
	o.Access.Register(flags)
	cmdflags.RegisterTimeout(flags, &o.Timeout)
}

// checkDraft checks the flags.
func checkDraft(o *initcmd.Options) error {
	if err := checkFrom(o); err != nil {
		return session.BadUsage(err)
	}
	switch {
	case o.From != "" && (o.Source == "" || len(o.Paths) == 0):
	case (o.Source == "") == (len(o.Paths) == 0):
		return session.BadUsage(errors.New("say where the rows are: with --source URL, or with -f and the file of a hub"))
	case len(o.Paths) > 0 && o.Name+o.UID+o.Activate != "":
		return session.BadUsage(errors.New("--name, --uid and --activate are for a new hub: the one of -f says these itself"))
	case o.Dir == "":
		return session.BadUsage(errors.New("-o is empty (an unset variable, perhaps)"))
	}
	return errors.Join(checkName("--name", o.Name), checkName("--form-name", cmp.Or(o.Form, "-")), checkName("-n", o.Namespace), cmdflags.CheckTimeout(o.Timeout))
}

// checkFrom checks --from and the flags that need it.
func checkFrom(o *initcmd.Options) error {
	switch {
	case o.From != initcmd.FromHelm && o.Chart != "":
		return errors.New("--chart is for --from helm")
	case (o.From == "" || o.From == initcmd.FromHelm || o.From == initcmd.FromChart) && o.Tenant != "":
		return errors.New("--tenant is for --from KIND/NAME")
	case o.From == initcmd.FromChart && len(o.Args) != 1:
		return errors.New("--from chart needs the directory of one chart: --from chart forms/app")
	case o.From == initcmd.FromHelm && len(o.Args) == 0:
		return errors.New("--from helm needs the name of a release (helm list shows them)")
	case o.From != "" && o.From != initcmd.FromChart && o.From != initcmd.FromHelm && !strings.Contains(o.From, "/"):
		return fmt.Errorf("--from takes chart, helm or KIND/NAME, and not %q", o.From)
	case o.From != "" && o.Source == "" && o.UID+o.Activate != "":
		return errors.New("--uid and --activate are columns of a table, so they need --source")
	}
	for i, name := range o.Args {
		switch {
		case o.From == initcmd.FromHelm && !naming.IsDNS1123Subdomain(name):
			return fmt.Errorf("--from helm: %q isn't a valid name of a release", name)
		case slices.Contains(o.Args[:i], name):
			return fmt.Errorf("%s appears twice", name)
		}
	}
	return nil
}

// checkName checks the name of a hub or form. It accepts "".
func checkName(flag, name string) error {
	if name != "" && !naming.IsDNS1123Label(name) {
		return session.BadUsage(fmt.Errorf("%s: %q is not a valid name (use at most 63 lowercase letters, digits, and '-')", flag, name))
	}
	return nil
}

// draft runs the command: it reads a table, and writes a hub and a form.
func (a *app) draft(ctx context.Context, o *initcmd.Options) error {
	if err := checkDraft(o); err != nil {
		return err
	}
	d, err := initcmd.Run(ctx, a.Engine(""), o)
	if err != nil {
		return err
	}
	for _, file := range d.Files {
		if _, err := fmt.Fprintln(a.Out(), file); err != nil {
			return session.Fail(err)
		}
	}
	for _, note := range d.Notes {
		_, _ = fmt.Fprintln(a.NoteOut(), note)
	}
	return nil
}
