package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/pkg/gitops"
)

// tombstoneHookFlags are the flags of render that are about tombstones in a tree.
type tombstoneHookFlags struct {
	wanted bool
	image  string
	data   bool
}

func (f *tombstoneHookFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.wanted, "tombstone-hooks", false, "with --target=argo: write hooks that delete what tombstones of forms name, when a sync went well")
	flags.StringVar(&f.image, "tombstone-hook-image", "", "with --tombstone-hooks: image that has kubectl (default: registry.k8s.io/kubectl, of the Kubernetes version that version prints)")
	flags.BoolVar(&f.data, "include-data", false, "with --tombstone-hooks: also delete volumes and their claims, namespaces and CustomResourceDefinitions")
}

// options are nil where no hooks are wanted.
func (f *tombstoneHookFlags) options(cmd *cobra.Command, target gitops.Target) (*gitops.TombstoneHooks, error) {
	if !f.wanted {
		for _, name := range []string{"tombstone-hook-image", "include-data"} {
			if cmd.Flags().Changed(name) {
				return nil, fmt.Errorf("--%s goes with --tombstone-hooks", name)
			}
		}
		return nil, nil
	}
	if target != gitops.TargetArgo {
		return nil, errors.New("--tombstone-hooks are hooks of Argo CD, which --target=argo is for: others have none that come after a sync (lynqctl apply deletes what tombstones name)")
	}
	image := f.image
	if image == "" {
		image = gitops.KubectlImage(readBuild().Kubernetes)
	}
	if image == "" {
		return nil, errors.New("this build does not know its version of Kubernetes: name an image with --tombstone-hook-image")
	}
	return &gitops.TombstoneHooks{Image: image, Data: f.data}, nil
}
