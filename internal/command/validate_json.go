package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

// validation is the result of validate in JSON (docs/forms.md).
type validation struct {
	Valid    bool          `json:"valid"`
	Checked  string        `json:"checked,omitempty"`
	Problems []problemData `json:"problems"`
	More     int           `json:"more,omitempty"` // problems of rows that the list omits
	Warnings []string      `json:"warnings,omitempty"`
}

// problemData is a problem. It has no file if it belongs to none.
type problemData struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

// noteTaker is a View that keeps notes instead of showing them.
type noteTaker struct {
	session.View
	notes []string
}

// Note implements session.View.
func (n *noteTaker) Note(line string) { n.notes = append(n.notes, line) }

// validateJSON runs validate for programs, with the same exit code.
func (a *app) validateJSON(ctx context.Context, f *cmdflags.Render, rows bool) error {
	view := &noteTaker{View: a.View("")}
	e := a.Engine("")
	e.View = view
	checked, err := validated(ctx, e, f, rows)
	if errors.Is(err, context.Canceled) {
		return err
	}
	v := validation{Valid: err == nil, Checked: checked, Problems: []problemData{}}
	problems, more := session.ProblemsOf(err)
	v.More = more
	for _, p := range problems {
		v.Problems = append(v.Problems, problemData{File: p.Pos.File, Line: p.Pos.Line, Message: p.Message(), Fix: p.Fix})
	}
	for _, note := range view.notes {
		v.Warnings = append(v.Warnings, strings.TrimPrefix(note, "warning: "))
	}
	encoder := json.NewEncoder(a.Out().Data())
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if writeErr := encoder.Encode(&v); writeErr != nil {
		return session.Fail(fmt.Errorf("write what was found: %w", writeErr))
	}
	if known := (*session.Error)(nil); errors.As(err, &known) {
		return &session.Error{Outcome: known.Outcome, Err: session.ErrReported, Summary: known.Summary}
	}
	return err
}
