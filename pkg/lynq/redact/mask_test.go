package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

func TestMask(t *testing.T) {
	pem := "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA7\n-----END KEY-----\n"
	m := New("hunter2!<x>", "hunter2!", "ab", "", "  ", "quo\"ted\\", pem, `{"user":"u1","keys":["deep-secret"]}`)
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
		{"line MIIEpAIBAAKCAQEA7", "line •••"},
		{"url user:hunter2%21@db", "url user:•••@db"},
		{phrase.OneLine("a " + pem), "a •••"},
	} {
		if got := m.Hide(test.text); got != test.want {
			t.Errorf("%s: %q, want %q", test.text, got, test.want)
		}
	}
	if got := Mask(nil).Hide("hunter2!"); got != "hunter2!" {
		t.Errorf("no mask hides: %q", got)
	}
	if got := Of(m.Context(t.Context())).Hide("is deep-secret"); got != "is •••" {
		t.Errorf("a context has another mask: %q", got)
	}
	if Of(Mask(nil).Context(t.Context())) != nil {
		t.Error("a context has a mask that it was not given")
	}
}

// TestMaskEncoded: no encoding of a text around a value shows six bytes of it.
func TestMaskEncoded(t *testing.T) {
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
