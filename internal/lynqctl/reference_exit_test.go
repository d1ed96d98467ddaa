package lynqctl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// sharedCode is an exit code that several commands describe in about the same words.
type sharedCode struct {
	code, text string
	wordings   []string
}

// sharedCodes returns the exit codes that the page describes once, with the wordings of
// --help that add nothing.
func sharedCodes() []sharedCode {
	return []sharedCode{
		{"0", "success, or nothing to do", []string{"success"}},
		{"1", "something failed; lynqctl did the rest", []string{
			"something failed; the rest was applied", "something failed; the rest was deleted",
			"some nodes were not migrated; the others were", "some inventories were not rebuilt; the others were",
			"some inventories were not restored; the others were",
		}},
		{"2", "invalid input or usage, or the cluster can't be read; nothing changed", []string{
			"invalid usage; nothing changed", "invalid input or usage; nothing was written", "invalid input or usage; nothing changed",
			"invalid usage, or no such name; nothing changed", "invalid usage, or no such node; nothing changed",
			"invalid usage, or the cluster can't be read; nothing changed", "invalid usage, or the cluster can't be read",
			"invalid usage, no such node, or the cluster can't be read", "invalid usage, no such hub, or the cluster can't be read",
		}},
		{"3", "not confirmed, or refused by a guard; nothing changed", []string{
			"refused by a guard, or not confirmed; nothing changed", "refused by a guard; nothing was written",
			"not confirmed, or another run is using the hub; nothing changed", "another run is using the hub; nothing changed",
		}},
		{"130", "interrupted; run the command again to continue", []string{"interrupted"}},
	}
}

// aboutExitCodes describes the exit codes that several commands share.
func aboutExitCodes() string {
	text := "\n## Exit codes\n\nSeveral commands have these exit codes. Each command names those that it has.\n\n"
	for _, shared := range sharedCodes() {
		text += fmt.Sprintf("- `%s` %s\n", shared.code, shared.text)
	}
	return text
}

// withSharedCodes makes a list of the exit codes in a text. It names the shared ones only.
func withSharedCodes(text string) string {
	before, list, found := strings.Cut(text, "Exit codes:\n")
	if !found {
		return listInMarkdown(text)
	}
	var named []string
	own := ""
	for _, item := range regexp.MustCompile(`(?m)^  (\d+) +(.*(?:\n {3,}.*)*)`).FindAllStringSubmatch(list, -1) {
		code, means := item[1], strings.Join(strings.Fields(item[2]), " ")
		if isShared(code, means) {
			named = append(named, "`"+code+"`")
		} else {
			own += fmt.Sprintf("\n- `%s` %s", code, means)
		}
	}
	heading := "Exit codes:\n"
	if len(named) > 0 {
		heading = "[Exit codes](#exit-codes): " + strings.Join(named, ", ")
		if own != "" {
			heading += ", and:\n"
		}
	}
	return listInMarkdown(before) + heading + own
}

// isShared reports whether the page describes an exit code once for several commands.
func isShared(code, means string) bool {
	return slices.ContainsFunc(sharedCodes(), func(s sharedCode) bool {
		return s.code == code && (s.text == means || slices.Contains(s.wordings, means))
	})
}
