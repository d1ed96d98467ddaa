package ui

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// refusalText says why nothing was done, and below that what would help.
func refusalText(r plan.Refusal, p paint) string {
	about := ""
	if r.Hub.Name != "" {
		about = "hub " + safe(r.Hub.String()) + ": "
	}
	text := p.failed("refused") + " (" + safe(string(r.Guard)) + "): " + about + safe(r.What) + "\n"
	if r.Fix != "" {
		text += "  " + safe(r.Fix) + "\n"
	}
	return text
}

// joined is a statement with what to do about it in brackets, as problems have it.
func joined(what, fix string) string {
	if fix = strings.TrimSpace(fix); fix == "" {
		return what
	}
	return what + " (" + fix + ")"
}
