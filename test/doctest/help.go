package doctest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// HelpExamples returns the examples in the help of a command. Blank lines separate them.
func HelpExamples(help string) []string {
	_, rest, found := strings.Cut(help, "\nExamples:\n")
	if !found {
		return nil
	}
	var examples []string
	example := ""
	for line := range strings.Lines(rest) {
		text, indented := strings.CutPrefix(line, "  ")
		if indented {
			example += text
			continue
		}
		if example != "" {
			examples = append(examples, example)
		}
		if example = ""; line != "\n" {
			break
		}
	}
	return examples
}

// HelpExample returns the command line for a script's command with these arguments:
//
//	COMMAND N [OLD=NEW...]
//
// This means the Nth example in the help of a command, such as 'orphans list', with some
// texts replaced.
func HelpExample(ts *testscript.TestScript, args []string) (string, error) {
	const usage = "COMMAND N [OLD=NEW...]"
	if len(args) < 2 {
		return "", fmt.Errorf("usage: %s", usage)
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return "", fmt.Errorf("usage: %s: %w", usage, err)
	}
	if err := ts.Exec("lynqctl", append(strings.Fields(args[0]), "--help")...); err != nil {
		return "", err
	}
	examples := HelpExamples(ts.ReadFile("stdout"))
	if n < 1 || n > len(examples) {
		return "", fmt.Errorf("lynqctl %s has %d examples", args[0], len(examples))
	}
	text := examples[n-1]
	for _, pair := range args[2:] {
		before, after, _ := strings.Cut(pair, "=")
		if !strings.Contains(text, before) {
			return "", fmt.Errorf("%q is not in the example", before)
		}
		text = strings.ReplaceAll(text, before, after)
	}
	return "set -e\n" + text, nil
}
