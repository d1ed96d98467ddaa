package form

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// hubFields returns a hub with all its fields.
func hubFields() Field {
	return aroundSpec(wellknown.KindHub, "Where the rows are, and which column means what.", "hub", nil, []Field{
		sourceField(),
		mappingsField(),
		{Name: "extraValueMappings", Type: MapField, Doc: "Template variable: column.", Rules: `"propertyNames": {"pattern": "\\S", "not": ` + predefined() + `}, "additionalProperties": {"type": "string", "pattern": "\\S"}`},
		lookupsField(),
		{Name: "secretColumns", Type: ListField, Pattern: notBlankPattern, Rules: `"uniqueItems": true`, Doc: "Mapped columns whose values no output shows, except for rendered manifests."},
		{Name: "namespaceDefaults", Type: ListField, Doc: "What is in namespaces by itself on the hub's clusters, and keeps no Namespace from being deleted.", Fields: []Field{
			{Name: "kind", Required: true, Pattern: `^(` + strings.Join(coreKinds(), "|") + `|[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?\.[a-z0-9]([a-z0-9.-]*[a-z0-9])?)$`, Doc: "A kind, with .GROUP behind it where that is not the core group."},
			{Name: "name", Required: true, Pattern: `^[^/\s]+$`, Doc: "A name, with * for any characters."},
		}},
		excludeField(),
		graceFieldOf("How long nodes are kept after their rows have gone, such as 72h; a form may say another time."),
	})
}

// predefined is the rule of names that every template has.
func predefined() string {
	return `{"enum": ["` + strings.Join(lynq.PredefinedVariables(), `", "`) + `"]}`
}

// sourceField returns the types of sources with their blocks.
func sourceField() Field {
	types := Field{Name: "type"}
	source := Field{Name: "source", Type: ChoiceField, Required: true, Doc: "Where the rows are: a type, and the block of that name.", Fields: []Field{
		{Name: "syncInterval", Pattern: intervalPattern, Doc: "How often watch reads the rows; 30s if it is not set."},
		{},
	}}
	for _, k := range endpoint.Kinds() {
		types.Words = append(types.Words, string(k.Type))
		block := Field{Name: string(k.Type), Type: ObjectField, Doc: k.Reads, Shared: string(k.Block)}
		of := blockOf(k.Block)
		block.Fields, block.Rules = of.fields, of.rules
		source.Fields = append(source.Fields, block)
	}
	source.Fields[1] = types
	return source
}

func mappingsField() Field {
	return Field{Name: "valueMappings", Type: ObjectField, Required: true, Doc: "Columns that every hub needs.", Rules: `"dependencies": {"activeValues": {"required": ["activate"]}, "inactiveValues": {"required": ["activeValues"]}}`, Fields: []Field{
		{Name: "uid", Required: true, Doc: "The column that identifies a row."},
		{Name: "activate", Pattern: notBlankPattern, Doc: "The column that tells whether a row is active: 1 true yes t on, or 0 false no f off. Without it, every row is active."},
		{Name: "activeValues", Type: ListField, Rules: `"minItems": 1`, Doc: "The values of the activation column that make a row active, in the place of 1 true yes t on."},
		{Name: "inactiveValues", Type: ListField, Doc: "The values that make a row inactive; an empty string is NULL, too. Any other value is an error."},
		{Name: "expires", Doc: "The column with the time from which a row counts as inactive; empty values are never."},
		{Name: "previousUid", Doc: "The column with the uid that a row had before. lynqctl keeps its node, with its objects. Empty values, and the row's own uid, are none."},
		{Name: "hostOrUrl", Doc: "Deprecated: write it as extraValueMappings.hostOrUrl."},
	}}
}

func lookupsField() Field {
	return Field{Name: "lookups", Type: ListField, Doc: "More values for templates, which a column of the row chooses.", Rules: `"oneOf": [{"required": ["file"]}, {"required": ["values"]}, {"required": ["table"]}], "dependencies": {"table": {"required": ["key"]}, "key": {"required": ["table"]}}`, Fields: []Field{
		{Name: "column", Required: true, Doc: "The column of the row whose value chooses an entry."},
		{Name: "file", Pattern: notBlankPattern, Doc: "A YAML file of entries, in the directory of the hub's file or below it."},
		{Name: "name", Required: true, Pattern: `^[A-Za-z_][A-Za-z0-9_]*$`, Rules: `"not": ` + predefined(), Doc: "The variable of templates, as in .NAME.FIELD."},
		{Name: "table", Pattern: notBlankPattern, Doc: "A table of the same database."},
		{Name: "key", Pattern: notBlankPattern, Doc: "The column of the table with the values of column."},
		{Name: "values", Type: MapField, Doc: "The entries by the value of the column. All have the same fields.", Rules: `"minProperties": 1, "additionalProperties": {"type": "object", "minProperties": 1, "additionalProperties": {"not": {"oneOf": [{"type": "object"}, {"type": "array"}]}}}`},
		{Name: "secretColumns", Type: ListField, Doc: "Fields whose values no output shows."},
	}}
}

