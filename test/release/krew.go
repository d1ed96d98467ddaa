package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"sigs.k8s.io/yaml"
)

// plugin is krew's manifest of a plugin.
type plugin struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string     `json:"version"`
		Homepage         string     `json:"homepage"`
		ShortDescription string     `json:"shortDescription"`
		Description      string     `json:"description"`
		Caveats          string     `json:"caveats"`
		Platforms        []platform `json:"platforms"`
	} `json:"spec"`
}

// platform is krew's entry for a kind of machine.
type platform struct {
	Bin      string `json:"bin"`
	URI      string `json:"uri"`
	SHA256   string `json:"sha256"`
	Selector struct {
		MatchLabels struct {
			OS   string `json:"os"`
			Arch string `json:"arch"`
		} `json:"matchLabels"`
	} `json:"selector"`
}

// manifest checks whether krew would accept its manifest and find the right archives.
func manifest(file string, sums map[string]string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var p plugin
	if err := yaml.UnmarshalStrict(content, &p); err != nil {
		return err
	}
	var errs []error
	wrong := func(is bool, what string) {
		if is {
			errs = append(errs, errors.New(what))
		}
	}
	wrong(p.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || p.Kind != "Plugin", "it is no plugin of krew's")
	wrong(p.Metadata.Name != "lynq" || path.Base(file) != "lynq.yaml", "kubectl would not call it lynq")
	wrong(!strings.HasPrefix(p.Spec.Version, "v"), "its version does not begin with v")
	wrong(p.Spec.Homepage == "" || p.Spec.Description == "" || p.Spec.Caveats == "", "a text is missing")
	wrong(p.Spec.ShortDescription == "" || len(p.Spec.ShortDescription) > 50, "its short description is none, or longer than 50 characters")
	wrong(len(p.Spec.Platforms) == 0, "it is for no machine")
	for i := range p.Spec.Platforms {
		errs = append(errs, p.Spec.Platforms[i].check(sums))
	}
	return errors.Join(errs...)
}

// check compares a platform with the archives. krew links kubectl-lynq to the binary in one
// of them.
func (p *platform) check(sums map[string]string) error {
	on := p.Selector.MatchLabels
	name, binary := path.Base(p.URI), "lynqctl"
	if on.OS == "windows" {
		binary += ".exe"
	}
	switch {
	case on.OS == "" || on.Arch == "" || !strings.Contains(name, "_"+on.OS+"_"+on.Arch+"."):
		return fmt.Errorf("%s is for %s on %s", name, on.OS, on.Arch)
	case p.SHA256 == "" || sums[name] != p.SHA256:
		return fmt.Errorf("%s has another checksum", name)
	case p.Bin != binary:
		return fmt.Errorf("%s: the binary is called %s", name, p.Bin)
	}
	return nil
}
