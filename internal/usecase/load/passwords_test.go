package load

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// TestPasswordOfOneServer: a password in the environment goes to one server, or to the hub
// that the variable names.
func TestPasswordOfOneServer(t *testing.T) {
	api := func(url, auth string) endpoint.Connection {
		return endpoint.Connection{Type: endpoint.SourceHTTP, HTTP: endpoint.HTTPRows{URL: url, Auth: endpoint.HTTPAuth(auth)}}
	}
	db := func(host string, port int) endpoint.Connection {
		return endpoint.Connection{Type: endpoint.SourcePostgreSQL, Host: host, Port: port, Username: host}
	}
	const plain, bearer = endpoint.PasswordVariable, "bearer"
	withPassword := db("b", 0)
	withPassword.Password = "p"
	for name, tt := range map[string]struct {
		crm, eu endpoint.Connection
		set     string
		want    string // of both hubs
		err     string
	}{
		"none set":               {db("a", 0), db("b", 0), "", " ", ""},
		"one server":             {db("a", 0), db("a", 5432), plain, plain + " " + plain, ""},
		"two hosts":              {db("a", 0), db("b", 0), plain, "", "hubs crm, eu-1 have different servers, and no server may get the password of another (set LYNQCTL_SOURCE_PASSWORD_CRM, LYNQCTL_SOURCE_PASSWORD_EU_1 instead)"},
		"two ports":              {db("a", 0), db("a", 5433), plain, "", "different servers"},
		"two kinds":              {db("a", 0), endpoint.Connection{Type: endpoint.SourceMySQL, Host: "a", Port: 5432}, plain, "", "different servers"},
		"two APIs":               {api("https://a/x", bearer), api("https://b/x", bearer), plain, "", "different servers"},
		"an API twice":           {api("https://a/x", bearer), api("https://a/y", bearer), plain, plain + " " + plain, ""},
		"other ports of an API":  {api("https://a/x", bearer), api("https://a:1/x", bearer), plain, "", "different servers"},
		"an API without a token": {db("a", 0), api("https://b/x", ""), plain, plain + " ", ""},
		"a file":                 {db("a", 0), endpoint.Connection{Type: endpoint.SourceCSV}, plain, plain + " ", ""},
		"a password in the URL":  {db("a", 0), withPassword, plain, plain + " ", ""},
		"one by name":            {db("a", 0), db("b", 0), plain + "_CRM", plain + "_CRM ", ""},
		"both by name":           {db("a", 0), db("b", 0), plain + "_CRM " + plain + "_EU_1", plain + "_CRM " + plain + "_EU_1", ""},
		"the rest without name":  {db("a", 0), db("b", 0), plain + "_CRM " + plain, plain + "_CRM " + plain, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := Passwords{Getenv: func(name string) string {
				for _, set := range strings.Fields(tt.set) {
					if set == name {
						return "p"
					}
				}
				return ""
			}}
			crm, eu := &form.Hub{}, &form.Hub{}
			crm.Name, eu.Name = "crm", "eu-1"
			variables, err := p.environment([]HubPrograms{{Hub: crm}, {Hub: eu}}, []endpoint.Connection{tt.crm, tt.eu})
			switch {
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)), tt.err == "" && err != nil:
				t.Errorf("%v", err)
			case tt.err == "" && strings.Join(variables, " ") != tt.want:
				t.Errorf("%q", variables)
			}
		})
	}
}
