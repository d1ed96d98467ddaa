package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/rbac"
)

// rbacFlags are the flags of rbac.
type rbacFlags struct {
	engine.RightsOptions
	purposes []string
	account  string
	name     string
	output   string
	check    bool
}

func (a *app) rbacCommand() *cobra.Command {
	f := rbacFlags{purposes: []string{string(rbac.Apply), string(rbac.Delete), string(rbac.Orphans)}}
	f.Nothing = "nothing was printed"
	cmd := &cobra.Command{
		Use:   "rbac -f PATH...",
		Short: "Print the rights that commands need for these forms",
		Long: `Print the least Roles and ClusterRoles under which commands work for these
inputs, as kubectl apply takes them: verbs for each kind, delete only where a
policy deletes, in a namespace where that is known without rows. Comments say
what each rule is for, and which rights are missing on purpose.

No cluster is needed, but for kinds that neither Kubernetes nor a
CustomResourceDefinition in the inputs has, and where forms delete Namespaces:
all that may be in one counts then.

With --check nothing is printed but what the user of the kubeconfig lacks; --as
checks another one.

Exit codes: 0 done; with --check: nothing lacks; 1 something lacks; 2 bad input
or usage, a kind that is not known, or no answer; 130 interrupted.`,
		Example: `  # Who runs apply in CI
  lynqctl rbac -f forms/ --for apply --service-account ci/lynqctl |
    kubectl apply -f -

  # Who only looks
  lynqctl rbac -f forms/ --for status,diff --name lynqctl-look

  # May I?
  lynqctl rbac -f forms/ --check`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.rbac(cmd.Context(), &f) },
	}
	flags := cmd.Flags()
	registerInputs(flags, &f.InputOptions)
	flags.StringVarP(&f.Namespace, "namespace", "n", "", "namespace of the nodes, whatever the inputs say")
	f.Access.Register(flags)
	registerTimeout(flags, &f.Timeout)
	flags.StringSliceVar(&f.purposes, "for", f.purposes, "what the rights are for: "+joined(rbac.Purposes()))
	flags.StringVar(&f.account, "service-account", "", "bind the roles to this ServiceAccount, as NAMESPACE/NAME")
	flags.StringVar(&f.name, "name", "", "name of all roles and bindings (default: lynqctl-NAMESPACE-NAME of the hub)")
	flags.StringSliceVar(&f.Tombstones.Paths, "tombstones", nil, "files or directories of tombstones that apply is given")
	flags.BoolVar(&f.Data, "include-data", false, "orphans prune --include-data is to work, too")
	flags.BoolVar(&f.Optional, "optional", false, "also rules that the commands can do without: Kubernetes events, and why objects do not get ready")
	flags.BoolVar(&f.check, "check", false, "say which of the rights you lack")
	flags.StringVarP(&f.output, "output", "o", "", "yaml or json; with --check: "+ui.FormatUsage)
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
	rights, hubs, err := a.engine("").Rights(ctx, &f.RightsOptions)
	if err != nil {
		return err
	}
	if f.check {
		return a.checkRights(ctx, f, rights)
	}
	m, err := rbac.NewManifests(*rights, f.For, hubs, f.name, account)
	if err != nil {
		return engine.BadUsage(fmt.Errorf("%w (give --name)", err))
	}
	ui.Warn(a.noteOut(), rights.Notes)
	text := m.YAML()
	if f.output == "json" {
		if text, err = m.JSON(); err != nil {
			return engine.Fail(err)
		}
	}
	_, err = fmt.Fprint(a.out(), text)
	return engine.Fail(err)
}

// options checks the flags.
func (f *rbacFlags) options() (account rbac.Account, err error) {
	if f.check {
		if f.output == "" {
			f.output = string(ui.Table)
		}
		err = ui.CheckFormat(ui.Format(f.output))
		if err == nil && (f.account != "" || f.name != "") {
			err = errors.New("--check prints no roles: leave out --service-account and --name (--as=system:serviceaccount:NAMESPACE:NAME checks a ServiceAccount)")
		}
		if err != nil {
			return account, engine.BadUsage(err)
		}
	} else if f.output != "" {
		if err := oneOf("-o", f.output, "yaml", "json"); err != nil {
			return account, err
		}
	}
	for _, p := range f.purposes {
		if err := oneOf("--for", p, rbac.Purposes()...); err != nil {
			return account, err
		}
	}
	if f.For = rbac.Chosen(f.purposes); len(f.For) == 0 {
		return account, engine.BadUsage(errors.New("--for is empty; it takes " + joined(rbac.Purposes())))
	}
	if f.name != "" && !lynq.IsDNS1123Subdomain(f.name) {
		return account, engine.BadUsage(fmt.Errorf("--name: %q is no name (lower case letters, digits, dashes and dots)", f.name))
	}
	if account, err = rbac.ParseAccount(f.account); err != nil {
		return account, engine.BadUsage(fmt.Errorf("--service-account: %w", err))
	}
	return account, errors.Join(engine.CheckNamespace(f.Namespace), checkTimeout(f.Timeout))
}

// checkRights tells which rights the user lacks.
func (a *app) checkRights(ctx context.Context, f *rbacFlags, rights *rbac.Rights) error {
	lacking, err := a.engine("").Lacking(ctx, &f.RightsOptions, rights.Rules)
	if err != nil {
		return err
	}
	l := ui.RightsList(lacking)
	l.Warnings = rights.Notes
	p := printFlags{output: f.output}
	if err := p.printList(a, l); err != nil {
		return err
	}
	if slices.ContainsFunc(lacking, func(r rbac.Rule) bool { return !r.Optional }) {
		return &engine.Error{Outcome: engine.Failed, Err: engine.ErrReported, Summary: "rights are missing: lynqctl rbac without --check prints roles that give them"}
	}
	return nil
}
