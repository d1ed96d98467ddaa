package watchcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/incluster"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/deploy"
	"github.com/lynqctl/lynqctl/pkg/rbac"
)

// ManifestOptions say how a watch runs in the cluster.
type ManifestOptions struct {
	Apply applycmd.Options
	// Deployment is its NAMESPACE/NAME, "" to derive it from the hubs.
	Deployment string
	Image      string // "" means the image of this release
	Replicas   int
	// Listen is the address for health and metrics, "" for the default.
	Listen string
	// Args are further arguments of watch.
	Args []string
}

// Manifests returns the manifests that run a watch of these inputs in the cluster. It asks
// the cluster only for kinds that the inputs leave open.
func Manifests(ctx context.Context, e *session.Engine, o *ManifestOptions) (string, error) {
	if o.Replicas < 1 {
		return "", session.BadUsage(errors.New("--replicas must be at least 1"))
	}
	port, err := portOf(cmp.Or(o.Listen, podAddress))
	if err != nil {
		return "", session.BadUsage(fmt.Errorf("--listen: %w", err))
	}
	args := slices.Clone(o.Args)
	if o.Listen == "" {
		args = append(args, "--listen="+podAddress)
	}
	in := &incluster.Options{Apply: o.Apply, Kind: deploy.Deployment, Place: o.Deployment, Image: o.Image, Args: args, For: rbac.Watch}
	return incluster.Manifests(ctx, e, in, func(out *deploy.Options) (string, error) {
		return (&deploy.Watch{Options: *out, Replicas: o.Replicas, Port: port}).Manifests()
	})
}
