package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/bounded"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// Passwords finds the passwords of hubs' connections, in the order of contract section 1.
type Passwords struct {
	Getenv  func(string) string
	Secrets []*form.Secret
	// Cluster reads keys of a Secret that the inputs don't contain, all of one version.
	Cluster func(ctx context.Context, namespace, name string, keys ...string) ([]endpoint.Secret, error)
}

// environment returns for each hub the name of the variable that has its password, or "".
// A variable with the name of a hub counts before the one without a name. Hubs of different
// servers can't share a variable: one server would get the password of another.
func (p Passwords) environment(hubs []HubPrograms, connections []endpoint.Connection) (variables []string, err error) {
	variables = make([]string, len(hubs))
	users := map[string][]int{}
	for i, h := range hubs {
		if !takesPassword(&connections[i]) {
			continue
		}
		named := endpoint.PasswordVariable + "_" + inVariable(h.Hub.Name)
		for _, name := range []string{named, endpoint.PasswordVariable} {
			if p.Getenv(name) != "" {
				variables[i], users[name] = name, append(users[name], i)
				break
			}
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(users)) {
		errs = append(errs, oneServer(name, users[name], hubs, connections))
	}
	return variables, errors.Join(errs...)
}

// takesPassword reports whether a connection lacks the password that it needs.
func takesPassword(c *endpoint.Connection) bool {
	return c.Type.HasServer() && c.Password == "" && (c.Type != endpoint.SourceHTTP || c.HTTP.Auth != "")
}

// oneServer refuses a variable that hubs of different servers would use.
func oneServer(variable string, users []int, hubs []HubPrograms, connections []endpoint.Connection) error {
	var names, own []string
	different := false
	for _, i := range users {
		different = different || serverOf(&connections[i]) != serverOf(&connections[users[0]])
		names, own = append(names, hubs[i].Hub.Name), append(own, endpoint.PasswordVariable+"_"+inVariable(hubs[i].Hub.Name))
	}
	slices.Sort(own)
	switch own = slices.Compact(own); {
	case !different:
		return nil
	case variable != endpoint.PasswordVariable:
		return fmt.Errorf("%s: hubs %s have different servers, and no server may get the password of another (use passwordFrom, tokenFrom or passwordRef)", variable, strings.Join(names, ", "))
	}
	return fmt.Errorf("%s: hubs %s have different servers, and no server may get the password of another (set %s instead)", variable, strings.Join(names, ", "), strings.Join(own, ", "))
}

// serverOf identifies the server that gets the password of a connection.
func serverOf(c *endpoint.Connection) string {
	if c.Type != endpoint.SourceHTTP {
		return fmt.Sprintf("%s %s %d", c.Type, c.Host, cmp.Or(c.Port, c.Type.Kind().Port))
	}
	u, err := url.Parse(c.HTTP.URL)
	if err != nil {
		return c.HTTP.URL
	}
	return u.Scheme + "://" + u.Host
}

// inVariable returns the name of a hub as part of a variable's name.
func inVariable(hub string) string {
	return strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToUpper(hub))
}

// fill adds the secrets that a hub names to its connection, and the password of a variable
// if it has one. A hub without a namespace has its Secrets in the namespace of its nodes.
func (p Passwords) fill(ctx context.Context, hub HubPrograms, c *endpoint.Connection, variable string) error {
	if !c.Type.HasServer() {
		return nil
	}
	isAPI := c.Type == endpoint.SourceHTTP
	var err error
	switch {
	case !takesPassword(c):
	case variable != "":
		c.Password = endpoint.Secret(p.Getenv(variable))
	case isAPI == (hub.Hub.Source.Type == endpoint.SourceHTTP): // a token isn't the password of a database
		c.Password, err = p.password(ctx, hub)
	}
	if isTheirs := isAPI == (hub.Hub.Source.Type == endpoint.SourceHTTP); err != nil || !isTheirs && c.CertFile == "" {
		return err
	}
	if c.CertFile != "" {
		return URLCertificate(c)
	}
	c.Certificate, err = p.certificate(ctx, hub)
	return err
}

// password finds the password or token of a hub.
func (p Passwords) password(ctx context.Context, hub HubPrograms) (endpoint.Secret, error) {
	h := hub.Hub
	from, what := h.Password, "password"
	if h.Source.HTTP.Auth == endpoint.BearerAuth {
		what = "token"
	}
	switch {
	case from.Env != "":
		return p.variable(h, from.Pos, from.Env, what)
	case from.File != "":
		text, err := bounded.ReadFile(from.File, maxSecret)
		if err != nil {
			return "", fmt.Errorf("%s: hub %q: %w", from.Pos, h.Name, readError(what, err))
		}
		return endpoint.Secret(strings.TrimRight(string(text), "\r\n")), nil
	case from.Command != nil:
		return printed(ctx, h, &from, what, execLimit)
	case from.SecretName != "":
		namespace, err := SecretNamespace(hub)
		if err != nil {
			return "", err
		}
		return p.secret(ctx, h, secretKeys{from.Pos, namespace, from.SecretName, []string{from.SecretKey}, what})
	}
	return "", nil
}

