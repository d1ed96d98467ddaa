package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/pkg/gitops/hooks"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
)

// tombstoneHookFlags are the flags of render about tombstones in a tree.
type tombstoneHookFlags struct {
	wanted bool
	image  string
	data   bool
}

func (f *tombstoneHookFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.wanted, "tombstone-hooks", false, "write hooks that delete the forms' tombstones after a successful sync (with --target=argo)")
	flags.StringVar(&f.image, "tombstone-hook-image", "", "image with kubectl (with --tombstone-hooks; default: registry.k8s.io/kubectl)")
	flags.BoolVar(&f.data, "include-data", false, "also delete volumes, their claims, Namespaces, and CustomResourceDefinitions (with --tombstone-hooks)")
}

// options checks the flags. It returns nil if the user wants no hooks.
func (f *tombstoneHookFlags) options(cmd *cobra.Command, target policy.Target) (*hooks.Tombstones, error) {
	if !f.wanted {
		for _, name := range []string{"tombstone-hook-image", "include-data"} {
			if cmd.Flags().Changed(name) {
				return nil, fmt.Errorf("--%s goes with --tombstone-hooks", name)
			}
		}
		return nil, nil
	}
	if target != policy.Argo {
		return nil, errors.New("--tombstone-hooks are hooks of Argo CD, which --target=argo is for: others have none that come after a sync (lynqctl apply deletes what tombstones name)")
	}
	image := f.image
	if image == "" {
		image = hooks.KubectlImage(readBuild().Kubernetes)
	}
	if image == "" {
		return nil, errors.New("this build does not know its version of Kubernetes: name an image with --tombstone-hook-image")
	}
	return &hooks.Tombstones{Image: image, Data: f.data}, nil
}
