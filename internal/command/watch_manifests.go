package command

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/incluster"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

// manifestFlags are the flags of watch about running it in the cluster.
type manifestFlags struct {
	wanted     bool
	image      string
	replicas   int
	deployment string
}

func defaultManifestFlags() manifestFlags { return manifestFlags{replicas: 1} }

func (f *manifestFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.wanted, "print-manifests", false, "print the manifests that run this watch in a cluster, and exit")
	flags.StringVar(&f.image, "image", "", "container image (with --print-manifests; default: this release)")
	flags.IntVar(&f.replicas, "replicas", f.replicas, "number of pods (with --print-manifests); one is active")
	flags.StringVar(&f.deployment, "deployment", "", "NAMESPACE/NAME of the Deployment (with --print-manifests; default: the hubs' namespace, and lynqctl-HUB)")
}

// manifestsOnly returns the flags that need --print-manifests.
func (f *manifestFlags) manifestsOnly() []string {
	return []string{"image", "replicas", "deployment"}
}

// check refuses flags without --print-manifests that need it.
func (f *manifestFlags) check(flags *pflag.FlagSet) error {
	for _, name := range f.manifestsOnly() {
		if flags.Changed(name) && !f.wanted {
			return session.BadUsage(fmt.Errorf("--%s goes with --print-manifests", name))
		}
	}
	return nil
}

// printManifests prints the manifests of a watch with these flags and options.
func printManifests(ctx context.Context, a *app, flags *pflag.FlagSet, f *manifestFlags, o *applycmd.Options) error {
	m := &incluster.WatchOptions{Apply: *o, Deployment: f.deployment, Image: f.image, Replicas: f.replicas, Args: cmdflags.PodArgs(flags, append([]string{"print-manifests"}, f.manifestsOnly()...))}
	m.Apply.Nothing = "nothing was printed"
	if flags.Changed("listen") {
		m.Listen = flags.Lookup("listen").Value.String()
	}
	if !flags.Changed("log-format") {
		m.Args = append(m.Args, "--log-format=json")
	}
	text, err := incluster.Watch(ctx, a.Engine(""), m)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.Out(), text)
	return session.Fail(err)
}
