package controlplane

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"text/template"
)

// Admin is the user that may do everything.
const Admin = "admin"

// user is a person whom the API server knows by a token.
type user struct{ Name, Group, Token string }

// newUsers returns the administrator and three users who may do nothing but
// what the role bindings of a test give them. Tokens are new each time.
func newUsers() []user {
	return []user{
		{Admin, "system:masters", rand.Text()},
		{"editor", "test:users", rand.Text()},
		{"viewer", "test:users", rand.Text()},
		{"restricted", "test:users", rand.Text()},
	}
}

// tokenFile is what the API server reads: token, user, uid, groups.
func tokenFile(users []user) []byte {
	var out bytes.Buffer
	for _, u := range users {
		fmt.Fprintf(&out, "%s,%s,%s,%q\n", u.Token, u.Name, u.Name, u.Group)
	}
	return out.Bytes()
}

// kubeconfig has one context for each user, by the user's name; the first
// user's is the current one.
func kubeconfig(server string, caCert []byte, users []user) ([]byte, error) {
	text, err := template.New("kubeconfig").Parse(`apiVersion: v1
kind: Config
current-context: {{(index .Users 0).Name}}
clusters:
- name: test
  cluster:
    server: {{.Server}}
    certificate-authority-data: {{.CA}}
contexts:
{{- range .Users}}
- name: {{.Name}}
  context: {cluster: test, user: {{.Name}}}
{{- end}}
users:
{{- range .Users}}
- name: {{.Name}}
  user: {token: {{.Token}}}
{{- end}}
`)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = text.Execute(&out, map[string]any{"Server": server, "CA": base64.StdEncoding.EncodeToString(caCert), "Users": users})
	return out.Bytes(), err
}
