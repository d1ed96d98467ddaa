package doctest

import (
	"regexp"
	"slices"
	"strings"
)

// Alike reports whether an output equals that of a page. It ignores times, ages, uids and
// other generated names, and the widths of columns. It also ignores the order of nodes that
// a run processes in parallel. A line "..." stands for any lines.
func Alike(want, got string) bool {
	return match(canonical(want), canonical(got))
}

// match reports whether the lines are the wanted ones.
func match(want, got []string) bool {
	switch {
	case len(want) == 0:
		return len(got) == 0
	case want[0] == "...":
		for i := range len(got) + 1 {
			if match(want[1:], got[i:]) {
				return true
			}
		}
		return false
	default:
		return len(got) > 0 && want[0] == got[0] && match(want[1:], got[1:])
	}
}

// canonical returns the lines of a text in a form for comparing.
func canonical(text string) []string {
	// Parts that differ between runs, and their replacements.
	varies := []struct {
		what *regexp.Regexp
		as   string
	}{
		{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\b`), "TIME"},
		{regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "UID"},
		{regexp.MustCompile(`\b\d{8}-\d{9}-[a-z0-9]{4}\b`), "RUN"},
		{regexp.MustCompile(`\b\S+@\S+ pid \d+ [a-z0-9]{6}\b`), "WHO"},
		{regexp.MustCompile(`\bdigest [0-9a-f]{16}\b`), "digest HASH"},
		{regexp.MustCompile(`\bPlan: +[0-9a-f]{32}$`), "Plan: ID"},
		{regexp.MustCompile(`\bVersion: +\S+$`), "Version: V"},
		{regexp.MustCompile(`\bapplyset-[A-Za-z0-9_-]{43}-v1\b`), "APPLYSET"},
		// Names that controllers generate contain no vowels, and nothing that looks like
		// one.
		{regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{7,10}\b(-[bcdfghjklmnpqrstvwxz2456789]{5}\b)?`), "-MADE"},
		{regexp.MustCompile(`\b\d+(\.\d+)?(ms|s|m|h|d)(\d+(s|m|h))?\b`), "AGE"},
		{regexp.MustCompile(`"(digest|template|fields)": ?"[0-9a-f]{16}"`), `"$1":"HASH"`},
		{regexp.MustCompile(`"plan": ?"[0-9a-f]{32}"`), `"plan":"ID"`},
		{regexp.MustCompile(`"lynqctl": ?"[^"]*"`), `"lynqctl":"V"`},
		{regexp.MustCompile(`"resourceVersion": ?"\d+"`), `"resourceVersion":"N"`},
		{regexp.MustCompile(`\b[0-9a-f]{7,40}\b\] `), "COMMIT] "}, // as git prints it
		{regexp.MustCompile(`\b[0-9a-f]{7,12}( Update nginx)`), "COMMIT$1"},
		{regexp.MustCompile(`  +`), "  "},
		{regexp.MustCompile(` +$`), ""},
	}
	// A run prints these lines every ten seconds, so their number varies.
	waits := regexp.MustCompile(`^waiting for \d+ objects?: `)
	var lines []string
	for _, line := range splitLines(trimmed(text)) {
		if waits.MatchString(line) {
			continue
		}
		for _, v := range varies {
			line = v.what.ReplaceAllString(line, v.as)
		}
		lines = append(lines, line)
	}
	return sortEvents(lines)
}

// trimmed returns a text without blank lines around it.
func trimmed(text string) string {
	if text = strings.Trim(text, "\n"); text != "" {
		text += "\n"
	}
	return text
}

// sortEvents sorts lines about objects and nodes, wherever some of them follow each other.
func sortEvents(lines []string) []string {
	event := regexp.MustCompile(`^\S+  \S.* \w[\w-]* \([\w ]+\)( .*)?$`)
	for from := 0; from < len(lines); from++ {
		to := from
		for to < len(lines) && event.MatchString(lines[to]) {
			to++
		}
		slices.Sort(lines[from:to])
		from = max(from, to-1)
	}
	return lines
}
