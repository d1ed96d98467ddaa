package kube

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Access selects the cluster and the user, like kubectl's flags.
type Access struct {
	Kubeconfig string // path; "" means KUBECONFIG, else ~/.kube/config, else the ServiceAccount of the pod
	Context    string // "" means the current one
	// Namespaces are the only namespaces in which the user has permissions. Empty means all.
	Namespaces []string

	overrides clientcmd.ConfigOverrides // from the other flags of Register
	// meant caches the namespace, and copies share it. So a command keeps the same
	// namespace until it ends, even if the kubeconfig changes.
	meant *meantNamespace
}

// meantNamespace is the namespace of a context of a kubeconfig.
type meantNamespace struct {
	mu                  sync.Mutex
	known               bool
	kubeconfig, context string
	name                string
}

// Register registers kubectl's flags for its kubeconfig: --kubeconfig, --context, and those
// that replace parts, such as --as, --token and --request-timeout. It leaves out
// --namespace, because each command gives it a meaning.
func (a *Access) Register(flags *pflag.FlagSet) {
	a.meant = &meantNamespace{}
	flags.StringVar(&a.Kubeconfig, clientcmd.RecommendedConfigPathFlag, "", "path of the kubeconfig (default: KUBECONFIG, else ~/.kube/config)")
	names := clientcmd.RecommendedConfigOverrideFlags("")
	// kubectl has no password flags either.
	names.AuthOverrideFlags.Username, names.AuthOverrideFlags.Password = clientcmd.FlagInfo{}, clientcmd.FlagInfo{}
	names.ContextOverrideFlags.Namespace, names.CurrentContext = clientcmd.FlagInfo{}, clientcmd.FlagInfo{}
	flags.StringVar(&a.Context, clientcmd.FlagContext, "", "kubeconfig context to use")
	clientcmd.BindOverrideFlags(&a.overrides, flags, names)
}

func (a Access) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = a.Kubeconfig
	overrides := a.overrides
	overrides.CurrentContext = a.Context
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &overrides)
}

// Namespace returns the namespace of the kubeconfig's context. If no kubeconfig names a
// cluster, it returns the namespace of this pod, or "" outside of one. It asks no cluster.
func (a Access) Namespace() (string, error) {
	m := a.meant
	if m == nil {
		return a.namespace()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known && m.kubeconfig == a.Kubeconfig && m.context == a.Context {
		return m.name, nil
	}
	name, err := a.namespace()
	m.known, m.kubeconfig, m.context, m.name = err == nil, a.Kubeconfig, a.Context, name
	return name, err
}

// namespace reads the kubeconfig for Namespace.
func (a Access) namespace() (string, error) {
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
		return "", unknownName("context", a.Context, config.Contexts)
	case len(config.Clusters) == 0 && a.overrides.ClusterInfo.Server == "":
		return podNamespace(os.Getenv, os.ReadFile), nil
	}
	return "", nil
}

// unknownName says that a kubeconfig lacks a name.
func unknownName[T any](what, name string, all map[string]T) error {
	return fmt.Errorf("the kubeconfig has no %s %q (available: %s)", what, name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
}

// Client returns a client for the cluster. It sends nothing yet. The client stays with the
// context of its first read, even if another one becomes the current one.
func (a Access) Client(o Options) (*Client, error) {
	if config, err := a.loader().RawConfig(); err == nil && a.Context == "" {
		a.Context = config.CurrentContext
	}
	o.Namespaces = a.Namespaces
	return newClient(o, a.config)
}

// config reads the kubeconfig.
func (a Access) config() (*rest.Config, error) {
	config, err := a.loader().ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, a.unconfigured()
	case err != nil:
		return nil, a.misnamed(fmt.Errorf("read the kubeconfig: %w", err))
	}
	return a.asked(config), nil
}

// unconfigured says that no cluster is configured.
func (a Access) unconfigured() error {
	files := a.loader().ConfigAccess().GetLoadingPrecedence()
	missing := !slices.ContainsFunc(files, func(file string) bool {
		_, err := os.Stat(file)
		return err == nil
	})
	where := strings.Join(files, ", ")
	if missing {
		return fmt.Errorf("no kubeconfig at %s: set one with --kubeconfig or KUBECONFIG", where)
	}
	return fmt.Errorf("no cluster is configured in %s: set another kubeconfig with --kubeconfig or KUBECONFIG", where)
}

// misnamed says which name in a flag the kubeconfig lacks. If none is missing, it returns
// err.
func (a Access) misnamed(err error) error {
	config, readErr := a.loader().RawConfig()
	if readErr != nil {
		return err
	}
	if len(config.Clusters) == 0 && a.overrides.ClusterInfo.Server == "" {
		return a.unconfigured()
	}
	named := a.overrides.Context
	if _, ok := config.AuthInfos[named.AuthInfo]; !ok && named.AuthInfo != "" {
		return unknownName("user", named.AuthInfo, config.AuthInfos)
	}
	if _, ok := config.Clusters[named.Cluster]; !ok && named.Cluster != "" {
		return unknownName("cluster", named.Cluster, config.Clusters)
	}
	if _, ok := config.Contexts[a.Context]; !ok && a.Context != "" {
		return unknownName("context", a.Context, config.Contexts)
	}
	return err
}

// SecretValues reads keys of a core/v1 Secret, all of one version. Its errors contain no value.
func (a Access) SecretValues(ctx context.Context, o Options, namespace, name string, keys ...string) ([]endpoint.Secret, error) {
	client, err := a.Client(o)
	if err != nil {
		return nil, err
	}
	return client.secretValues(ctx, namespace, name, keys)
}

// configure returns the configuration of all connections.
func configure(config *rest.Config, o Options) *rest.Config {
	config = rest.CopyConfig(config)
	config.UserAgent = userAgent
	config.QPS = -1 // the server limits the rate itself
	config.WarningHandlerWithContext = &warnings{tell: o.Warn, secrets: o.Secrets}
	config.NegotiatedSerializer = statusCodecs()
	if o.Transport != nil {
		config.Transport = o.Transport
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return leaves{o.answered(o.Log.transport(next))} })
	return config
}
