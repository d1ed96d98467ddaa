package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lynqctl/lynqctl/test/apitest"
	"github.com/lynqctl/lynqctl/test/dbtest"
	"github.com/lynqctl/lynqctl/test/doctest"
)

// TestScripts runs the scripts of testdata/script. In addition to testscript's own
// commands, they have
//
//	exits CODE PROGRAM ARGUMENT...  run a program that must exit with CODE
//	example CODE COMMAND N [OLD=NEW...]
//	                                run the Nth example in a command's help, with some texts replaced;
//	                                it must exit with CODE
//	interrupts FIFO PROGRAM ARGUMENT...
//	                                create FIFO, run a program, and interrupt it when it reads FIFO;
//	                                it must exit with 130
//	fill FILE...                    replace $NAMES in files by the environment
//	server mysql|postgresql         set $HOST, $PORT, $DATABASE, $READER and $PASSWORD to a server's,
//	                                and $ENCODED to the password as URLs have it; $TYPE to its type, $CA
//	                                to its authority, and $CERTUSER, $CERT, $KEY, $EXPIRED and
//	                                $EXPIRED_KEY to a user with client certificates and their files
//	sql FILE [PATH]                 run the file's statements there, or in a SQLite file; they end with the line
//	api DIR [TOKEN]                 make https://crm.example.com serve the files in DIR (test/apitest)
//	registry [DIR]                  serve the chart in DIR at $CHART; without DIR, stop that
//	helper                          build lynqctl-chart, and put it in PATH
//	cut BYTES                       make $PORT lead to that server, and break off after that many bytes
//
// With UPDATE_SCRIPTS=1, it writes the current outputs into the scripts: read the diff.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                "../../testdata/script",
		UpdateScripts:      os.Getenv("UPDATE_SCRIPTS") != "",
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", examples)
			env.Setenv("GORACE", os.Getenv("GORACE"))
			t, ok := env.T().(testing.TB)
			if !ok {
				return fmt.Errorf("%T is no testing.TB", env.T())
			}
			env.Values[script{}] = &script{t: t}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":      exits,
			"example":    example,
			"interrupts": interrupts,
			"fill":       fill,
			"server":     server,
			"api":        api,
			"sql":        runSQL,
			"cut":        cut,
			"helper":     withHelper,
			"registry":   withRegistry,
		},
	})
}

// script holds the values that the commands of a script share.
type script struct {
	t      testing.TB
	server *dbtest.Server
	// registry is that of the command registry.
	registry *httptest.Server
}

func scriptOf(ts *testscript.TestScript) *script {
	s, ok := ts.Value(script{}).(*script)
	if !ok {
		ts.Fatalf("the script was not set up")
	}
	return s
}

// usage ends the script if a command has wrong arguments.
func usage(ts *testscript.TestScript, good bool, text string) {
	if !good {
		ts.Fatalf("usage: %s", text)
	}
}

func withHelper(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 0, "helper")
	root, err := filepath.Abs("../..")
	ts.Check(err)
	ts.Setenv("PATH", helper.In(scriptOf(ts).t, root)+string(filepath.ListSeparator)+ts.Getenv("PATH"))
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) > 1, "exits CODE PROGRAM ARGUMENT...")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	mustExit(ts, want, args[1], args[2:]...)
}

func mustExit(ts *testscript.TestScript, want int, program string, args ...string) {
	got := 0
	err := ts.Exec(program, args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got, err = exit.ExitCode(), nil
	}
	ts.Check(err)
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func example(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) > 2, "example CODE COMMAND N [OLD=NEW...]")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	text, err := doctest.HelpExample(ts, args[1:])
	ts.Check(err)
	mustExit(ts, want, "sh", "-c", text)
}

func interrupts(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) > 1, "interrupts FIFO PROGRAM ARGUMENT...")
	fifo, pid := ts.MkAbs(args[0]), ts.MkAbs("pid")
	ts.Check(ts.Exec("mkfifo", fifo))
	var out *os.File
	interrupted := make(chan error, 1)
	go func() {
		var err error
		if out, err = os.OpenFile(fifo, os.O_WRONLY, 0); err == nil { // once a reader opened it
			err = interrupt(pid)
		}
		interrupted <- err
	}()
	mustExit(ts, exitInterrupted, "sh", append([]string{"-c", `echo $$ >pid; exec "$@"`, "sh"}, args[1:]...)...)
	ts.Check(<-interrupted)
	ts.Check(out.Close()) // by now, the reader doesn't treat this as the end of a file
	ts.Check(os.Remove(fifo))
}

// interrupt interrupts the process whose number is in a file.
func interrupt(file string) error {
	return exec.Command("sh", "-c", `kill -INT "$(cat "$0")"`, file).Run()
}

func fill(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) > 0, "fill FILE...")
	for _, name := range args {
		text := os.Expand(ts.ReadFile(name), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}

func server(ts *testscript.TestScript, neg bool, args []string) {
	const text = "server mysql|postgresql"
	usage(ts, !neg && len(args) == 1, text)
	s := scriptOf(ts)
	switch args[0] {
	case "mysql":
		s.server = servers.MariaDB(s.t)
	case "postgresql":
		s.server = servers.PostgreSQL(s.t)
	default:
		usage(ts, false, text)
	}
	ts.Setenv("HOST", "127.0.0.1")
	ts.Setenv("PORT", strconv.Itoa(s.server.Port))
	ts.Setenv("DATABASE", s.server.Database)
	ts.Setenv("READER", s.server.Reader)
	ts.Setenv("PASSWORD", string(s.server.Password))
	ts.Setenv("ENCODED", url.QueryEscape(string(s.server.Password)))
	ts.Setenv("TYPE", string(s.server.Type))
	for name, value := range map[string]string{
		"CA": s.server.CAFile, "CERTUSER": s.server.CertUser, "CERT": s.server.CertFile, "KEY": s.server.KeyFile,
		"EXPIRED": s.server.ExpiredCertFile, "EXPIRED_KEY": s.server.ExpiredKeyFile,
	} {
		ts.Setenv(name, value)
	}
}

func api(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && (len(args) == 1 || len(args) == 2), "api DIR [TOKEN]")
	token := ""
	if len(args) == 2 {
		token = args[1]
	}
	for _, variable := range apitest.Start(scriptOf(ts).t, ts.MkAbs(args[0]), token).Env {
		name, value, _ := strings.Cut(variable, "=")
		ts.Setenv(name, value)
	}
}

func runSQL(ts *testscript.TestScript, neg bool, args []string) {
	s := scriptOf(ts)
	usage(ts, !neg && (len(args) == 1 && s.server != nil || len(args) == 2), "sql FILE, after server, or sql FILE PATH")
	statements := strings.SplitAfter(strings.TrimSpace(ts.ReadFile(args[0])), ";\n")
	if len(args) == 1 {
		s.server.Exec(s.t, statements...)
		return
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[1]))
	ts.Check(err)
	for _, statement := range statements {
		_, err := db.Exec(statement)
		ts.Check(err)
	}
	ts.Check(db.Close())
}

func cut(ts *testscript.TestScript, neg bool, args []string) {
	s := scriptOf(ts)
	usage(ts, !neg && len(args) == 1 && s.server != nil, "cut BYTES, after server")
	after, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	ts.Setenv("PORT", strconv.Itoa(dbtest.CutProxy(s.t, s.server.Port, after)))
}
