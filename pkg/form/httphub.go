package form

import (
	"strconv"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// readHTTP reads the block of an API.
func readHTTP(o *object, hub *Hub, _ *endpoint.Kind) {
	c := &hub.Source
	location := o.needText("url")
	c.TLS = enum(o, "tls", c.TLS)
	if location.Text != "" {
		if what, fix := endpoint.CheckHTTPURL(location.Text, c.TLS); what != "" {
			o.fail(location.Pos, fix, "%s %s", o.name("url"), what)
		}
	}
	c.HTTP.URL = location.Text
	ca := o.text("caFile")
	if ca.IsSet() && c.TLS == endpoint.TLSDisable {
		o.fail(ca.Pos, "write https:// and remove tls: disable, or remove it", "%s has no effect without TLS", o.name("caFile"))
	}
	c.CAFile = beside(ca)
	readCredentials(o, hub)
	c.HTTP.Lines = enum(o, "format", "json") == "lines"
	c.HTTP.Items, c.HTTP.Next, c.HTTP.Total = filled(o, "items"), filled(o, "next"), filled(o, "total")
	c.HTTP.NextParameter = filled(o, "nextParameter")
	c.HTTP.Whole, c.HTTP.Once = !isOn(o, "pages"), !isOn(o, "recheck")
	if names := [...]string{"next", "nextParameter"}; c.HTTP.Whole {
		for _, name := range names {
			if t := o.text(name); t.IsSet() {
				o.fail(t.Pos, "remove one of them", "%s does not go with pages: false", o.name(name))
			}
		}
	}
	c.HTTP.MaxBytes, c.HTTP.Timeout = readSize(o), readTimeout(o)
}

// readCredentials reads the credentials of a hub's requests.
func readCredentials(o *object, hub *Hub) {
	c := &hub.Source
	user := filled(o, "username")
	c.Username = user
	password, token := readSecret(o, "password"), readSecret(o, "token")
	hub.Certificate = readCertificate(o)
	switch {
	case password.Pos.File != "" && user == "":
		o.fail(password.Pos, "set username; a bearer token goes into tokenFrom or tokenRef", "%s has a password without a username", o.path)
	case token.Pos.File != "" && user != "":
		o.fail(token.Pos, "remove the token or the username", "%s has a token and a username, and a request can have one of them", o.path)
	case strings.Contains(user, ":"):
		o.fail(o.get("username").Pos, "remove it", "%s holds a colon, which ends a user's name in a request", o.name("username"))
	case user != "":
		c.HTTP.Auth, hub.Password = endpoint.BasicAuth, password
	case token.Pos.File != "":
		c.HTTP.Auth, hub.Password = endpoint.BearerAuth, token
	}
}

// readCertificate reads certificateFrom, or else certificateRef.
func readCertificate(o *object) CertificateSource {
	from, ref := o.object("certificateFrom"), o.object("certificateRef")
	var result CertificateSource
	if ref != nil {
		result = CertificateSource{Pos: ref.value.Pos, SecretName: ref.needText("name").Text}
		ref.done()
	}
	if from != nil {
		env, file, key := from.text("env"), from.text("file"), from.text("keyFile")
		switch {
		case from.value.Kind != document.Map:
		case (env.Text == "") == (file.Text == ""):
			from.fail(from.value.Pos, "write env: NAME or file: PATH", "%s needs exactly one of env and file", from.path)
		case key.IsSet() && (file.Text == "" || key.Text == ""):
			from.fail(key.Pos, "name the file with the key, or remove it", "%s goes with file", from.name("keyFile"))
		}
		from.done()
		result = CertificateSource{Pos: from.value.Pos, Env: env.Text, File: beside(file), KeyFile: beside(key)}
	}
	return result
}

// filled returns the text at an optional field, and refuses a blank text.
func filled(o *object, field string) string {
	t := o.text(field)
	if t.IsSet() && strings.TrimSpace(t.Text) == "" {
		o.fail(t.Pos, "fill it in, or remove it", "%s is empty", o.name(field))
	}
	return t.Text
}

// isOn returns the boolean at a field. The default is true.
func isOn(o *object, field string) bool { return o.get(field) == nil || o.boolean(field) }

// readSize reads the limit for the bytes of all answers.
func readSize(o *object) int64 {
	t := o.text("maxSize")
	if !t.IsSet() {
		return 0
	}
	if !o.matches("maxSize", t) {
		o.fail(t.Pos, "write a number and Mi or Gi, such as 256Mi", "%s %s is not a size", o.name("maxSize"), phrase.Quote(t.Text))
		return 0
	}
	digits, isGi := strings.CutSuffix(t.Text, "Gi")
	n, _ := strconv.ParseInt(strings.TrimSuffix(digits, "Mi"), 10, 64) // at most four digits
	if isGi {
		return n << 30
	}
	return n << 20
}

// readTimeout reads the time limit for all answers.
func readTimeout(o *object) time.Duration {
	t := o.text("timeout")
	if !t.IsSet() {
		return 0
	}
	d, err := time.ParseDuration(t.Text)
	if err != nil || !o.matches("timeout", t) {
		o.fail(t.Pos, "write a number and s, m or h, such as 5m", "%s %s is not a time", o.name("timeout"), phrase.Quote(t.Text))
	}
	return d
}