// certificate finds a client certificate and its key.
func (p Passwords) certificate(ctx context.Context, hub HubPrograms) (endpoint.Secret, error) {
	const what = "certificate"
	h := hub.Hub
	from := h.Certificate
	switch {
	case from.Env != "":
		return p.variable(h, from.Pos, from.Env, what)
	case from.File != "":
		text, err := certificateFiles(from.File, from.KeyFile)
		if err != nil {
			return "", fmt.Errorf("%s: hub %q: %w", from.Pos, h.Name, err)
		}
		return text, nil
	case from.SecretName != "":
		namespace, err := SecretNamespace(hub)
		if err != nil {
			return "", err
		}
		return p.secret(ctx, h, secretKeys{from.Pos, namespace, from.SecretName, []string{"tls.crt", "tls.key"}, what})
	}
	return "", nil
}

// URLCertificate reads the client certificate that the URL of a connection names.
func URLCertificate(c *endpoint.Connection) error {
	if c.CertFile == "" {
		return nil
	}
	text, err := certificateFiles(c.CertFile, c.KeyFile)
	if err != nil {
		return fmt.Errorf("--source: %w", err)
	}
	c.Certificate = text
	return nil
}

// certificateFiles reads a certificate and its key. Without keyFile, file has both.
func certificateFiles(file, keyFile string) (endpoint.Secret, error) {
	text, err := bounded.ReadFile(file, maxSecret)
	if err != nil || keyFile == "" {
		return endpoint.Secret(text), readError("certificate", err)
	}
	key, err := bounded.ReadFile(keyFile, maxSecret)
	return endpoint.Secret(text) + "\n" + endpoint.Secret(key), readError("certificate", err)
}

func readError(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read the %s: %w", what, err)
}

// maxSecret limits the bytes of a file with a secret.
const maxSecret = 64 << 10

// variable returns the value of an environment variable that whatFrom names, or an error if
// it isn't set.
func (p Passwords) variable(h *form.Hub, pos lynq.Pos, name, what string) (endpoint.Secret, error) {
	if s := p.Getenv(name); s != "" {
		return endpoint.Secret(s), nil
	}
	return "", fmt.Errorf("%s: hub %q: the environment variable %s, which %sFrom names, is not set", pos, h.Name, name, what)
}

// SecretsOf returns a function that reads Secrets from the cluster of access.
func SecretsOf(e *session.Engine, access *kube.Access) func(ctx context.Context, namespace, name string, keys ...string) ([]endpoint.Secret, error) {
	return func(ctx context.Context, namespace, name string, keys ...string) ([]endpoint.Secret, error) {
		return access.SecretValues(ctx, kube.Options{Log: e.Requests, Transport: e.Transport, Secrets: e.Secrets}, namespace, name, keys...)
	}
}

// SecretNamespace returns the namespace of the Secrets that a hub names. It fails if the
// hub has no namespace, and its forms have several.
func SecretNamespace(hub HubPrograms) (string, error) {
	if hub.Hub.Namespace != "" {
		return hub.Hub.Namespace, nil
	}
	namespace := hub.Programs[0].Namespace
	for _, p := range hub.Programs[1:] {
		if p.Namespace != namespace {
			return "", fmt.Errorf("%s: hub %q has no namespace, and its forms have %s and %s: in which of them is Secret %q? (give the hub a namespace)",
				cmp.Or(hub.Hub.Password.Pos, hub.Hub.Certificate.Pos), hub.Hub.Name, namespace, p.Namespace, cmp.Or(hub.Hub.Password.SecretName, hub.Hub.Certificate.SecretName))
		}
	}
	return namespace, nil
}

// IsSecret reports whether a Secret of the inputs has this name. A Secret without a
// namespace matches every namespace.
func IsSecret(s *form.Secret, namespace, name string) bool {
	return s.Name == name && (s.Namespace == "" || s.Namespace == namespace)
}

// secretKeys names keys of a Secret, and the kind of secret in them.
type secretKeys struct {
	pos             lynq.Pos
	namespace, name string
	keys            []string
	what            string // "password", "token" or "certificate"
}

// secret looks for keys in the inputs, then in the cluster, and joins their lines. A Secret may
// be replaced at any time, so all keys come from one version of it.
func (p Passwords) secret(ctx context.Context, h *form.Hub, from secretKeys) (endpoint.Secret, error) {
	for _, s := range p.Secrets {
		if !IsSecret(s, from.namespace, from.name) {
			continue
		}
		values := make([]endpoint.Secret, len(from.keys))
		for i, key := range from.keys {
			value, ok := s.Data[key]
			if !ok {
				return "", fmt.Errorf("%s: hub %q: Secret %q (%s) has no key %q", from.pos, h.Name, s.Name, s.Pos, key)
			}
			values[i] = value
		}
		return joined(values), nil
	}
	values, err := p.Cluster(ctx, from.namespace, from.name, from.keys...)
	if err != nil {
		fix := "pass its manifest with -f"
		if from.what != "certificate" {
			fix += ", or set " + endpoint.PasswordVariable
		}
		return "", fmt.Errorf("%s: hub %q: Secret %s/%s, which %sRef names, isn't in your files, and the cluster didn't return it: %w (%s)",
			from.pos, h.Name, from.namespace, from.name, from.what, err, fix)
	}
	return joined(values), nil
}

func joined(values []endpoint.Secret) endpoint.Secret {
	var whole endpoint.Secret
	for i, v := range values {
		if i > 0 {
			whole += "\n"
		}
		whole += v
	}
	return whole
}
