package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

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
func (p paint) styled(s string, attrs ...ansi.Attr) string {
	if s = safe(s); !p.on || s == "" {
		return s
	}
	return p.marked(ansi.NewStyle(attrs...).String()) + s + p.marked(ansi.ResetStyle)
}

// marked puts the mark into a sequence that sets a colour.
func (p paint) marked(sequence string) string {
	if p.mark == "" {
		return sequence
	}
	return strings.TrimSuffix(sequence, "m") + p.mark
}

func (p paint) bold(s string) string  { return p.styled(s, ansi.AttrBold) }
func (p paint) faint(s string) string { return p.styled(s, ansi.AttrFaint) }
func (p paint) good(s string) string  { return p.styled(s, ansi.AttrGreenForegroundColor) }
func (p paint) worry(s string) string { return p.styled(s, ansi.AttrYellowForegroundColor) }
func (p paint) bad(s string) string   { return p.styled(s, ansi.AttrRedForegroundColor) }
func (p paint) failed(s string) string {
	return p.styled(s, ansi.AttrBold, ansi.AttrRedForegroundColor)
}

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
