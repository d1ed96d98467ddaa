package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/engine"
)

// removalFlags are the flags of the commands that let nodes go.
type removalFlags struct {
	engine.RemoveOptions
	run       runFlags
	namespace string
	hub       string
}

func (f *removalFlags) register(flags *pflag.FlagSet) {
	flags.StringVarP(&f.namespace, "namespace", "n", "", "")
	f.Access.Register(flags)
	registerTimeout(flags, &f.Timeout)
	f.run.registerRun(flags)
	flags.BoolVarP(&f.Yes, "yes", "y", false, "do not ask")
}

func (f *removalFlags) check() error {
	if err := checkNamespace(f.namespace); err != nil {
		return err
	}
	err := errors.Join(f.run.checkRun(), checkTimeout(f.Timeout))
	f.RunOptions = f.run.RunOptions
	return err
}

func (a *app) deleteCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "delete node|form|hub NAME",
		Short: "Delete nodes, under the deletion policies that were recorded",
		Long: `Delete nodes: one, all of a form, or all of a hub with the hub record.

What was recorded decides, not what forms say now: objects with deletionPolicy
Delete are deleted, each when all that depended on it are gone; objects with
Retain stay, marked as orphans, which lynqctl orphans lists. The inventory of
a node is deleted last. What has another owner by now is released.

The rows are not asked: a node whose row is active comes back with the next
apply.`,
	},
		a.deleteOne("node", "Delete one node", `  # Look first: what would go, and what would stay
  lynqctl delete node acme-web -n shop --dry-run=client

  # One tenant goes; its volumes stay if their policy says Retain
  lynqctl delete node acme-web -n shop`),
		a.deleteOne("form", "Delete all nodes of a form", `  # In a CI job, after the form has left the repository
  lynqctl delete form web --hub crm --yes`),
		a.deleteOne("hub", "Delete all nodes of a hub, and the hub record", `  # All tenants go, and every object stays, marked as an orphan
  lynqctl delete hub crm -n shop --cascade=orphan`),
	)
}

// deletion tells what a deletion is, for --help.
const deletion = `.

The deletion policies that were recorded decide: objects with Delete go, those
with Retain stay as orphans. On a terminal, the plan is shown and you
are asked to confirm it; elsewhere --yes is required.

Exit codes: 0 done; 1 something failed, the rest was done; 2 bad usage, or no
such name, nothing was touched; 3 not confirmed, or refused by a guard, nothing
was touched; 130 interrupted, and the inventories are correct.`

// deleteOne is one of delete's commands.
func (a *app) deleteOne(what, short, example string) *cobra.Command {
	f, cascade := removalFlags{run: defaultRunFlags()}, "background"
	cmd := &cobra.Command{
		Use:     what + " NAME",
		Short:   short,
		Long:    short + deletion,
		Example: example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("delete %s takes the name of one %s, got %d (lynqctl status -A has the names)", what, what, len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.delete(cmd.Context(), &f, what, args[0], cascade)
		},
	}
	flags := cmd.Flags()
	f.register(flags)
	flags.Lookup("namespace").Usage = map[string]string{
		"node": "namespace of the node", "form": "namespace of the form's hub", "hub": "namespace of the hub",
	}[what]
	flags.StringVar(&cascade, "cascade", cascade, "background (leave to the garbage collector what it deletes just so), foreground (wait for everything, also for what belongs to the objects), or orphan (delete no object)")
	if what == "form" {
		flags.StringVar(&f.hub, "hub", "", "hub of the form, as NAME or NAMESPACE/NAME, where several have one of that name")
	}
	return cmd
}

// delete is the command.
func (a *app) delete(ctx context.Context, f *removalFlags, what, name, cascade string) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := oneOf("--cascade", cascade, "background", "foreground", "orphan"); err != nil {
		return err
	}
	name, err := f.named(what, name)
	if err != nil {
		return err
	}
	namespace := f.namespace
	if what != "form" { // a form's nodes may be anywhere
		if namespace, err = namespaceMeant(&f.Access, f.namespace, false); err != nil {
			return err
		}
	}
	return a.engine(f.run.output).Delete(ctx, &engine.DeleteOptions{
		RemoveOptions: f.RemoveOptions, What: what, Name: name, Namespace: namespace, Hub: f.hub, Cascade: plan.Cascade(cascade),
	})
}

// named is the name of what goes. That of a hub may say its namespace, as -n does.
func (f *removalFlags) named(what, name string) (string, error) {
	if strings.Count(name, "/") > 1 || what == "node" && strings.Contains(name, "/") {
		return "", engine.BadUsage(fmt.Errorf("%q is no name of a %s (a hub or form is NAME or NAMESPACE/NAME, a node NODE with -n NAMESPACE)", name, what))
	}
	namespace, hub, said := strings.Cut(name, "/")
	if what != "hub" || !said {
		return name, nil
	}
	if f.namespace != "" && f.namespace != namespace {
		return "", engine.BadUsage(fmt.Errorf("hub %s is not in the namespace that -n says, %s", name, f.namespace))
	}
	f.namespace = namespace
	return hub, checkNamespace(namespace)
}