// sourceBlock has the fields that a type of source has in a hub, and reads them.
type sourceBlock struct {
	fields []Field
	rules  string // Field.Rules
	read   func(o *object, hub *Hub, kind *endpoint.Kind)
}

// blockOf returns the block of a type of source.
func blockOf(b endpoint.Block) sourceBlock {
	where := Field{Name: "where", Pattern: notBlankPattern, Rules: `"maxLength": 4096`, Doc: "An SQL condition for the rows of the table: one expression in the server's SQL."}
	path := Field{Name: "path", Required: true, Doc: "The file, - for standard input; a relative path begins at the hub's file."}
	switch b {
	case endpoint.ServerBlock:
		const rules = `"dependencies": {"caFile": {"properties": {"tls": {"enum": ["verify-full"]}}}, "certificateFrom": ` + encrypted + `, "certificateRef": ` + encrypted + `}`
		return sourceBlock{serverFields(where), rules, readServer}
	case endpoint.DatabaseFileBlock:
		return sourceBlock{[]Field{
			{Name: "path", Required: true, Doc: "The file; a relative path begins at the hub's file."},
			{Name: "table", Required: true, Doc: "A table or view."},
			where,
		}, "", readDatabaseFile}
	case endpoint.CSVBlock:
		return sourceBlock{[]Field{path, {Name: "separator", Words: endpoint.Separators(), Doc: "The character between values (default ,)."}}, "", readCSV}
	case endpoint.JSONBlock:
		return sourceBlock{[]Field{path, {Name: "items", Pattern: notBlankPattern, Doc: "Field with the rows, where the file has an object around them; a dot leads into an object."}}, "", readJSON}
	case endpoint.HTTPBlock:
		return sourceBlock{httpFields(), httpRules, readHTTP}
	}
	return sourceBlock{}
}

// encrypted is the rule of fields that need TLS.
const encrypted = `{"not": {"properties": {"tls": {"enum": ["disable"]}}, "required": ["tls"]}}`

func serverFields(where Field) []Field {
	var ports []string
	for _, k := range endpoint.Kinds() {
		if k.Block == endpoint.ServerBlock {
			ports = append(ports, fmt.Sprintf("%d for %s", k.Port, k.Type))
		}
	}
	return slices.Concat([]Field{
		{Name: "host", Required: true, Doc: "Name or address of the server, or a Unix socket that begins with / or @."},
		{Name: "port", Type: NumberField, Low: 1, High: 65535, Doc: "Port of the server (default " + strings.Join(ports, ", ") + ")."},
		{Name: "username", Required: true, Doc: "Who reads; the right to SELECT from the table is enough."},
		{Name: "database", Required: true, Doc: "Database of the table."},
		{Name: "table", Required: true, Doc: "A table or view; schema.table is allowed."},
		where,
		{Name: "tls", Words: []string{string(endpoint.TLSDisable), string(endpoint.TLSPrefer), string(endpoint.TLSRequire), string(endpoint.TLSVerifyFull)}, Doc: "How the connection is protected (default verify-full where lynqctl sends a password to another machine or caFile is set, else prefer)."},
		{Name: "caFile", Doc: "PEM file of the authorities to verify the server with; only with tls: verify-full, which it makes the default."},
	}, secretFields("password", "password"), certificateFields())
}

// secretFields returns where a secret is.
func secretFields(name, what string) []Field {
	return []Field{
		{Name: name + "From", Type: ObjectField, Shared: "secretFrom", Rules: `"minProperties": 1, "maxProperties": 1`, Doc: "Where the " + what + " is: exactly one of these.", Fields: []Field{
			{Name: "env", Rules: `"minLength": 1`, Doc: "An environment variable."},
			{Name: "file", Rules: `"minLength": 1`, Doc: "A file; a relative path begins at the hub's file."},
			{Name: "exec", Type: ObjectField, Doc: "A program that prints it, without a shell; each reading of rows runs it.", Fields: []Field{
				{Name: "command", Type: ListField, Required: true, Rules: `"minItems": 1`, Doc: "The program and its arguments; a path begins at the hub's file."},
			}},
		}},
		{Name: name + "Ref", Type: ObjectField, Shared: "secretRef", Doc: "A key of a Secret, in the inputs or in the cluster.", Fields: []Field{
			{Name: "name", Required: true, Doc: "The Secret."},
			{Name: "key", Required: true, Doc: "The key in it."},
		}},
	}
}

