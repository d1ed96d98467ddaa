package load

import (
	"context"
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/internal/bounded"
	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Passwords finds the passwords of hubs' connections, in the order of contract
// section 1.
type Passwords struct {
	Getenv  func(string) string
	Secrets []*form.Secret
	// Cluster reads a key of a Secret that is not in the inputs.
	Cluster func(ctx context.Context, namespace, name, key string) (lynq.Secret, error)
}

// of finds the password of a hub. A hub without a namespace has its Secret where
// its nodes are.
func (p Passwords) of(ctx context.Context, hub HubPrograms) (lynq.Secret, error) {
	h := hub.Hub
	if s := p.Getenv(lynq.PasswordVariable); s != "" {
		return lynq.Secret(s), nil
	}
	from := h.Password
	switch {
	case from.Env != "":
		s := p.Getenv(from.Env)
		if s == "" {
			return "", fmt.Errorf("%s: hub %q: the environment variable %s, which passwordFrom names, is not set", from.Pos, h.Name, from.Env)
		}
		return lynq.Secret(s), nil
	case from.File != "":
		const most = 64 << 10
		b, err := bounded.ReadFile(from.File, most)
		if err != nil {
			return "", fmt.Errorf("%s: hub %q: read the password: %w", from.Pos, h.Name, err)
		}
		return lynq.Secret(strings.TrimRight(string(b), "\r\n")), nil
	case from.SecretName != "":
		namespace, err := SecretNamespace(hub)
		if err != nil {
			return "", err
		}
		return p.secret(ctx, h, namespace)
	}
	return "", nil
}

// SecretsOf reads Secrets of the cluster that is meant.
func SecretsOf(e *session.Engine, access *kube.Access) func(ctx context.Context, namespace, name, key string) (lynq.Secret, error) {
	return func(ctx context.Context, namespace, name, key string) (lynq.Secret, error) {
		return access.SecretValue(ctx, kube.Options{Log: e.Requests, Transport: e.Transport}, namespace, name, key)
	}
}

// SecretNamespace is where the Secret of a hub's passwordRef is.
func SecretNamespace(hub HubPrograms) (string, error) {
	if hub.Hub.Namespace != "" {
		return hub.Hub.Namespace, nil
	}
	namespace := hub.Programs[0].Namespace
	for _, p := range hub.Programs[1:] {
		if p.Namespace != namespace {
			return "", fmt.Errorf("%s: hub %q has no namespace, and its forms have %s and %s: in which of them is Secret %q? (give the hub a namespace)",
				hub.Hub.Password.Pos, hub.Hub.Name, namespace, p.Namespace, hub.Hub.Password.SecretName)
		}
	}
	return namespace, nil
}

// IsSecret tells whether a Secret in the inputs is the one that is meant.
func IsSecret(s *form.Secret, namespace, name string) bool {
	return s.Name == name && (s.Namespace == "" || s.Namespace == namespace)
}

// secret looks a passwordRef up in the inputs, then in the cluster.
func (p Passwords) secret(ctx context.Context, h *form.Hub, namespace string) (lynq.Secret, error) {
	from := h.Password
	for _, s := range p.Secrets {
		if !IsSecret(s, namespace, from.SecretName) {
			continue
		}
		value, ok := s.Data[from.SecretKey]
		if !ok {
			return "", fmt.Errorf("%s: hub %q: Secret %q (%s) has no key %q", from.Pos, h.Name, s.Name, s.Pos, from.SecretKey)
		}
		return value, nil
	}
	value, err := p.Cluster(ctx, namespace, from.SecretName, from.SecretKey)
	if err != nil {
		return "", fmt.Errorf("%s: hub %q: Secret %s/%s, which passwordRef names, isn't in your files, and the cluster didn't return it: %w (pass its manifest with -f, or set %s)",
			from.Pos, h.Name, namespace, from.SecretName, err, lynq.PasswordVariable)
	}
	return value, nil
}
