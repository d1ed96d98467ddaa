package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// watchManifestFlags are the flags of watch that are about running it in the cluster.
type watchManifestFlags struct {
	wanted     bool
	image      string
	replicas   int
	deployment string
}

func defaultWatchManifestFlags() watchManifestFlags { return watchManifestFlags{replicas: 1} }

func (f *watchManifestFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.wanted, "print-manifests", false, "print what runs this watch in the cluster, with its other flags, and do nothing else: Deployment, ServiceAccount, the roles of rbac --for watch, and the inputs as a ConfigMap")
	flags.StringVar(&f.image, "image", "", "with --print-manifests: image (default: that of this release)")
	flags.IntVar(&f.replicas, "replicas", f.replicas, "with --print-manifests: how many pods, of which one works and the others stand by")
	flags.StringVar(&f.deployment, "deployment", "", "with --print-manifests: NAMESPACE/NAME of the Deployment (default: the hubs' namespace, and lynqctl-HUB)")
}

// manifestsOnly are the flags that mean nothing without --print-manifests.
func (f *watchManifestFlags) manifestsOnly() []string {
	return []string{"image", "replicas", "deployment"}
}

// check refuses flags that mean nothing.
func (f *watchManifestFlags) check(flags *pflag.FlagSet) error {
	for _, name := range f.manifestsOnly() {
		if flags.Changed(name) && !f.wanted {
			return engine.BadUsage(fmt.Errorf("--%s goes with --print-manifests", name))
		}
	}
	return nil
}

// printManifests prints the manifests of a watch with these flags and options.
func (a *app) printManifests(ctx context.Context, flags *pflag.FlagSet, f *watchManifestFlags, o *engine.ApplyOptions) error {
	m := &engine.ManifestOptions{ApplyOptions: *o, Replicas: f.replicas, Image: f.image}
	m.Nothing = "nothing was printed"
	if err := errors.Join(f.placed(m), f.pictured(m)); err != nil {
		return engine.BadUsage(err)
	}
	m.Args = podArgs(flags, f)
	address := defaultPodAddress
	if flags.Changed("listen") {
		address = flags.Lookup("listen").Value.String()
	} else {
		m.Args = append(m.Args, "--listen="+address)
	}
	if !flags.Changed("log-format") {
		m.Args = append(m.Args, "--log-format=json")
	}
	slices.Sort(m.Args)
	var err error
	if m.Port, err = podPort(address); err != nil {
		return engine.BadUsage(fmt.Errorf("--listen: %w", err))
	}
	text, err := a.engine("").WatchManifests(ctx, m)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.out(), text)
	return engine.Fail(err)
}

// placed says where the Deployment is.
func (f *watchManifestFlags) placed(m *engine.ManifestOptions) error {
	if f.deployment == "" {
		return nil
	}
	namespace, name, found := strings.Cut(f.deployment, "/")
	if !found || !lynq.IsDNS1123Label(namespace) || !lynq.IsDNS1123Label(name) {
		return fmt.Errorf("--deployment: %q is none; write NAMESPACE/NAME", f.deployment)
	}
	m.Place, m.Name = namespace, name
	return nil
}

// releaseImage is where releases are.
const releaseImage = "ghcr.io/lynqctl/lynqctl"

// pictured says which image runs: the release's own, since another one may have other
// flags and need other rights.
func (f *watchManifestFlags) pictured(m *engine.ManifestOptions) error {
	if f.replicas < 1 {
		return errors.New("--replicas must be at least 1")
	}
	if f.image != "" {
		return nil
	}
	version := buildVersion()
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+(-[a-z]+(\.\d+)*)?$`).MatchString(version) {
		return fmt.Errorf("this lynqctl (%s) is no release, of which there were an image: name one with --image", version)
	}
	m.Image = releaseImage + ":" + strings.TrimPrefix(version, "v")
	return nil
}

// defaultPodAddress is where a pod serves health and metrics.
const defaultPodAddress = ":8080"

// podPort is the port of an address that the kubelet can reach.
func podPort(address string) (int, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0, fmt.Errorf("%q is no address: write :PORT", address)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return 0, fmt.Errorf("%q cannot be reached from outside of the pod, and so its probes would fail: write :%s", address, port)
	}
	number, err := strconv.Atoi(port)
	if err != nil || number < 1 || number > 65535 {
		return 0, fmt.Errorf("%q has no port that probes could ask: write :8080", address)
	}
	return number, nil
}

// podArgs are the flags that were given, as a pod is to have them: without those that are
// about this machine, such as files and the kubeconfig.
func podArgs(flags *pflag.FlagSet, f *watchManifestFlags) []string {
	here := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(kube.Access).Register(here)
	left := append([]string{"print-manifests", "filename", "recursive", "tombstones", "color", "quiet"}, f.manifestsOnly()...)
	var args []string
	flags.Visit(func(flag *pflag.Flag) {
		if here.Lookup(flag.Name) == nil && !slices.Contains(left, flag.Name) {
			args = append(args, podArg(flag)...)
		}
	})
	return args
}

// podArg is a flag as it is given, once for each of its values.
func podArg(flag *pflag.Flag) []string {
	values := []string{flag.Value.String()}
	if several, ok := flag.Value.(pflag.SliceValue); ok {
		values = several.GetSlice()
	}
	args := make([]string, len(values))
	for i, value := range values {
		if flag.Value.Type() == "stringSlice" {
			value = asList(value)
		}
		args[i] = "--" + flag.Name + "=" + value
	}
	return args
}

// asList is a value as one that is split at commas has it.
func asList(value string) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{value}) // a buffer takes all
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