func certificateFields() []Field {
	return []Field{
		{Name: "certificateFrom", Type: ObjectField, Shared: "certificateFrom", Doc: "Where a client's certificate and key are, as PEM: exactly one of env and file.", Rules: `"minProperties": 1, "oneOf": [{"required": ["env"]}, {"required": ["file"]}], "dependencies": {"keyFile": {"required": ["file"]}}`, Fields: []Field{
			{Name: "env", Rules: `"minLength": 1`, Doc: "An environment variable with both."},
			{Name: "file", Rules: `"minLength": 1`, Doc: "A file with both, or with the certificate; a relative path begins at the hub's file."},
			{Name: "keyFile", Rules: `"minLength": 1`, Doc: "A file with the key."},
		}},
		{Name: "certificateRef", Type: ObjectField, Shared: "certificateRef", Doc: "A Secret of type kubernetes.io/tls, in the inputs or in the cluster.", Fields: []Field{
			{Name: "name", Required: true, Doc: "The Secret."},
		}},
	}
}

// httpRules say which fields of an API go together.
const (
	withUser  = `{"required": ["username"]}`
	withPages = `{"not": {"properties": {"pages": {"enum": [false]}}, "required": ["pages"]}}`
	httpRules = `"oneOf": [
		{"required": ["tls"]},
		{"not": {"required": ["tls"]}, "properties": {"url": {"pattern": "^(https://|http://(localhost|127\\.[0-9.]+|\\[::1\\])(:[0-9]+)?([/?#]|$))"}}}
	],
	"dependencies": {
		"passwordFrom": ` + withUser + `, "passwordRef": ` + withUser + `,
		"tokenFrom": {"not": ` + withUser + `}, "tokenRef": {"not": ` + withUser + `},
		"caFile": ` + encrypted + `,
		"next": ` + withPages + `, "nextParameter": ` + withPages + `,
		"tls": {"oneOf": [
			{"properties": {"tls": {"enum": ["disable"]}, "url": {"pattern": "^http://"}}},
			{"properties": {"tls": {"enum": ["verify-full"]}, "url": {"pattern": "^https://"}}}
		]}
	}`
)

func httpFields() []Field {
	return slices.Concat([]Field{
		{Name: "url", Required: true, Pattern: `^https?://[^\s@/?#]+([/?#]\S*)?$`, Doc: "Where the first page is; without user, password or token."},
		{Name: "tls", Words: []string{string(endpoint.TLSDisable), string(endpoint.TLSVerifyFull)}, Doc: "disable needs http://. Without it, lynqctl asks only this machine by http://."},
		{Name: "caFile", Doc: "PEM file of the authorities to verify the server with; without it the system's count."},
		{Name: "username", Pattern: `^[^:]*[^\s:][^:]*$`, Doc: "Who reads, with a password (basic auth)."},
	}, secretFields("password", "password"), secretFields("token", "bearer token"), certificateFields(), []Field{
		{Name: "format", Words: []string{"json", "lines"}, Doc: "lines: each line of an answer is a row, whatever its content type (default json)."},
		{Name: "items", Pattern: notBlankPattern, Doc: "Field with the rows, where an answer is an object; a dot leads into an object (default items)."},
		{Name: "next", Pattern: notBlankPattern, Doc: "Field that leads to the next page; missing, null or empty is the end (default next, which must then exist)."},
		{Name: "total", Pattern: notBlankPattern, Doc: "Field with the number of all rows, which lynqctl compares with those it read."},
		{Name: "nextParameter", Pattern: notBlankPattern, Doc: "Parameter of the URL that takes the value of next; without it the value is a URL."},
		{Name: "pages", Type: FlagField, Doc: "false: the first answer has all rows (default true)."},
		{Name: "recheck", Type: FlagField, Doc: "false: lynqctl doesn't read several pages a second time to see whether they changed (default true)."},
		{Name: "maxSize", Pattern: `^[1-9][0-9]{0,3}(Mi|Gi)$`, Doc: "How many bytes all answers may have (default 256Mi)."},
		{Name: "timeout", Pattern: `^[1-9][0-9]{0,5}(s|m|h)$`, Doc: "How long all answers may take (default 5m)."},
	})
}
