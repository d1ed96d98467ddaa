package form

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/form/files"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

const defaultSyncInterval = 30 * time.Second

// readHub reads a LynqHub.
func readHub(rep *report, v *document.Value, fields []Field) *Hub {
	o := newObject(rep, subject("hub", v), "", v)
	o.fields = fields
	m := readMeta(o)
	hub := &Hub{Pos: v.Pos, Name: m.Name, Namespace: m.Namespace}
	spec := o.needObject("spec")
	o.done()
	readSource(spec.needObject("source"), hub)
	readMappings(spec, hub)
	readLookups(spec, hub)
	readSecretColumns(spec, hub)
	readNamespaceDefaults(spec, hub)
	hub.Exclude = readExclude(spec, m)
	hub.Grace = readGrace(spec)
	spec.done()
	return hub
}

// readSource reads spec.source, which is a type and the block with its name.
func readSource(o *object, hub *Hub) {
	hub.SyncInterval = readInterval(o)
	hub.Source.Type = oneOf(o, "type", o.needText("type"), hub.Source.Type, o.field("type").Words)
	for _, kind := range endpoint.Kinds() {
		t := kind.Type
		switch block := o.object(string(t)); {
		case block == nil && t == hub.Source.Type:
			o.need(string(t))
		case block == nil:
		case t == hub.Source.Type:
			readBlock(block, &kind, hub)
		case hub.Source.Type == "":
			// Reading the wrong block as well reports its problems too.
			readBlock(block, &kind, &Hub{})
		default:
			o.fail(block.value.Pos, "remove it, or write type: "+string(t), "%s does not go with type %s", block.path, hub.Source.Type)
		}
	}
	o.done()
}

func readInterval(o *object) time.Duration {
	t := o.text("syncInterval")
	if !t.IsSet() {
		return defaultSyncInterval
	}
	d, err := time.ParseDuration(t.Text)
	if err != nil || !o.matches("syncInterval", t) {
		o.fail(t.Pos, "write a number and s, m or h, such as 30s", "%s %q is not an interval", o.name("syncInterval"), t.Text)
		return defaultSyncInterval
	}
	return d
}

// readBlock reads the block of a type of source.
func readBlock(o *object, kind *endpoint.Kind, hub *Hub) {
	if read := blockOf(kind.Block).read; read != nil {
		read(o, hub, kind)
	}
	o.done()
}

// readDatabaseFile reads the block of a database in a file.
func readDatabaseFile(o *object, hub *Hub, kind *endpoint.Kind) {
	path := o.needText("path")
	if path.Text == files.StdinPath {
		o.fail(path.Pos, "name a file", "a %s database can't be read from standard input", kind.Name)
	}
	hub.Source.Path = beside(path)
	hub.Source.Table = o.needText("table").Text
	hub.Source.Where = readWhere(o, kind.Type)
}

// readRowFile reads the path of a file of rows.
func readRowFile(o *object, hub *Hub) {
	path := o.needText("path")
	if path.Text == files.StdinPath && path.Pos.File == files.StdinName {
		o.fail(path.Pos, "give the hub as a file", "%s is standard input, from which this hub came", o.name("path"))
	}
	hub.Source.Path = beside(path)
}

func readCSV(o *object, hub *Hub, _ *endpoint.Kind) {
	readRowFile(o, hub)
	hub.Source.File.Separator = enum(o, "separator", "")
}

func readJSON(o *object, hub *Hub, _ *endpoint.Kind) {
	readRowFile(o, hub)
	hub.Source.File.Items = filled(o, "items")
}

// readServer reads the block of a database with a server.
func readServer(o *object, hub *Hub, kind *endpoint.Kind) {
	c := &hub.Source
	c.Host = o.needText("host").Text
	c.Port = o.integer("port", kind.Port)
	c.Username = o.needText("username").Text
	c.Database = o.needText("database").Text
	c.Table = o.needText("table").Text
	c.Where = readWhere(o, kind.Type)
	c.TLS = enum(o, "tls", c.TLS)
	ca := o.text("caFile")
	if ca.IsSet() && c.TLS != "" && c.TLS != endpoint.TLSVerifyFull {
		o.fail(ca.Pos, "write tls: verify-full, or remove it", "%s has no effect without verification", o.name("caFile"))
	}
	c.CAFile = beside(ca)
	hub.Password = readSecret(o, "password")
	hub.Certificate = readCertificate(o)
	if encrypted := c.TLS != endpoint.TLSDisable && !c.Socket(); !encrypted && hub.Certificate.Pos.File != "" {
		o.fail(hub.Certificate.Pos, "remove it, or encrypt the connection", "%s: a client certificate has no effect without TLS", o.path)
	}
	if c.Socket() && (c.TLS == endpoint.TLSRequire || c.TLS == endpoint.TLSVerifyFull) {
		o.fail(o.get("tls").Pos, "remove it", "%s: a Unix socket has no TLS", o.name("tls"))
	}
}

// readWhere reads the condition for the rows of a table.
func readWhere(o *object, t endpoint.SourceType) endpoint.Where {
	where := o.text("where")
	if !where.IsSet() {
		return endpoint.Where{}
	}
	if what, fix := endpoint.CheckWhere(t, where.Text); what != "" {
		o.fail(where.Pos, fix, "%s %s", o.name("where"), what)
	}
	return endpoint.Where{SQL: where.Text, At: where.Pos.String()}
}

