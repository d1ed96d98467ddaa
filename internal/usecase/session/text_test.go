package session_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// TestText: rows with the same problem share a line, wherever the error has them.
func TestText(t *testing.T) {
	rows := &render.RowsError{More: 2}
	for _, row := range []string{"a", "b"} {
		rows.Problems = append(rows.Problems, lynq.Problem{Pos: lynq.Pos{File: "f.yaml", Line: 3}, Subject: "port", Row: row, What: "no number"})
	}
	const shared = `f.yaml:3: port: 2 rows ("a", "b"): no number` + "\n... and 2 more"
	lost := errors.New("the source is gone")
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"rows":               {rows, shared},
		"with an outcome":    {&session.Error{Outcome: session.Failed, Err: rows, Summary: "2 nodes failed"}, shared},
		"and another error":  {&session.Error{Err: errors.Join(rows, lost)}, shared + "\nthe source is gone"},
		"problems of inputs": {session.BadInputs(rows.Problems[:1], ""), `f.yaml:3: port: row "a": no number`},
		"no problems":        {lost, "the source is gone"},
		"inside another":     {fmt.Errorf("hub x: %w", rows), "hub x: " + rows.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			if got := session.Text(tt.err); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
