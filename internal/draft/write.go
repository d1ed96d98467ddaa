package draft

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Names are the name of a hub or a form, and its namespace, "" for none.
type Names struct{ Namespace, Name string }

// Hub returns the text of the hub. Paths in the connection are relative to the file's
// folder. Hub writes no password. withPassword says that the connection has one.
func (d *Draft) Hub(names Names, from endpoint.Connection, withPassword bool) string {
	var w writer
	w.schema("lynqhub")
	w.line("# Where the rows are, and which column means what.")
	w.head(wellknown.KindHub, names)
	w.line("  source:")
	w.line("    type: %s", from.Type)
	w.line("    %s:", from.Type)
	w.connection(from, withPassword)
	w.line("  valueMappings:")
	w.line("    uid: %s", scalar(d.UID))
	switch {
	case d.Activate != "":
		if d.Assumption != "" {
			w.line("    # Assumption: %s.", d.Assumption)
		}
		w.line("    activate: %s", scalar(d.Activate))
	case len(d.Perhaps) > 0:
		w.line("    # Assumption: every row is active, since no column's name says otherwise. If one of these")
		w.line("    # shows it, add activate with its name: %s.", scalars(d.Perhaps))
	default:
		w.line("    # Assumption: every row is active, since no column says otherwise.")
	}
	if len(d.Activity.Active) > 0 {
		w.line("    activeValues: %s", scalars(d.Activity.Active))
		w.line("    inactiveValues: %s", scalars(d.Activity.Inactive))
	}
	if len(d.PerhapsExpires) > 0 {
		w.line("    # If one of these has the time at which a row ended, add expires with its name:")
		w.line("    # %s.", scalars(d.PerhapsExpires))
	}
	if d.Expires != "" {
		w.line("    # From this time on, a row counts as inactive. Empty means never.")
		w.line("    expires: %s", scalar(d.Expires))
	}
	if len(d.Others) > 0 {
		w.line("    # By their names, these columns may show inactive rows, too, but they don't count:")
		w.line("    # %s. A view can combine them.", scalars(d.Others))
	}
	if d.PreviousUID != "" {
		w.line("    # The uid that the row had before: its objects stay.")
		w.line("    previousUid: %s", scalar(d.PreviousUID))
	}
	if len(d.Unclear) > 0 {
		w.line("    # Add to one of the lists: %s. Until then, no row is rendered.", scalars(d.Unclear))
	}
	if len(d.Mappings) > 0 {
		w.line("  # Template variable: column.")
		w.line("  extraValueMappings:")
		for _, m := range d.Mappings {
			w.line("    %s: %s", scalar(m.Variable), scalar(m.Column))
		}
	}
	w.leftOut(d.Secrets, "Not mapped", secretAdvice)
	if len(d.Secrets) > 0 {
		w.line("  # To use such a column, map it above, and hide its values in all output:")
		w.line("  # secretColumns: %s", scalars(d.Secrets))
	}
	w.leftOut(d.Bytes, "Not mapped", "holds bytes: have a view encode it")
	return w.String()
}

// Form returns the text of the form.
func (d *Draft) Form(names Names, hub string) string {
	var w writer
	w.schema("lynqform")
	w.line("# What every active row gets. It is a beginning: put your application here.")
	w.head(wellknown.KindForm, names)
	w.line("  hubId: %s", scalar(hub))
	w.line("  # While ten nodes change or have failed, no other node changes.")
	w.line("  rollout: {maxSkew: 10}")
	d.writeSettings(&w)
	d.writeApp(&w)
	d.writeService(&w)
	if d.given {
		w.leftOut(d.Secrets, "Not used", secretAdvice)
	}
	return w.String()
}

func (d *Draft) writeSettings(w *writer) {
	w.line("  configMaps:")
	w.line("    - id: settings")
	w.line("      nameTemplate: %s", quote(d.name+"-settings"))
	w.block(6, `
spec:
  apiVersion: v1
  kind: ConfigMap
  data:
    uid: "{{ .uid }}"
`)
	taken := []string{"uid"}
	for _, v := range d.settings() {
		key := envName(v, taken)
		taken = append(taken, key)
		w.line("          %s: %s", scalar(key), quote("{{ "+lynq.VariableRef(v)+" }}"))
	}
}

// settings returns the variables for the application. It leaves out a number of replicas,
// because scaling shouldn't restart the application.
func (d *Draft) settings() []string {
	var variables []string
	for _, m := range d.Mappings {
		if m.Variable != d.replicas {
			variables = append(variables, m.Variable)
		}
	}
	return variables
}

// checksum returns a template whose result changes with the settings.
func (d *Draft) checksum() string {
	var list strings.Builder
	for _, v := range d.settings() {
		if ref := lynq.VariableRef(v); strings.HasPrefix(ref, ".") {
			list.WriteString(" " + ref)
		} else {
			list.WriteString(" (" + ref + ")")
		}
	}
	return "{{ list" + list.String() + " | toJson | sha256sum }}"
}

// envName returns a name for a variable's environment variable.
func envName(variable string, taken []string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, variable)
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return unique(name, taken)
}

