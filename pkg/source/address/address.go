package address

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// Parse returns the connection that raw describes, in one of these forms:
//
//	mysql://USER:PASSWORD@HOST:PORT/DATABASE?table=T&tls=MODE&ca=FILE&cert=FILE&key=FILE
//	mysql:///DATABASE?host=/SOCKET
//	postgres://…, postgresql://… with the same parts
//	http://…, https://… of an API, without a user
//	sqlite:PATH?table=T
//	csv:PATH, json:PATH, yaml:PATH, with - for standard input
//	PATH, whose extension shows the type
//
// base supplies the table if raw has none, and always the condition for its rows. If both
// have one type, base also supplies missing values of user, password, database, TLS, and the
// settings of an API or a file. Errors never quote raw, because it may have a password.
func Parse(raw string, base endpoint.Connection) (endpoint.Connection, error) {
	scheme, rest, found := strings.Cut(raw, ":")
	if kind := kindOf(func(k *endpoint.Kind) bool { return slices.Contains(k.Schemes, scheme) }); found && kind != nil {
		switch kind.Block {
		case endpoint.ServerBlock:
			return parseServer(kind, raw, base)
		case endpoint.HTTPBlock:
			return parseHTTP(raw, base)
		}
		return parseFile(kind.Type, withoutSlashes(rest), base)
	}
	if found && strings.HasPrefix(rest, "//") {
		return endpoint.Connection{}, unknownScheme()
	}
	path, _, _ := strings.Cut(raw, "?")
	for _, name := range []string{raw, path} {
		extension := strings.ToLower(filepath.Ext(name))
		if kind := kindOf(func(k *endpoint.Kind) bool { return slices.Contains(k.Extensions, extension) }); kind != nil {
			return parseFile(kind.Type, raw, base)
		}
	}
	return endpoint.Connection{}, noURL()
}

// kindOf returns the type of source that fits, or nil.
func kindOf(fits func(k *endpoint.Kind) bool) *endpoint.Kind {
	for _, k := range endpoint.Kinds() {
		if fits(&k) {
			return &k
		}
	}
	return nil
}

// unknownScheme returns the error for a URL with another scheme than ours.
func unknownScheme() error {
	var servers, files []string
	for _, k := range endpoint.Kinds() {
		if !k.Type.HasServer() {
			files = append(files, k.Schemes...)
			continue
		}
		servers = append(servers, k.Schemes...)
		if len(k.Others) > 0 {
			servers = append(servers, "also for "+strings.Join(k.Others, " and "))
		}
	}
	return fmt.Errorf("the URL's scheme is unknown (use %s)", strings.Join(slices.Concat(servers, files), ", "))
}

// noURL returns the error for a text without a scheme, and without an extension of ours.
func noURL() error {
	var servers, files, rows, databases []string
	for _, k := range endpoint.Kinds() {
		switch k.Block {
		case endpoint.ServerBlock:
			servers = append(servers, k.Schemes[0]+"://")
		case endpoint.HTTPBlock:
			servers = append(servers, "https://")
		default:
			files = append(files, strings.Join(k.Schemes, ":PATH, ")+":PATH")
		}
		if k.SQL != nil {
			databases = append(databases, k.Extensions...)
		} else {
			rows = append(rows, k.Extensions...)
		}
	}
	extensions := slices.Concat(rows, databases)
	last := len(extensions) - 1
	return fmt.Errorf("it is no URL (%s, csv:- for standard input), and no file named %s or %s",
		strings.Join(slices.Concat(servers, files), ", "), strings.Join(extensions[:last], ", "), extensions[last])
}

// withoutSlashes removes the slashes of an empty host, so that sqlite:///a/b is the path
// /a/b.
func withoutSlashes(rest string) string { return strings.TrimPrefix(rest, "//") }

// parseFile returns a connection to a file. Only a database takes a parameter.
func parseFile(kind endpoint.SourceType, rest string, base endpoint.Connection) (endpoint.Connection, error) {
	c := endpoint.Connection{Type: kind, Path: rest, Table: base.Table, Where: base.Where}
	if base.Type == kind {
		c.File = base.File
	}
	if kind.HasSQL() {
		path, query, _ := strings.Cut(rest, "?")
		values, err := parseParameters(query, "table")
		if err != nil {
			return endpoint.Connection{}, err
		}
		c.Path = path
		if table := values.Get("table"); table != "" {
			c.Table = table
		}
	}
	if c.Path == "" {
		return endpoint.Connection{}, fmt.Errorf("no path after %s", kind+":")
	}
	return c, nil
}

// parseHTTP returns a connection to an API.
func parseHTTP(raw string, base endpoint.Connection) (endpoint.Connection, error) {
	c := endpoint.Connection{Type: endpoint.SourceHTTP, Table: base.Table, Where: base.Where}
	if base.Type == c.Type {
		c = base
	}
	if strings.HasPrefix(raw, "https:") && c.TLS == endpoint.TLSDisable {
		c.TLS = ""
	}
	if what, fix := endpoint.CheckHTTPURL(raw, c.TLS); what != "" {
		return endpoint.Connection{}, fmt.Errorf("the URL %s (%s)", what, fix)
	}
	c.HTTP.URL = raw
	return c, nil
}

