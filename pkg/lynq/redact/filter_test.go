package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

func TestHide(t *testing.T) {
	pem := "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA7\n-----END KEY-----\n"
	m := New("hunter2!<x>", "hunter2!", "ab", "", "  ", "quo\"ted\\", pem, `{"user":"u1","keys":["deep-secret"]}`, "abcd", "acme-prod", "it's mine", "two blanks here!")
	m.Publish("acme-prod")
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"nothing", "nothing"},
		{"is hunter2! and hunter2!<x>", "is ••• and •••"},
		{`Invalid value: "hunter2!"`, `Invalid value: "•••"`},
		{"hunter2", "hunter2"}, // a part is no value
		{"absent ab cab", "absent ab cab"},
		{`value "ab", 'ab', \"ab\", ` + "`ab`", `value "•••", '•••', \"•••\", ` + "`•••`"},
		{"value quo\"ted\\", "value •••"},
		{fmt.Sprintf("%q", `quo"ted\`), `"•••"`},
		{fmt.Sprintf("%q", fmt.Sprintf("%q", `quo"ted\`)), `"\"•••\""`},
		{"is deep-secret", "is •••"},
		{"the abcd of xabcd, abcd-1 (abcd)", "the ••• of xabcd, abcd-1 (•••)"},
		{"row acme-prod is hunter2!", "row acme-prod is •••"},
		{"begins with hunter2… and hunter2!<... (", "begins with •••… and •••... ("},
		{`is "hunter2!<"… (3 more bytes)`, `is "•••"… (3 more bytes)`},
		{"HTML hunter2!&lt;x&gt; and hunter2!&#60;x&#x3e;", "HTML ••• and •••"},
		{"hex 68756e7465723221 and 68756E7465723221", "hex ••• and •••"},
		{`YAML 'it''s mine' and SQL 'it''s mine'`, `YAML '•••' and SQL '•••'`},
		{"?q=two+blanks+here%21&x=1", "?q=•••&x=1"},
		{`{"a":"two blanks here\u0021"}`, `{"a":"•••"}`},
		{"aHVudGVyMiE...", "•••..."},
		{"line MIIEpAIBAAKCAQEA7", "line •••"},
		{"url user:hunter2%21@db", "url user:•••@db"},
		{phrase.OneLine("a " + pem), "a •••"},
	} {
		t.Run(test.text, func(t *testing.T) {
			if got := m.Hide(test.text); got != test.want {
				t.Errorf("%s: %q, want %q", test.text, got, test.want)
			}
		})
	}
	if got := (*Filter)(nil).Hide("hunter2!"); got != "hunter2!" {
		t.Errorf("no filter hides: %q", got)
	}
}

// TestHideEncoded: no encoding of a text around a value shows six bytes of it.
func TestHideEncoded(t *testing.T) {
	const secret = "C4nary-\"<&>-Välue+/=0"
	m := New(secret)
	for before := range 5 {
		for behind := range 5 {
			text := strings.Repeat("x", before) + secret + strings.Repeat("y", behind)
			for name, encode := range map[string]func([]byte) string{
				"std": base64.StdEncoding.EncodeToString, "url": base64.URLEncoding.EncodeToString,
				"raw": base64.RawStdEncoding.EncodeToString,
			} {
				hidden := m.Hide("is " + encode([]byte(text)))
				if !strings.Contains(hidden, Hidden) {
					t.Errorf("%s, %d before and %d behind: %s", name, before, behind, hidden)
				}
			}
			b, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			if hidden := m.Hide(string(b)); hidden != `"`+strings.Repeat("x", before)+Hidden+strings.Repeat("y", behind)+`"` {
				t.Errorf("JSON, %d before and %d behind: %s", before, behind, hidden)
			}
		}
	}
}

// TestHideNested hides a value in each encoding of each encoding.
func TestHideNested(t *testing.T) {
	const secret = "C4nary-\"<&>-Välue+/=0"
	f := New(secret)
	for first, encode := range encodings() {
		for second, again := range encodings() {
			hidden := f.Hide("is " + again("{"+encode(secret)+"}") + ".")
			if !strings.HasPrefix(hidden, "is ") || !strings.Contains(hidden, Hidden) || len(hidden) > len("is {}.")+40 {
				t.Errorf("%s in %s: %s", first, second, hidden)
			}
		}
	}
}

// encodings are the ways in which texts write values.
func encodings() map[string]func(string) string {
	inJSON := func(s string) string {
		b, _ := json.Marshal(s)
		return string(b)
	}
	return map[string]func(string) string{
		"plain":      strings.Clone,
		"Go":         strconv.Quote,
		"Go, ASCII":  strconv.QuoteToASCII,
		"JSON":       inJSON,
		"query":      url.QueryEscape,
		"path":       url.PathEscape,
		"HTML":       html.EscapeString,
		"hex":        func(s string) string { return hex.EncodeToString([]byte(s)) },
		"base64":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"raw base64": func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
		"URL base64": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
		"YAML":       func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" },
	}
}

// TestLearn learns and hides in turn, as a run does that warns about each row, and again
// in each round of a watch.
func TestLearn(t *testing.T) {
	f := New()
	for range 3 {
		for i := range 3000 {
			v := fmt.Sprintf("secret-of-row-%d", i)
			f.Learn(v)
			if got := f.Hide("x " + v + "0 y"); got != "x "+Hidden+"0 y" && got != "x "+Hidden+" y" {
				t.Fatal(got)
			}
		}
	}
	defer f.read()()
	values := 0
	for _, table := range f.tables {
		values += len(table.values)
	}
	if values != 3000 || len(f.tables) > 12 {
		t.Errorf("%d values in %d tables", values, len(f.tables))
	}
}

// BenchmarkHide hides 10 000 values in a text of 1 MiB, which has one in each 100 lines.
func BenchmarkHide(b *testing.B) {
	f := New()
	for i := range 10_000 {
		f.Learn(fmt.Sprintf("https://tenant:%08x-%08x@db.example.com/", i*7919, i*104729))
	}
	var text strings.Builder
	for i := 0; text.Len() < 1<<20; i++ {
		fmt.Fprintf(&text, "- name: tenant-%d\n  url: https://tenant-%d.example.com\n  digest: %064x\n", i, i, i*7919)
		if i%100 == 0 {
			fmt.Fprintf(&text, "  message: \"no https://tenant:%08x-%08x@db.example.com/\"\n", i*7919, i*104729)
		}
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		f.Hide(text.String())
	}
}
