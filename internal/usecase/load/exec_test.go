package load

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// TestPrinted runs commands that print a password: without a shell, next to the hub's file,
// and with errors that never show what they printed.
func TestPrinted(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		return "./" + name
	}
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		command []string
		want    string // the password, or after "error: " a part of the error
	}{
		"beside the hub":            {[]string{script("token.sh", "cat token; echo")}, "hunter2"},
		"on the path":               {[]string{"cat", "token"}, "hunter2"},
		"no shell":                  {[]string{"printf", "%s", "$HOME; `id` | cat"}, "$HOME; `id` | cat"},
		"fails":                     {[]string{script("fails.sh", "echo hunter2; echo expired hunter2 >&2; exit 3")}, "error: exit status 3: expired REDACTED"},
		"fails after several lines": {[]string{script("failing.sh", "echo 'hunter2 '; echo x; echo expired hunter2 >&2; exit 3")}, "error: exit status 3: expired REDACTED"},
		"prints nothing":            {[]string{script("nothing.sh", "echo no login >&2")}, "error: it printed nothing: no login"},
		"several lines":             {[]string{script("lines.sh", "echo hunter2; echo hunter2")}, "error: it printed several lines"},
		"prints too much":           {[]string{script("much.sh", "yes hunter2 | head -c 100000 | tr '\\n' ' '")}, "error: it printed more than 64 KiB"},
		"missing":                   {[]string{"./missing"}, "error: no such file"},
		"not on the path":           {[]string{"lynqctl-no-such-program"}, "error: executable file not found"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &form.Hub{Pos: lynq.Pos{File: filepath.Join(dir, "hub.yaml"), Line: 1}, Name: "crm"}
			got, err := printed(t.Context(), h, &form.PasswordSource{Command: tt.command, Pos: lynq.Pos{File: "hub.yaml", Line: 7}}, "password", time.Minute)
			want, fails := strings.CutPrefix(tt.want, "error: ")
			switch {
			case !fails && (err != nil || got != endpoint.Secret(want)):
				t.Errorf("%s: %q, %v", name, string(got), err)
			case name == "beside the hub":
				h.Pos.File = "stdin"
				if _, err := printed(t.Context(), h, &form.PasswordSource{Command: tt.command}, "password", time.Minute); err == nil || !strings.Contains(err.Error(), "a hub from standard input runs no command") {
					t.Errorf("from standard input: %v", err)
				}
			case fails && (err == nil || got != "" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") || !strings.HasPrefix(err.Error(), `hub.yaml:7: hub "crm": command `)):
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestPrintedSlowly ends a command that takes too long, or that leaves a process behind.
// Neither shows what it printed.
func TestPrintedSlowly(t *testing.T) {
	h := &form.Hub{Pos: lynq.Pos{File: filepath.Join(t.TempDir(), "hub.yaml"), Line: 1}, Name: "crm"}
	for script, c := range map[string]struct {
		limit time.Duration
		want  string
	}{
		"echo hunter2; echo waits for hunter2 >&2; exec sleep 60": {time.Second, "it ran for more than 1s: waits for REDACTED"},
		"echo hunter2; sleep 60 &":                                {time.Minute, "a process that it started still writes"},
	} {
		t.Run(script, func(t *testing.T) {
			got, err := printed(t.Context(), h, &form.PasswordSource{Command: []string{"sh", "-c", script}}, "password", c.limit)
			if err == nil || got != "" || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: %v", script, err)
			}
		})
	}
}

// TestPrintedBeside runs the program beside a hub in the current folder, and not a program
// of PATH with the same name.
func TestPrintedBeside(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for in, text := range map[string]string{dir: "beside", other: "of PATH"} {
		t.Run(in, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(in, "token"), []byte("#!/bin/sh\necho "+text+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Chdir(dir)
	t.Setenv("PATH", other+string(filepath.ListSeparator)+os.Getenv("PATH"))
	h := &form.Hub{Pos: lynq.Pos{File: "hub.yaml", Line: 1}, Name: "crm"}
	if got, err := printed(t.Context(), h, &form.PasswordSource{Command: []string{"./token"}}, "password", time.Minute); err != nil || got != "beside" {
		t.Errorf("%q, %v", string(got), err)
	}
}