// parseServer returns a connection to a database server.
func parseServer(kind *endpoint.Kind, raw string, base endpoint.Connection) (endpoint.Connection, error) {
	u, err := splitURL(raw)
	if err != nil {
		return endpoint.Connection{}, err
	}
	c := endpoint.Connection{Type: kind.Type, Host: u.Hostname(), Port: kind.Port, Table: base.Table, Where: base.Where}
	if base.Type == kind.Type {
		c.Username, c.Password, c.Database = base.Username, base.Password, base.Database
		c.TLS, c.CAFile = base.TLS, base.CAFile
	}
	if text := u.Port(); text != "" {
		if c.Port, err = strconv.Atoi(text); err != nil || c.Port < 1 || c.Port > 65535 {
			return endpoint.Connection{}, errors.New("the port is not a number from 1 to 65535")
		}
	}
	if u.User != nil {
		if name := u.User.Username(); name != "" {
			c.Username = name
		}
		if password, ok := u.User.Password(); ok {
			c.Password = endpoint.Secret(password)
		}
	}
	if database := strings.TrimPrefix(u.Path, "/"); database != "" {
		c.Database = database
	}
	if c, err = withParameters(c, kind.Parameters, u.RawQuery); err == nil && c.Host == "" {
		err = fmt.Errorf("no host (write %[1]s://HOST/DATABASE, or %[1]s:///DATABASE?host=/SOCKET)", kind.Type)
	}
	if err != nil {
		return endpoint.Connection{}, err
	}
	return c, nil
}

// splitURL is url.Parse without its errors, because these quote the URL. It also doesn't
// guess where a password ends.
func splitURL(raw string) (*url.URL, error) {
	_, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return nil, errors.New("write //HOST after the scheme of a server")
	}
	encode := "percent-encode special characters in user, password and database: @ is %40, / is %2F, ? is %3F, # is %23, : is %3A, % is %25"
	authority := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = i
	}
	// A later @ means that the password has one of these characters. Host and database
	// would then contain a part of the password.
	if strings.ContainsAny(rest[authority:], "@#") {
		return nil, fmt.Errorf("there is an @ or # after the host (%s)", encode)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("the URL can't be parsed (%s)", encode)
	}
	if strings.Contains(strings.TrimPrefix(u.EscapedPath(), "/"), "/") {
		return nil, fmt.Errorf("more than a database after the host (%s)", encode)
	}
	return u, nil
}

// withParameters returns c with the parameters of a server's URL. names are those that other
// programs have for them.
func withParameters(c endpoint.Connection, names map[string]string, query string) (endpoint.Connection, error) {
	allowed := append([]string{"table", "tls", "ca", "cert", "key", "host"}, slices.Sorted(maps.Keys(names))...)
	values, err := parseParameters(query, allowed...)
	if err != nil {
		return c, err
	}
	for other, name := range names {
		if values.Has(other) && values.Has(name) {
			return c, fmt.Errorf("parameters %s and %s mean the same (remove one of them)", name, other)
		}
		if values.Has(other) {
			values.Set(name, values.Get(other))
		}
	}
	if table := values.Get("table"); table != "" {
		c.Table = table
	}
	if host := values.Get("host"); host != "" {
		if c.Host != "" || !strings.HasPrefix(host, "/") && !strings.HasPrefix(host, "@") {
			return c, errors.New("host= is for a Unix socket, in a URL without a host (write host=/PATH or host=@NAME)")
		}
		if c.Host = host; !values.Has("tls") {
			c.TLS, c.CAFile = "", "" // a socket has none
		}
	}
	return withTLS(c, values)
}

// withTLS returns c with the parameters for TLS.
func withTLS(c endpoint.Connection, values url.Values) (endpoint.Connection, error) {
	if values.Has("tls") {
		mode, err := tlsMode(values.Get("tls"))
		if err != nil {
			return c, err
		}
		// A mode that checks no certificate doesn't need the hub's authority.
		if c.TLS, c.CAFile = mode, ""; mode == endpoint.TLSVerifyFull {
			c.CAFile = values.Get("ca")
		}
	}
	if ca := values.Get("ca"); ca != "" {
		if c.CAFile = ca; c.TLS != "" && c.TLS != endpoint.TLSVerifyFull {
			return c, errors.New("ca needs tls=verify-full, the only mode that checks who answers")
		}
	}
	c.CertFile, c.KeyFile = values.Get("cert"), values.Get("key")
	if c.KeyFile != "" && c.CertFile == "" {
		return c, errors.New("key needs cert, the file of the client's certificate")
	}
	return c, nil
}

// tlsMode returns the mode of a word, also of the words of MySQL's drivers.
func tlsMode(word string) (endpoint.TLSMode, error) {
	modes := map[string]endpoint.TLSMode{"true": endpoint.TLSVerifyFull, "false": endpoint.TLSDisable, "skip-verify": endpoint.TLSRequire, "preferred": endpoint.TLSPrefer}
	for _, mode := range []endpoint.TLSMode{endpoint.TLSDisable, endpoint.TLSPrefer, endpoint.TLSRequire, endpoint.TLSVerifyFull} {
		modes[string(mode)] = mode
	}
	mode, known := modes[word]
	switch {
	case known:
		return mode, nil
	case word == "verify-ca":
		return "", errors.New("tls=verify-ca checks no host name, and lynqctl doesn't support it (use verify-full)")
	}
	return "", fmt.Errorf("tls=%s is unknown (use disable, prefer, require and verify-full)", word)
}

// parseParameters parses a query. It accepts the allowed names, each once.
func parseParameters(query string, allowed ...string) (url.Values, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("lynqctl can't parse the text after the question mark (write name=value&name=value, special characters percent-encoded)")
	}
	if values.Has("where") {
		return nil, errors.New("a URL can't have where (set it in the hub, and it counts for --source too)")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(allowed, name) {
			return nil, fmt.Errorf("parameter %q is not known (allowed: %s)", name, strings.Join(allowed, ", "))
		}
		if len(values[name]) > 1 {
			return nil, fmt.Errorf("parameter %q appears twice", name)
		}
	}
	return values, nil
}
