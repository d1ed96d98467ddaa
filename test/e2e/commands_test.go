package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// script is the state of one script: its namespace, and its proxy if it has one.
type script struct {
	t     *testing.T
	env   *harness.Env
	proxy *faultproxy.Server
	rules []faultproxy.Rule
	more  []string // its further namespaces
}

// own reports whether a request is about the script's own objects, or about the whole
// cluster. lynqctl may also read objects of other tests. Those requests must neither count
// nor match a rule.
func (s *script) own(r faultproxy.Request) bool {
	return r.Namespace == "" || strings.Contains(r.Namespace, s.env.Namespace) || slices.Contains(s.more, r.Namespace)
}

// commands returns the commands of scripts in addition to testscript's own.
// testdata/README.md describes them.
func (s *script) commands() map[string]func(*testscript.TestScript, bool, []string) {
	commands := map[string]func(*testscript.TestScript, []string) error{
		"namespace": s.namespace,
		"user":      s.user,
		"owners":    s.owners,
		"content":   s.content,
		"during":    s.during,
		"proxy":     s.startProxy,
		"fault":     s.fault,
		"requests":  s.requests,
		"exits":     s.exits,
		"jsonlines": s.jsonLines,
		"later":     s.later,
		// in help_test.go
		"example":    s.example,
		"atterminal": s.atTerminal,
		"interrupts": s.interrupts,
		"operator":   s.operator,
		"webhook":    s.webhook,  // in webhook_test.go
		"database":   s.database, // in database_test.go
	}
	out := map[string]func(*testscript.TestScript, bool, []string){}
	for name, run := range commands {
		out[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("%s cannot be negated", name)
			}
			ts.Check(run(ts, args))
		}
	}
	out["kubectl"] = s.kubectl
	return out
}

// kubectl ARGUMENT... runs kubectl. It starts a process only for command lines that the
// harness doesn't support. If negated, it must fail.
func (s *script) kubectl(ts *testscript.TestScript, neg bool, args []string) {
	var failed bool
	a, known := harness.Answer{}, false
	if ts.Getenv("KUBECONFIG") == s.env.Kubeconfig {
		a, known = s.env.Ask(s.t.Context(), args...)
	}
	if !known {
		var err error
		a, known, err = s.env.Do(s.t.Context(), ts.Getenv("KUBECONFIG"), ts.MkAbs("."), args...)
		ts.Check(err)
	}
	if known {
		_, _ = io.WriteString(ts.Stdout(), a.Stdout) // in memory
		_, _ = io.WriteString(ts.Stderr(), a.Stderr)
		failed = a.Failed
	} else {
		failed = ts.Exec("kubectl", args...) != nil
	}
	if failed != neg {
		ts.Fatalf("kubectl %q: it failed: %t", args, failed)
	}
	if !failed {
		ts.Check(s.granted(s.t.Context(), ts.ReadFile("stdout"), args))
	}
}

// namespace VAR creates a further namespace and puts its name into a variable.
func (s *script) namespace(ts *testscript.TestScript, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: namespace VAR")
	}
	name := s.env.NewNamespace(s.t)
	s.more = append(s.more, name)
	ts.Setenv(args[0], name)
	return nil
}

// user VAR NAME puts a kubeconfig for a user without permissions into a variable.
func (s *script) user(ts *testscript.TestScript, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: user VAR NAME")
	}
	ts.Setenv(args[0], s.env.As(s.t, args[1]))
	return nil
}

// owners KIND/NAME PATH [OWNER...] compares the managers of a field.
func (s *script) owners(_ *testscript.TestScript, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: owners KIND/NAME PATH [OWNER...]")
	}
	ref, path, want := args[0], args[1], args[2:]
	got, err := harness.FieldOwners(s.env.Get(s.t, ref), path)
	if err != nil {
		return err
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s: %s is owned by %q, want %q", ref, path, got, want)
	}
	return nil
}

// startProxy puts a fault proxy between the script and the API server.
func (s *script) startProxy(ts *testscript.TestScript, args []string) error {
	if len(args) != 0 || s.proxy != nil {
		return fmt.Errorf("usage: proxy, once")
	}
	env, proxy := s.env.Proxy(s.t, faultproxy.Options{})
	s.proxy = proxy
	ts.Setenv("KUBECONFIG", env.Kubeconfig)
	return nil
}

