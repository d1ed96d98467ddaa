package registry

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"
)

// TestLogin reads the files of docker and Helm.
func TestLogin(t *testing.T) {
	pair := base64.StdEncoding.EncodeToString([]byte("ann:a:b"))
	plain := auth.Credential{Username: "ann", Password: "a:b"}
	for name, c := range map[string]struct {
		config, host string
		want         auth.Credential
		helper       string
	}{
		"host":          {`{"auths":{"ghcr.io":{"auth":"` + pair + `"}}}`, "ghcr.io", plain, ""},
		"port":          {`{"auths":{"ghcr.io":{"auth":"` + pair + `"}}}`, "ghcr.io:8443", auth.EmptyCredential, ""},
		"URL":           {`{"auths":{"https://GHCR.io/v2/":{"auth":"` + pair + `"}}}`, "ghcr.io", plain, ""},
		"Docker Hub":    {`{"auths":{"https://index.docker.io/v1/":{"auth":"` + pair + `"}}}`, "registry-1.docker.io", plain, ""},
		"docker.io":     {`{"auths":{"https://index.docker.io/v1/":{"auth":"` + pair + `"}}}`, "docker.io", plain, ""},
		"plain":         {`{"auths":{"r":{"username":"ann","password":"a:b"}}}`, "r", plain, ""},
		"identity":      {`{"auths":{"r":{"auth":"` + pair + `","identitytoken":"i"}}}`, "r", auth.Credential{Username: "ann", Password: "a:b", RefreshToken: "i"}, ""},
		"token":         {`{"auths":{"r":{"registrytoken":"i"}}}`, "r", auth.Credential{AccessToken: "i"}, ""},
		"another":       {`{"auths":{"evil-ghcr.io":{"auth":"` + pair + `"},"ghcr.io.evil":{"auth":"` + pair + `"}}}`, "ghcr.io", auth.EmptyCredential, ""},
		"store":         {`{"auths":{"ghcr.io":{}},"credsStore":"desktop"}`, "ghcr.io", auth.EmptyCredential, "desktop"},
		"helper":        {`{"credsStore":"desktop","credHelpers":{"gcr.io":"gcloud"}}`, "gcr.io", auth.EmptyCredential, "gcloud"},
		"helper's file": {`{"auths":{"gcr.io":{"auth":"` + pair + `"}},"credHelpers":{"gcr.io":"gcloud"}}`, "gcr.io", plain, ""},
		"empty":         {`{}`, "gcr.io", auth.EmptyCredential, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := configFile(t, c.config)
			got, err := loginOf(s.Configs, c.host)
			if err != nil || got.Credential != c.want || got.helper != c.helper {
				t.Errorf("%+v, %v", got, err)
			}
			if c.want != auth.EmptyCredential && got.from != s.Configs[1] || c.helper != "" && got.asked != s.Configs[1] {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestLoginOrder wants the first file that has credentials, and a helper only if none has.
func TestLoginOrder(t *testing.T) {
	first := configFile(t, `{"credsStore":"desktop"}`).Configs[1]
	second, third := configFile(t, loginFor("r")).Configs[1], configFile(t, `{`).Configs[1]
	got, err := loginOf([]string{first, second, third}, "r")
	if err != nil || got.Password != password || got.from != second {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLoginErrors wants errors for files that can't be read, without their contents.
func TestLoginErrors(t *testing.T) {
	server := newServer(t)
	ref := server.pushChart("the archive")
	for config, want := range map[string]string{
		`{"auths": ` + password: "config.json isn't JSON as docker writes it (correct the file, or remove it if the chart is public)",
		`{"auths":{"` + ref.Registry + `":{"auth":"` + password + `"}}}`: "auth of " + ref.Registry + " isn't USER:PASSWORD in base64",
		`{"credsStore":"desktop"}`:                                       "answers 401 Unauthorized. ",
		`{"credHelpers":{"` + ref.Registry + `":"gcloud"}}`:              "config.json leaves credentials to the program docker-credential-gcloud, which lynqctl doesn't run (run helm pull, and name the archive in path, or",
		`{}`:                             "lynqctl found no credentials for it (check the address, and run: helm registry login " + ref.Registry + ")",
		strings.Repeat(" ", maxConfig+1): "it has more than 1 MiB",
	} {
		fails(t, New(configFile(t, config)), ref, want)
	}
	s := settings(t)
	s.Configs = []string{t.TempDir()}
	fails(t, New(s), ref, "read the credentials of registries: ")
}

// TestFromEnvironment wants the places where Helm and docker have their files.
func TestFromEnvironment(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HELM_REGISTRY_CONFIG", "HELM_CONFIG_HOME", "DOCKER_CONFIG", "XDG_CONFIG_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	wants := func(helm, docker string) {
		t.Helper()
		if s := FromEnvironment(); len(s.Configs) != 2 || s.Configs[0] != helm || s.Configs[1] != docker || s.CacheDir != filepath.Join(home, "cache", "lynqctl", "charts") || s.Limit == 0 || s.Roots != nil || s.RootsErr != nil {
			t.Errorf("%+v", s)
		}
	}
	docker := filepath.Join(home, ".docker", "config.json")
	wants(filepath.Join(home, ".config", "helm", "registry", "config.json"), docker)
	t.Setenv("XDG_CONFIG_HOME", "/x")
	wants("/x/helm/registry/config.json", docker)
	t.Setenv("HELM_CONFIG_HOME", "/h")
	t.Setenv("DOCKER_CONFIG", "/d")
	wants("/h/registry/config.json", "/d/config.json")
	t.Setenv("HELM_REGISTRY_CONFIG", "/r.json")
	wants("/r.json", "/d/config.json")
}

// TestRoots wants an error that names the variables, and only for a download.
func TestRoots(t *testing.T) {
	server := newServer(t)
	server.open = true
	ref := server.pushChart("the archive")
	s := settings(t)
	get(t, New(s), ref, []byte("the archive"))
	s.RootsErr = os.ErrNotExist
	get(t, New(s), ref, []byte("the archive"))
	s.CacheDir = t.TempDir()
	fails(t, New(s), ref, "read the certificates that SSL_CERT_FILE and SSL_CERT_DIR name: file does not exist")
}
