package registry

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/lynqctl/lynqctl/pkg/bounded"
)

// login is what the files say of a registry.
type login struct {
	auth.Credential
	from   string // the file, or ""
	helper string // a program that may have the credentials, if no file has them
	asked  string // the file that names it
}

// config is the file in which docker and Helm keep credentials.
type config struct {
	Auths map[string]struct {
		Auth          string `json:"auth"`
		Username      string `json:"username"`
		Password      string `json:"password"`
		IdentityToken string `json:"identitytoken"`
		RegistryToken string `json:"registrytoken"`
	} `json:"auths"`
	CredsStore  string            `json:"credsStore"`
	CredHelpers map[string]string `json:"credHelpers"`
}

const maxConfig = 1 << 20

// loginOf finds the credentials for a registry. It returns none if no file has them.
func loginOf(configs []string, host string) (login, error) {
	var found login
	for _, file := range configs {
		text, err := bounded.ReadFile(file, maxConfig)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return login{}, fmt.Errorf("read the credentials of registries: %w", err)
		}
		var c config
		if err := json.Unmarshal(text, &c); err != nil { // its error would show a part of the file
			return login{}, fmt.Errorf("read the credentials of registries: %s isn't JSON as docker writes it", file)
		}
		credential, err := c.of(host)
		if err != nil {
			return login{}, fmt.Errorf("read the credentials of registries: %s: %w", file, err)
		}
		if credential != auth.EmptyCredential {
			return login{Credential: credential, from: file}, nil
		}
		if helper := c.helper(host); helper != "" && found.helper == "" {
			found.helper, found.asked = helper, file
		}
	}
	return found, nil
}

// of returns the credentials that a file has for a registry.
func (c *config) of(host string) (auth.Credential, error) {
	for _, key := range slices.Sorted(maps.Keys(c.Auths)) {
		a := c.Auths[key]
		if !sameRegistry(key, host) {
			continue
		}
		found := auth.Credential{Username: a.Username, Password: a.Password, RefreshToken: a.IdentityToken, AccessToken: a.RegistryToken}
		if a.Auth != "" {
			pair, err := base64.StdEncoding.DecodeString(a.Auth)
			user, password, complete := strings.Cut(string(pair), ":")
			if err != nil || !complete {
				return auth.EmptyCredential, fmt.Errorf("auth of %s isn't USER:PASSWORD in base64", key)
			}
			found.Username, found.Password = user, strings.TrimRight(password, "\x00")
		}
		if found != auth.EmptyCredential { // with a helper, docker writes empty ones
			return found, nil
		}
	}
	return auth.EmptyCredential, nil
}

// helper returns the name of the program that keeps the credentials for a registry, or "".
func (c *config) helper(host string) string {
	for _, key := range slices.Sorted(maps.Keys(c.CredHelpers)) {
		if sameRegistry(key, host) {
			return c.CredHelpers[key]
		}
	}
	return c.CredsStore
}

// sameRegistry reports whether a key of a file names a registry. Keys may be URLs, and docker
// writes https://index.docker.io/v1/ for docker.io.
func sameRegistry(key, host string) bool {
	return canonical(key) == canonical(host)
}

func canonical(name string) string {
	for _, scheme := range []string{"https://", "http://"} {
		name = strings.TrimPrefix(name, scheme)
	}
	switch name, _, _ = strings.Cut(name, "/"); name {
	case "docker.io", "index.docker.io":
		return dockerHub
	}
	return strings.ToLower(name)
}
