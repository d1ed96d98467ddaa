package incluster

import (
	"path/filepath"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// reachable finds hubs that need files which no pod has. A file next to the hub's file is
// lost, and the user must mount others. It also finds secrets that the inputs would show.
func (o *options) reachable(hubs []load.HubPrograms, connections []endpoint.Connection) (problems, warnings lynq.Problems) {
	for i, h := range hubs {
		c, password, certificate := connections[i], h.Hub.Password, h.Hub.Certificate
		needs := map[string]string{"rows": c.Path}
		if c.Type.HasServer() {
			needs = map[string]string{"TLS certificates": c.CAFile, "password": password.File, "client certificate": certificate.File, "key": certificate.KeyFile}
			if c.Password != "" {
				problems.Add(h.Hub.Pos, "remove it, and name a Secret with passwordRef", "hub %q: the URL of --source has a password, which anyone could read in the %s", h.Hub.Name, o.Kind)
			}
			if password.Env != "" {
				warnings.Add(password.Pos, "add it to the container, or name a Secret with passwordRef", "hub %q: its password is in the environment variable %s, which the %s does not set", h.Hub.Name, password.Env, o.Kind)
			}
			if password.Command != nil {
				warnings.Add(password.Pos, "build an image that has it, or name a Secret with passwordRef", "hub %q: the command %s prints its password, and the image of lynqctl has no such program", h.Hub.Name, password.Command[0])
			}
			if certificate.Env != "" {
				warnings.Add(certificate.Pos, "add it to the container, or name a Secret with certificateRef", "hub %q: its client certificate is in the environment variable %s, which the %s does not set", h.Hub.Name, certificate.Env, o.Kind)
			}
		}
		for _, l := range h.Hub.Lookups {
			if l.Table == "" && (h.Hub.Secret(l.Column) || len(l.SecretColumns) > 0) {
				problems.Add(l.Pos, "move its entries into a table of the database", "hub %q: lookup %q has secret values, which anyone could read in the ConfigMap with the inputs", h.Hub.Name, l.Name)
			}
		}
		for _, what := range []string{"rows", "TLS certificates", "password", "client certificate", "key"} {
			switch path := needs[what]; {
			case path == "":
			case path == "-":
				problems.Add(h.Hub.Pos, "name a database or an API", "hub %q: its rows are read from standard input, and a pod has none", h.Hub.Name)
			case isBeside(h.Hub.Pos.File, path):
				problems.Add(h.Hub.Pos, "name what pods can reach: a database, a Secret, or an absolute path elsewhere at which a volume is mounted", "hub %q: the file with its %s is %s, which a pod does not have", h.Hub.Name, what, path)
			default:
				warnings.Add(h.Hub.Pos, "add a volume to the "+string(o.Kind), "hub %q: the file with its %s is %s, which a pod has only where a volume is mounted there", h.Hub.Name, what, path)
			}
		}
	}
	return problems, warnings
}

// isBeside reports whether a path depends on the place of another file.
func isBeside(file, path string) bool {
	if !filepath.IsAbs(path) {
		return true
	}
	relative, err := filepath.Rel(filepath.Dir(file), path)
	return err == nil && filepath.IsAbs(file) && filepath.IsLocal(relative)
}
