package doctest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// HelpExamples are the examples that the help of a command shows: a blank line parts
// them.
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

// HelpExample finds what a script's command with these arguments is to run:
//
//	COMMAND N [OLD=NEW...]
//
// is the Nth example of the help of a command, such as 'orphans list', with other
// texts for some of those in it.
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