// readSecret reads the fields NAMEFrom and NAMERef, such as passwordFrom and passwordRef.
// NAMEFrom wins, so that one hub can serve both the operator and lynqctl.
func readSecret(o *object, name string) PasswordSource {
	from, ref := o.object(name+"From"), o.object(name+"Ref")
	var result PasswordSource
	if ref != nil {
		result = PasswordSource{Pos: ref.value.Pos, SecretName: ref.needText("name").Text, SecretKey: ref.needText("key").Text}
		ref.done()
	}
	if from != nil {
		env, file, command := from.text("env"), from.text("file"), readCommand(from)
		set := 0
		for _, is := range []bool{env.Text != "", file.Text != "", from.get("exec") != nil} {
			if is {
				set++
			}
		}
		if from.value.Kind == document.Map && set != 1 {
			from.fail(from.value.Pos, "write env: NAME, file: PATH or exec: {command: [...]}", "%s needs exactly one of env, file and exec", from.path)
		}
		from.done()
		result = PasswordSource{Pos: from.value.Pos, Env: env.Text, File: beside(file), Command: command}
	}
	return result
}

// readCommand reads the command that prints a password.
func readCommand(from *object) []string {
	o := from.object("exec")
	if o == nil {
		return nil
	}
	var command []string
	for _, t := range o.texts("command") {
		command = append(command, t.Text)
	}
	o.done()
	switch {
	case o.value.Kind != document.Map:
	case len(command) == 0 || strings.TrimSpace(command[0]) == "":
		o.fail(o.value.Pos, "write command: [PROGRAM, ARGUMENT, ...]", "%s.command names no program", o.path)
	}
	return command
}

// beside makes a path relative to the directory of its file.
func beside(path Text) string {
	if path.Text == "" || path.Text == files.StdinPath || filepath.IsAbs(path.Text) || path.Pos.File == files.StdinName {
		return path.Text
	}
	return filepath.Join(filepath.Dir(path.Pos.File), path.Text)
}

// readMappings reads valueMappings and extraValueMappings.
func readMappings(spec *object, hub *Hub) {
	values := spec.needObject("valueMappings")
	add := func(variable string, column Text) {
		if column.Text != "" {
			hub.Mappings = append(hub.Mappings, Mapping{Variable: variable, Column: column.Text, Pos: column.Pos})
		}
	}
	add("uid", values.needText("uid"))
	activate := readActivate(values)
	add("activate", activate)
	hub.Activity = readActivity(values, activate)
	if t := values.text("expires"); t.Text != "" {
		hub.Expires = Mapping{Variable: "expires", Column: t.Text, Pos: t.Pos}
	}
	hub.PreviousUID = readPreviousUID(values, hub)
	host := values.text("hostOrUrl")
	add("hostOrUrl", host)
	values.done()
	if host.Text != "" {
		spec.warn(host.Pos, "write it as extraValueMappings.hostOrUrl; templates stay the same", "valueMappings.hostOrUrl is deprecated, and v1.3.0 of the Lynq operator ends it")
	}
	for _, e := range spec.entries("extraValueMappings") {
		if isVariable(spec, e, host.Text != "") {
			add(e.Key, e.Text)
		}
	}
	slices.SortStableFunc(hub.Mappings, func(a, b Mapping) int { return strings.Compare(a.Variable, b.Variable) })
}

// readActivate reads the activation column. Without the field, every row is active. A field
// without a value is an error, because nobody wants that by accident.
func readActivate(values *object) Text {
	column := values.text("activate")
	if v := values.value.Field("activate"); v != nil && strings.TrimSpace(column.Text) == "" && (v.Kind == document.Null || v.Kind == document.String) {
		values.fail(v.Pos, "name the column, or remove the field if every row is active", "%s is empty", values.name("activate"))
	}
	return column
}

// readActivity reads which values of the activation column make a row active or inactive.
func readActivity(values *object, activate Text) lynq.Activity {
	active, inactive := values.texts("activeValues"), values.texts("inactiveValues")
	for _, field := range []string{"activeValues", "inactiveValues"} {
		if v := values.get(field); v != nil && !activate.IsSet() && values.value.Field("activate") == nil {
			values.fail(v.Pos, "name the column in activate, or remove the list", "%s has no effect without activate", values.name(field))
		}
	}
	var a lynq.Activity
	seen := map[string]bool{}
	take := func(list []Text) (taken []string) {
		for _, t := range list {
			if seen[t.Text] {
				values.fail(t.Pos, "remove one of them", "activeValues and inactiveValues have %s twice", phrase.Quote(t.Text))
			}
			seen[t.Text] = true
			taken = append(taken, t.Text)
		}
		return taken
	}
	a.Active, a.Inactive = take(active), take(inactive)
	switch lists := [...]*document.Value{values.get("activeValues"), values.get("inactiveValues")}; {
	case len(active) > 0:
	case lists[0] != nil:
		values.fail(lists[0].Pos, "list the values of active rows, or remove it", "%s is empty", values.name("activeValues"))
	case lists[1] != nil:
		values.fail(lists[1].Pos, "list the values of active rows in activeValues", "%s goes with activeValues", values.name("inactiveValues"))
	}
	return a
}

// isVariable reports whether an extra mapping is valid, and adds a problem if not.
func isVariable(spec *object, e Entry, withHost bool) bool {
	switch {
	case strings.TrimSpace(e.Key) == "":
		spec.fail(e.Text.Pos, "name the variable", "%q is not a valid name for a template variable", e.Key)
	case slices.Contains(lynq.PredefinedVariables(), e.Key):
		spec.fail(e.Text.Pos, "choose another name", "variable %q is predefined in every template", e.Key)
	case withHost && (e.Key == "host" || e.Key == "hostOrUrl"):
		spec.fail(e.Text.Pos, "choose another name, or remove valueMappings.hostOrUrl", "variable %q comes from valueMappings.hostOrUrl", e.Key)
	case strings.TrimSpace(e.Text.Text) == "":
		spec.fail(e.Text.Pos, "name a column", "extraValueMappings.%s is empty", e.Key)
	default:
		return true
	}
	return false
}
