package ui

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// paint colours text for a Stream, or leaves it as it is.
type paint struct {
	on   bool
	mark string // that the Stream knows its colours by
}

func (s Stream) paint() paint { return paint{on: s.Color, mark: s.mark} }

// styled is a part of one line, which it is made for that.
func (p paint) styled(s string, style lipgloss.Style) string {
	if s = Safe(s); !p.on || s == "" {
		return s
	}
	// What is safe has no escape, so that those which are there now are the style's. Each
	// begins a sequence that ends with an m.
	parts := strings.Split(style.Render(s), "\x1b")
	for i := 1; i < len(parts) && p.mark != ""; i++ {
		parts[i] = strings.Replace(parts[i], "m", p.mark, 1)
	}
	return strings.Join(parts, "\x1b")
}

func (p paint) bold(s string) string   { return p.styled(s, lipgloss.NewStyle().Bold(true)) }
func (p paint) faint(s string) string  { return p.styled(s, lipgloss.NewStyle().Faint(true)) }
func (p paint) good(s string) string   { return p.styled(s, colored(lipgloss.Green)) }
func (p paint) worry(s string) string  { return p.styled(s, colored(lipgloss.Yellow)) }
func (p paint) bad(s string) string    { return p.styled(s, colored(lipgloss.Red)) }
func (p paint) failed(s string) string { return p.styled(s, colored(lipgloss.Red).Bold(true)) }

// colored is a style in one of the colours that the terminal's own theme defines.
func colored(c color.Color) lipgloss.Style { return lipgloss.NewStyle().Foreground(c) }

// outcome colours a word by how a step or node ended.
func (p paint) outcome(o apply.Outcome, s string) string {
	switch o {
	case apply.OutcomeDone:
		return p.good(s)
	case apply.OutcomeFailed, apply.OutcomeConflicted:
		return p.bad(s)
	case apply.OutcomeNotReady, apply.OutcomeSkipped, apply.OutcomeInterrupted:
		return p.worry(s)
	}
	return s
}

// tone colours a cell of a list.
func (p paint) tone(t Tone, s string) string {
	switch t {
	case Good:
		return p.good(s)
	case Worry:
		return p.worry(s)
	case Bad:
		return p.bad(s)
	}
	return s
}

// action colours a word by the action.
func (p paint) action(a plan.Action, s string) string {
	switch a {
	case plan.ActionCreate, plan.ActionAdopt:
		return p.good(s)
	case plan.ActionUpdate, plan.ActionTrack, plan.ActionOrphan, plan.ActionRelease:
		return p.worry(s)
	case plan.ActionPurge, plan.ActionDelete, plan.ActionCollect, plan.ActionRecreate, plan.ActionBlock:
		return p.bad(s)
	}
	return p.faint(s)
}
