package command

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/cli"
	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/test/doctest"
)

// TestCoverage wants the scripts to show each command's help, use each of its flags, and
// run each example of its help.
func TestCoverage(t *testing.T) {
	scripts := allScripts(t)
	for _, c := range cli.EachCommand(referenceRoot()) {
		name := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "lynqctl"), " ")
		if !regexp.MustCompile(`lynqctl (help ` + name + `\b|` + name + `.*--help)`).MatchString(scripts) {
			t.Errorf("%s: no script shows its --help", c.CommandPath())
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !f.Hidden && !uses(c, f).MatchString(scripts) {
				t.Errorf("%s: no script uses --%s", c.CommandPath(), f.Name)
			}
		})
		for i, text := range doctest.HelpExamples(c.UsageString()) {
			run := fmt.Sprintf(`(?m)^(\[\S+\] )?(example|atterminal) \d+ '?%s'? %d\b`, name, i+1)
			if !regexp.MustCompile(run).MatchString(scripts) {
				t.Errorf("%s: no script runs example %d of its help:\n%s", c.CommandPath(), i+1, text)
			}
		}
	}
}

// uses returns a pattern for a call of a command with a flag. The flags for the cluster are
// the same for all commands, so any command will do.
func uses(c *cobra.Command, f *pflag.Flag) *regexp.Regexp {
	command := strings.ReplaceAll(c.CommandPath(), "lynqctl", "lynq(ctl)?")
	if cmdflags.Cluster().Lookup(f.Name) != nil {
		command = "lynqctl"
	}
	flag := "--" + f.Name
	if f.Shorthand != "" {
		flag += "|-[a-z]*" + f.Shorthand
	}
	return regexp.MustCompile(command + ` (.* )?(` + flag + `)\b`)
}

// allScripts returns the texts of all scripts.
func allScripts(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"testdata/script", "test/e2e/testdata", "test/e2e/testdata/operator"} {
		files, err := filepath.Glob(filepath.Join(sourceTree, pattern, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no scripts: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}