// fault VERB RESOURCE KEY=VALUE... adds a rule, and fault none removes all. Both start to
// count the requests again.
func (s *script) fault(_ *testscript.TestScript, args []string) error {
	if s.proxy == nil {
		return fmt.Errorf("no proxy; start one first")
	}
	if slices.Equal(args, []string{"none"}) {
		s.rules = nil
	} else {
		rule, err := parseRule(args)
		if err != nil {
			return err
		}
		rule.Match = s.own
		s.rules = append(s.rules, rule)
	}
	s.proxy.SetRules(s.rules...)
	s.proxy.Reset()
	return nil
}

// requests VERB RESOURCE COUNT compares the number of requests since the proxy or the last
// fault. * stands for any verb or resource, and write for every verb that changes
// something. Renewals of a Lease don't count.
func (s *script) requests(_ *testscript.TestScript, args []string) error {
	if s.proxy == nil || len(args) != 3 {
		return fmt.Errorf("usage, after proxy: requests VERB RESOURCE COUNT")
	}
	want, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	// The pages of a list depend on other tests' objects, and renewals of a Lease on the
	// load of the machine.
	records := slices.DeleteFunc(s.proxy.Records(), func(r faultproxy.Record) bool { return r.Continue || r.Renews || !s.own(r.Request) })
	verb := args[0]
	if verb == "write" {
		records = slices.DeleteFunc(records, func(r faultproxy.Record) bool { return !r.IsWrite() })
		verb = "*"
	}
	counts := faultproxy.Count(records)
	got := 0
	for key, n := range counts {
		if glob(verb, key.Verb) && glob(args[1], key.Resource) {
			got += n
		}
	}
	if got != want {
		return fmt.Errorf("%d requests %s %s, want %d; all there were:\n%s", got, args[0], args[1], want, table(counts))
	}
	return nil
}

// exits CODE PROGRAM ARGUMENT... runs a program that must exit with CODE.
func (s *script) exits(ts *testscript.TestScript, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: exits CODE PROGRAM ARGUMENT...")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	return mustExit(ts, want, args[1], args[2:]...)
}

// later CODE DURATION ARGUMENT... runs lynqctl with a clock that is ahead, or behind for a
// negative duration. It must exit with CODE.
func (s *script) later(ts *testscript.TestScript, args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("usage: later CODE DURATION ARGUMENT...")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	return mustExit(ts, want, clocked.of(s.t, "clocked", "./test/clocked"), args[1:]...)
}

// mustExit runs a program that must exit with a code.
func mustExit(ts *testscript.TestScript, want int, program string, args ...string) error {
	got := 0
	err := ts.Exec(program, args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got, err = exit.ExitCode(), nil
	}
	if err == nil && got != want {
		err = fmt.Errorf("exit code %d, want %d", got, want)
	}
	return err
}

// jsonLines FILE TYPE... checks that every line of a file is a JSON object, and that lines
// with these types come in this order.
func (s *script) jsonLines(ts *testscript.TestScript, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: jsonlines FILE TYPE...")
	}
	types := args[1:]
	for i, line := range strings.Split(strings.TrimSuffix(ts.ReadFile(args[0]), "\n"), "\n") {
		var event struct{ Type string }
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			return fmt.Errorf("line %d is no JSON: %w\n%s", i+1, err, line)
		}
		if len(types) > 0 && event.Type == types[0] {
			types = types[1:]
		}
	}
	if len(types) > 0 {
		return fmt.Errorf("no line of type %q, or not in that order", types[0])
	}
	return nil
}

// glob reports whether a word equals a pattern. "*" matches everything.
func glob(pattern, word string) bool { return pattern == "*" || pattern == word }

// table lists counts, one per line.
func table(counts map[faultproxy.Key]int) string {
	var out strings.Builder
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b faultproxy.Key) int {
		return strings.Compare(a.Resource+" "+a.Verb, b.Resource+" "+b.Verb)
	})
	for _, key := range keys {
		fmt.Fprintf(&out, "%5d %s %s\n", counts[key], key.Verb, key.Resource)
	}
	return out.String()
}
