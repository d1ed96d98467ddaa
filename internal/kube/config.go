package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Access says which cluster is meant, and who asks, as kubectl's flags do.
type Access struct {
	Kubeconfig string // path; "" is KUBECONFIG, else ~/.kube/config
	Context    string // "" is the current one

	overrides clientcmd.ConfigOverrides // what the other flags of Register say
}

// Register adds kubectl's flags for its kubeconfig: --kubeconfig, --context and
// those that replace parts of them, such as --as, --token and
// --request-timeout. --namespace is none of them: what it means is the
// command's business.
func (a *Access) Register(flags *pflag.FlagSet) {
	flags.StringVar(&a.Kubeconfig, clientcmd.RecommendedConfigPathFlag, "", "path of the kubeconfig (default: KUBECONFIG, else ~/.kube/config)")
	names := clientcmd.RecommendedConfigOverrideFlags("")
	// kubectl has no password flags either.
	names.AuthOverrideFlags.Username, names.AuthOverrideFlags.Password = clientcmd.FlagInfo{}, clientcmd.FlagInfo{}
	names.ContextOverrideFlags.Namespace, names.CurrentContext = clientcmd.FlagInfo{}, clientcmd.FlagInfo{}
	flags.StringVar(&a.Context, clientcmd.FlagContext, "", "context of the kubeconfig")
	clientcmd.BindOverrideFlags(&a.overrides, flags, names)
}

func (a Access) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = a.Kubeconfig
	overrides := a.overrides
	overrides.CurrentContext = a.Context
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &overrides)
}

// Namespace is the namespace of the kubeconfig's context, "" where the context
// names none or there is no kubeconfig. It asks no cluster.
func (a Access) Namespace() (string, error) {
	config, err := a.loader().RawConfig()
	if err != nil {
		return "", fmt.Errorf("read the kubeconfig for a namespace: %w", err)
	}
	name := a.Context
	if name == "" {
		name = config.CurrentContext
	}
	c, ok := config.Contexts[name]
	switch {
	case ok:
		return c.Namespace, nil
	case a.Context != "":
		return "", fmt.Errorf("the kubeconfig has no context %q (there are: %s)", a.Context, strings.Join(slices.Sorted(maps.Keys(config.Contexts)), ", "))
	}
	return "", nil
}

// Client makes a client for the cluster. It sends nothing yet.
func (a Access) Client(o Options) (*Client, error) {
	config, err := a.loader().ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, errors.New("there is no kubeconfig: name one by --kubeconfig or KUBECONFIG")
	case err != nil:
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	return NewClient(config, o)
}

// SecretValue reads one key of a core/v1 Secret. No error holds a value.
func (a Access) SecretValue(ctx context.Context, namespace, name, key string) (lynq.Secret, error) {
	client, err := a.Client(Options{})
	if err != nil {
		return "", err
	}
	return client.secretValue(ctx, namespace, name, key)
}

// configure sets what lynqctl wants of all connections.
func configure(config *rest.Config, o Options) *rest.Config {
	config = rest.CopyConfig(config)
	config.UserAgent = userAgent
	config.QPS = -1 // the server's own fairness governs
	config.WarningHandler = &warnings{tell: o.Warn}
	config.NegotiatedSerializer = statusCodecs()
	return config
}