func (d *Draft) writeApp(w *writer) {
	w.line("  deployments:")
	w.line("    - id: app")
	w.line("      nameTemplate: %s", quote(d.name+"-app"))
	w.block(6, `
dependIds: [settings]
spec:
  apiVersion: apps/v1
  kind: Deployment
  spec:
`)
	if d.replicas != "" {
		w.line("          replicas: %s", quote("{{ "+lynq.VariableRef(d.replicas)+" | int }}"))
	}
	w.line("          selector:")
	w.line("            matchLabels: {app: %s}", quote(d.name))
	w.line("          template:")
	w.line("            metadata:")
	w.line("              labels: {app: %s}", quote(d.name))
	if len(d.settings()) > 0 {
		w.line("              # Other settings restart the pods: here is what the ConfigMap has of the row.")
		w.line("              annotations: {checksum/settings: %s}", quote(d.checksum()))
	}
	w.block(12, `
spec:
  containers:
    - name: app
      image: nginx:1.29
      ports:
        - {name: http, containerPort: 80}
      envFrom:
`)
	w.line("                    - configMapRef: {name: %s}", quote(d.name+"-settings"))
}

func (d *Draft) writeService(w *writer) {
	w.line("  services:")
	w.line("    - id: service")
	w.line("      nameTemplate: %s", quote(d.name+"-app"))
	w.block(6, `
dependIds: [app]
spec:
  apiVersion: v1
  kind: Service
  spec:
`)
	w.line("          selector: {app: %s}", quote(d.name))
	w.line("          ports:")
	w.line("            - {name: http, port: 80, targetPort: http}")
}

// writer writes YAML line by line, as a person would.
type writer struct{ strings.Builder }

func (w *writer) line(format string, args ...any) {
	_, _ = fmt.Fprintf(w, format+"\n", args...) // memory accepts everything
}

// block writes lines unchanged, but indented.
func (w *writer) block(indent int, text string) {
	for line := range strings.Lines(strings.TrimPrefix(text, "\n")) {
		w.WriteString(strings.Repeat(" ", indent) + line)
	}
}

// schema writes the line that makes editors check and complete the file (docs/forms.md).
func (w *writer) schema(kind string) {
	w.line("# yaml-language-server: $schema=https://raw.githubusercontent.com/lynqctl/lynqctl/main/schemas/%s.schema.json", kind)
}

func (w *writer) head(kind string, names Names) {
	w.line("apiVersion: %s", wellknown.APIVersion)
	w.line("kind: %s", kind)
	w.line("metadata:")
	w.line("  name: %s", scalar(names.Name))
	if names.Namespace != "" {
		w.line("  namespace: %s", scalar(names.Namespace))
	}
	w.line("spec:")
}

// connection writes the block of a type of source.
func (w *writer) connection(c endpoint.Connection, withPassword bool) {
	if c.Path != "" {
		w.line("      path: %s", scalar(c.Path))
		if c.Table != "" && c.Type.HasSQL() {
			w.line("      table: %s", scalar(c.Table))
		}
		if c.File.Separator != "" {
			w.line("      separator: %s", quote(c.File.Separator))
		}
		if c.File.Items != "" {
			w.line("      items: %s", scalar(c.File.Items))
		}
		return
	}
	if c.Type == endpoint.SourceHTTP {
		w.line("      url: %s", scalar(c.HTTP.URL))
		if c.HTTP.Items != "" {
			w.line("      items: %s", scalar(c.HTTP.Items))
		}
		if c.HTTP.Whole {
			w.line("      # Assumption: the API has no pages. An answer that says that rows follow is an error.")
			w.line("      pages: false")
		}
		if withPassword {
			w.line("      tokenFrom: {env: %s}", endpoint.PasswordVariable)
		}
		return
	}
	w.line("      host: %s", scalar(c.Host))
	w.line("      port: %d", c.Port)
	w.line("      username: %s", scalar(c.Username))
	w.line("      database: %s", scalar(c.Database))
	w.line("      table: %s", scalar(c.Table))
	if c.TLS != "" {
		w.line("      tls: %s", c.TLS)
	}
	if c.CAFile != "" {
		w.line("      caFile: %s", scalar(c.CAFile))
	}
	if c.CertFile != "" && c.KeyFile != "" {
		w.line("      certificateFrom: {file: %s, keyFile: %s}", scalar(c.CertFile), scalar(c.KeyFile))
	} else if c.CertFile != "" {
		w.line("      certificateFrom: {file: %s}", scalar(c.CertFile))
	}
	if withPassword {
		w.line("      passwordFrom: {env: %s}", endpoint.PasswordVariable)
	}
}

const secretAdvice = "looks like a secret: put it in a Secret, not in a ConfigMap"

// leftOut names columns in comments.
func (w *writer) leftOut(columns []string, what, why string) {
	for _, c := range columns {
		w.line("  # %s: %s, which %s.", what, scalar(c), why)
	}
}

// scalar returns a text in YAML. It adds quotes if some reader might take the text for
// another type.
func scalar(text string) string {
	plain := regexp.MustCompile(`^([A-Za-z/]|\.\.?/)[A-Za-z0-9_./-]*$`)
	words := []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}
	if plain.MatchString(text) && !slices.Contains(words, strings.ToLower(text)) {
		return text
	}
	return quote(text)
}

// scalars returns a list of texts in YAML.
func scalars(texts []string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = scalar(text)
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// quote quotes a text. It uses double quotes, unless only those would need backslashes.
func quote(text string) string {
	printable := !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
	if printable && strings.ContainsAny(text, `"\`) {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	text, err := phrase.JSON(text) // JSON strings are valid in YAML
	if err != nil {
		return `""` // a string always has an encoding
	}
	var quoted strings.Builder
	for _, r := range text {
		// YAML treats some of these as line breaks, and refuses others.
		if r >= 0x7f && r <= 0x9f || r == 0xfeff {
			_, _ = fmt.Fprintf(&quoted, `\u%04x`, r)
			continue
		}
		quoted.WriteRune(r)
	}
	return quoted.String()
}
