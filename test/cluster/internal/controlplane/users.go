package controlplane

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"text/template"
)

// Admin is the user with all permissions.
const Admin = "admin"

// user is a person whom the API server knows by a token.
type user struct{ Name, Group, Token string }

// newUsers returns the administrator, and three users without permissions. Tests give them
// some with role bindings. Each call returns new tokens.
func newUsers() []user {
	return []user{
		{Admin, "system:masters", rand.Text()},
		{"editor", "test:users", rand.Text()},
		{"viewer", "test:users", rand.Text()},
		{"restricted", "test:users", rand.Text()},
	}
}

// tokenFile returns the API server's token file: token, user, uid, groups.
func tokenFile(users []user) []byte {
	var out bytes.Buffer
	for _, u := range users {
		fmt.Fprintf(&out, "%s,%s,%s,%q\n", u.Token, u.Name, u.Name, u.Group)
	}
	return out.Bytes()
}

// kubeconfig returns a kubeconfig with one context for each user, named like the user. The
// first user's is the current one.
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
