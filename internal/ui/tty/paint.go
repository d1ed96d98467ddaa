package tty

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
)

// Paint colours text for a Stream, or leaves it unchanged.
type Paint struct {
	on   bool
	mark string // by which the Stream knows its colours
}

// Paint returns the Paint for the stream.
func (s Stream) Paint() Paint { return Paint{on: s.Color, mark: s.mark} }

// styled returns a part of one line in a style. It escapes the text first.
func (p Paint) styled(s string, style lipgloss.Style) string {
	if s = Safe(s); !p.on || s == "" {
		return s
	}
	// Safe text has no escapes, so all escapes come from the style. Each begins a sequence
	// that ends with an m.
	parts := strings.Split(style.Render(s), "\x1b")
	for i := 1; i < len(parts) && p.mark != ""; i++ {
		parts[i] = strings.Replace(parts[i], "m", p.mark, 1)
	}
	return strings.Join(parts, "\x1b")
}

// Bold makes text stand out.
func (p Paint) Bold(s string) string { return p.styled(s, lipgloss.NewStyle().Bold(true)) }

// Faint makes text less visible.
func (p Paint) Faint(s string) string { return p.styled(s, lipgloss.NewStyle().Faint(true)) }

// Good colours text about success.
func (p Paint) Good(s string) string { return p.styled(s, colored(lipgloss.Green)) }

// Worry colours text about something that a person should check.
func (p Paint) Worry(s string) string { return p.styled(s, colored(lipgloss.Yellow)) }

// Bad colours text about a failure.
func (p Paint) Bad(s string) string { return p.styled(s, colored(lipgloss.Red)) }

// Failed works like Bad, in bold.
func (p Paint) Failed(s string) string { return p.styled(s, colored(lipgloss.Red).Bold(true)) }

// colored returns a style in a colour that the terminal's own theme defines.
func colored(c color.Color) lipgloss.Style { return lipgloss.NewStyle().Foreground(c) }

// Outcome colours a word by the result of a step or node.
func (p Paint) Outcome(o report.Outcome, s string) string {
	switch o {
	case report.OutcomeDone:
		return p.Good(s)
	case report.OutcomeFailed, report.OutcomeConflicted:
		return p.Bad(s)
	case report.OutcomeNotReady, report.OutcomeSkipped, report.OutcomeInterrupted:
		return p.Worry(s)
	}
	return s
}

// Tone colours a cell of a list.
func (p Paint) Tone(t Tone, s string) string {
	switch t {
	case Good:
		return p.Good(s)
	case Worry:
		return p.Worry(s)
	case Bad:
		return p.Bad(s)
	}
	return s
}

// Action colours a word by the action.
func (p Paint) Action(a plan.Action, s string) string {
	switch a {
	case plan.ActionCreate, plan.ActionAdopt:
		return p.Good(s)
	case plan.ActionUpdate, plan.ActionTrack, plan.ActionOrphan, plan.ActionRelease:
		return p.Worry(s)
	case plan.ActionPurge, plan.ActionDelete, plan.ActionCollect, plan.ActionRecreate, plan.ActionBlock:
		return p.Bad(s)
	}
	return p.Faint(s)
}
