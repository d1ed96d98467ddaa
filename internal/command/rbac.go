package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/incluster"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/rbac"
)

// rbacFlags are the flags of rbac.
type rbacFlags struct {
	incluster.RightsOptions
	purposes []string
	account  string
	name     string
	output   string
	check    bool
}

func rbacCommand(a *app) *cobra.Command {
	f := rbacFlags{purposes: []string{string(rbac.Apply), string(rbac.Delete), string(rbac.Orphans)}}
	f.Apply.Nothing = "nothing was printed"
	cmd := &cobra.Command{
		Use:   "rbac -f PATH...",
		Short: "Print the RBAC roles that your forms need",
		Long: `Print the minimal Roles and ClusterRoles that lynqctl needs for your forms,
ready for kubectl apply. They grant delete only for kinds that a policy deletes.
They cover one namespace if lynqctl knows it without rows. Comments explain each
rule, and name the permissions that are left out on purpose.

You don't need a cluster, unless your forms use kinds that lynqctl doesn't know
or delete Namespaces.

With --check, rbac prints only the permissions that you lack. With --as, it
checks another user.

Exit codes:
  0    success; with --check, no permission is missing
  1    with --check, a permission is missing
  2    invalid input or usage, an unknown kind, or no answer
  130  interrupted`,
		Example: `  # Print roles for a CI job that runs apply
  lynqctl rbac -f forms/ --for apply --service-account ci/lynqctl |
    kubectl apply -f -

  # Print roles that read only. With these, diff compares without the API server
  lynqctl rbac -f forms/ --for status --name lynqctl-look

  # Check your own permissions
  lynqctl rbac -f forms/ --check

  # Print Roles alone, for people without permissions in the whole cluster
  lynqctl rbac -f forms/ --for apply --namespaces shop`,
		Args: cmdflags.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.rbac(cmd.Context(), &f) },
	}
	flags := cmd.Flags()
	cmdflags.RegisterInputs(flags, &f.Apply.Inputs)
	flags.StringVarP(&f.Apply.Namespace, "namespace", "n", "", "namespace for all nodes (overrides your files)")
	f.Apply.Access.Register(flags)
	flags.StringSliceVar(&f.Namespaces, "namespaces", nil, "print Roles for commands with '--namespaces' and these namespaces, and no ClusterRole")
	cmdflags.RegisterTimeout(flags, &f.Apply.Timeout)
	flags.StringSliceVar(&f.purposes, "for", f.purposes, "commands to grant permissions for: "+joined(rbac.Purposes()))
	flags.StringVar(&f.account, "service-account", "", "bind the roles to this ServiceAccount (NAMESPACE/NAME)")
	flags.StringVar(&f.name, "name", "", "name of the roles and bindings (default: lynqctl-NAMESPACE-NAME of the hub)")
	flags.StringSliceVar(&f.Apply.Tombstones.Paths, "tombstones", nil, "files or directories with the tombstones that you pass to apply")
	flags.BoolVar(&f.Data, "include-data", false, "grant the permissions for 'orphans prune --include-data'")
	flags.BoolVar(&f.Optional, "optional", false, "also grant optional permissions: events, and causes of objects that aren't ready")
	flags.IntVar(&f.Shards, "shards", 0, "also grant permissions for runs of this many shards")
	flags.BoolVar(&f.check, "check", false, "report only the permissions that you lack")
	flags.StringVarP(&f.output, "output", "o", "", "output format: yaml or json; with --check: "+list.FormatUsage)
	return cmd
}

func joined(purposes []rbac.Purpose) string {
	words := make([]string, len(purposes))
	for i, p := range purposes {
		words[i] = string(p)
	}
	return strings.Join(words, ", ")
}

func (a *app) rbac(ctx context.Context, f *rbacFlags) error {
	account, err := f.options()
	if err != nil {
		return err
	}
	rights, hubs, err := incluster.Rights(ctx, a.Engine(""), &f.RightsOptions)
	if err != nil {
		return err
	}
	if f.check {
		return a.checkRights(ctx, f, rights)
	}
	m, err := rbac.NewManifests(*rights, f.For, hubs, f.name, account)
	if err != nil {
		return session.BadUsage(fmt.Errorf("%w (give --name)", err))
	}
	list.Warn(a.NoteOut(), rights.Notes)
	text := m.YAML()
	if f.output == "json" {
		if text, err = m.JSON(); err != nil {
			return session.Fail(err)
		}
	}
	_, err = fmt.Fprint(a.Out(), text)
	return session.Fail(err)
}

// options checks the flags, and returns the account for the roles.
func (f *rbacFlags) options() (account rbac.Account, err error) {
	if f.check {
		if f.output == "" {
			f.output = string(tty.Table)
		}
		err = list.CheckFormat(tty.Format(f.output))
		if err == nil && (f.account != "" || f.name != "") {
			err = errors.New("--check prints no roles: leave out --service-account and --name (--as=system:serviceaccount:NAMESPACE:NAME checks a ServiceAccount)")
		}
		if err != nil {
			return account, session.BadUsage(err)
		}
	} else if f.output != "" {
		if err := cmdflags.OneOf("-o", f.output, "yaml", "json"); err != nil {
			return account, err
		}
	}
	for _, p := range f.purposes {
		if err := cmdflags.OneOf("--for", p, rbac.Purposes()...); err != nil {
			return account, err
		}
	}
	if f.For = rbac.Chosen(f.purposes); len(f.For) == 0 {
		return account, session.BadUsage(errors.New("--for is empty; it takes " + joined(rbac.Purposes())))
	}
	if err := cmdflags.CheckShards(f.Shards); f.Shards != 0 && err != nil {
		return account, err
	}
	if f.name != "" && !naming.IsDNS1123Subdomain(f.name) {
		return account, session.BadUsage(fmt.Errorf("--name: %q is not a valid name (use lowercase letters, digits, '-', and '.')", f.name))
	}
	if account, err = rbac.ParseAccount(f.account); err != nil {
		return account, session.BadUsage(fmt.Errorf("--service-account: %w", err))
	}
	return account, errors.Join(f.checkKeptTo(), cmdflags.CheckTimeout(f.Apply.Timeout))
}

// checkKeptTo checks -n and --namespaces.
func (f *rbacFlags) checkKeptTo() error {
	kept := kube.Access{Namespaces: f.Namespaces}
	err := session.CheckKeptTo(&kept, f.Apply.Namespace)
	f.Namespaces = kept.Namespaces
	return err
}

// checkRights shows which permissions the user lacks.
func (a *app) checkRights(ctx context.Context, f *rbacFlags, rights *rbac.Rights) error {
	lacking, err := incluster.Lacking(ctx, a.Engine(""), &f.RightsOptions, rights.Rules)
	if err != nil {
		return err
	}
	l := ui.RightsList(lacking)
	l.Warnings = rights.Notes
	if err := a.printList(&cmdflags.Print{Output: f.output}, l); err != nil {
		return err
	}
	if slices.ContainsFunc(lacking, func(r rbac.Rule) bool { return !r.Optional }) {
		return &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: "permissions are missing. To print roles, run lynqctl rbac without --check"}
	}
	return nil
}
