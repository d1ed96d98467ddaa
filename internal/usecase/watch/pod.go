package watch

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/deploy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// pod is what the options say of the pods, without the inputs.
func (o *ManifestOptions) pod(version string) (*deploy.Options, error) {
	out := &deploy.Options{Image: o.Image, Replicas: o.Replicas, Args: slices.Clone(o.Args)}
	var errs []error
	if o.Deployment != "" {
		namespace, name, found := strings.Cut(o.Deployment, "/")
		if out.Namespace, out.Name = namespace, name; !found || !lynq.IsDNS1123Label(namespace) || !lynq.IsDNS1123Label(name) {
			errs = append(errs, fmt.Errorf("--deployment: %q is not valid; write NAMESPACE/NAME", o.Deployment))
		}
	}
	var err error
	switch {
	case o.Replicas < 1:
		errs = append(errs, errors.New("--replicas must be at least 1"))
	case o.Image == "":
		out.Image, err = deploy.ImageOf(version)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, session.BadUsage(err)
	}
	if o.Listen == "" {
		out.Args = append(out.Args, "--listen="+podAddress)
	}
	if out.Port, err = portOf(cmp.Or(o.Listen, podAddress)); err != nil {
		return nil, session.BadUsage(fmt.Errorf("--listen: %w", err))
	}
	slices.Sort(out.Args)
	return out, nil
}

// podAddress is where a pod serves health and metrics that was told no other address.
const podAddress = ":8080"

// portOf is the port of an address that the kubelet can reach.
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
