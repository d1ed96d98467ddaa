package incluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/deploy"
	"github.com/lynqctl/lynqctl/pkg/rbac"
)

// WatchOptions say how a watch runs in the cluster.
type WatchOptions struct {
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

// Watch returns the manifests that run a watch of these inputs in the cluster. It asks
// the cluster only for kinds that the inputs leave open.
func Watch(ctx context.Context, e *session.Engine, o *WatchOptions) (string, error) {
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
	in := &options{Apply: o.Apply, Kind: deploy.Deployment, Place: o.Deployment, Image: o.Image, Args: args, For: rbac.Watch}
	return manifests(ctx, e, in, func(out *deploy.Options) (string, error) {
		return (&deploy.Watch{Options: *out, Replicas: o.Replicas, Port: port}).Manifests()
	})
}

// podAddress is the default address for health and metrics in a pod.
const podAddress = ":8080"

// portOf returns the port of an address. It returns an error if the kubelet can't reach the
// address.
func portOf(address string) (int, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0, fmt.Errorf("%q is no address: write :PORT", address)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return 0, fmt.Errorf("%q can't be reached from outside of the pod, and so its probes would fail: write :%s", address, port)
	}
	number, err := strconv.Atoi(port)
	if err != nil || number < 1 || number > 65535 {
		return 0, fmt.Errorf("%q has no port that probes could ask: write :8080", address)
	}
	return number, nil
}
