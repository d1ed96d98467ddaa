package endpoint

import "slices"

// SourceType names a kind of row source, as LynqHub.spec.source.type has it.
type SourceType string

// The types of sources, which Kinds describes.
const (
	SourceMySQL      SourceType = "mysql"
	SourcePostgreSQL SourceType = "postgresql"
	SourceSQLite     SourceType = "sqlite"
	SourceCSV        SourceType = "csv"
	SourceJSON       SourceType = "json"
	SourceHTTP       SourceType = "http"
)

// Kind describes a type of source: everything that tells it from other types, except how its
// rows are read. Package source has that.
type Kind struct {
	Type SourceType
	Name string // in messages
	// Reads says in a sentence what the rows are. Schema and docs have it.
	Reads string
	// Block has the fields of the source in a hub.
	Block Block
	// Schemes are those of its URLs. Others are products with the same ones.
	Schemes, Others []string
	// Extensions are those of the names of its files.
	Extensions []string
	// Parameters are names that other programs have for parameters of its URLs.
	Parameters map[string]string
	// Port is the usual one of its servers.
	Port int
	// SQL says how it reads conditions; nil is that it has no tables.
	SQL *Dialect
}

// Block names the fields that a type of source has in a hub. It is a definition of the
// schema. Types with one block have the same fields.
type Block string

// The blocks. Each has its own code in package form.
const (
	ServerBlock       Block = "server"
	DatabaseFileBlock Block = "databaseFile"
	CSVBlock          Block = "csv"
	JSONBlock         Block = "json"
	HTTPBlock         Block = "http"
)

// Dialect says what the SQL of a source reads in its own way.
type Dialect struct {
	Quotes    string // what begins a quoted name, besides "
	Variables string // what begins a variable, a parameter, or a text between dollars
	Hash      bool   // # begins a comment
	Backslash bool   // in a text, a backslash takes the next character
	Escapes   bool   // E before a text gives its backslashes a meaning
}

// Kinds returns all types of sources, in the order of messages.
func Kinds() []Kind {
	return []Kind{
		{
			Type: SourceMySQL, Name: "MySQL", Reads: "A table or view of MySQL, MariaDB or TiDB.", Block: ServerBlock, Port: 3306,
			Schemes: []string{"mysql"}, Others: []string{"MariaDB", "TiDB"},
			SQL: &Dialect{Quotes: "`", Variables: "$?@", Hash: true, Backslash: true},
		},
		{
			Type: SourcePostgreSQL, Name: "PostgreSQL", Reads: "A table or view of PostgreSQL.", Block: ServerBlock, Port: 5432,
			Schemes: []string{"postgres", "postgresql"}, Parameters: map[string]string{"sslmode": "tls", "sslrootcert": "ca", "sslcert": "cert", "sslkey": "key"},
			SQL: &Dialect{Variables: "$", Escapes: true},
		},
		{
			Type: SourceSQLite, Name: "SQLite", Reads: "A table or view of a SQLite file.", Block: DatabaseFileBlock,
			Schemes: []string{"sqlite"}, Extensions: []string{".db", ".sqlite", ".sqlite3"},
			SQL: &Dialect{Quotes: "`[", Variables: "$?@:"},
		},
		{
			Type: SourceCSV, Name: "CSV", Reads: "A CSV file with a header row.", Block: CSVBlock,
			Schemes: []string{"csv"}, Extensions: []string{".csv"},
		},
		{
			Type: SourceJSON, Name: "JSON", Reads: "A JSON array of objects, NDJSON, or a YAML list.", Block: JSONBlock,
			Schemes: []string{"json", "yaml"}, Extensions: []string{".json", ".ndjson", ".jsonl", ".yaml", ".yml"},
		},
		{
			Type: SourceHTTP, Name: "HTTP", Reads: "An API that answers with JSON over HTTP.", Block: HTTPBlock,
			Schemes: []string{"http", "https"},
		},
	}
}

// Types returns the names of all types of sources, in the order of messages.
func Types() []SourceType {
	var types []SourceType
	for _, k := range Kinds() {
		types = append(types, k.Type)
	}
	return types
}

// Kind describes a type. An unknown type has nothing.
func (t SourceType) Kind() Kind {
	kinds := Kinds()
	if i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Type == t }); i >= 0 {
		return kinds[i]
	}
	return Kind{Type: t}
}

// HasServer reports whether a type leads to a server of a database or an API.
func (t SourceType) HasServer() bool {
	block := t.Kind().Block
	return block == ServerBlock || block == HTTPBlock
}

// HasSQL reports whether a type reads tables, with a condition for their rows.
func (t SourceType) HasSQL() bool { return t.Kind().SQL != nil }
