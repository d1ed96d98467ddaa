package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// person is a View that answers questions, and notes each text that it shows.
type person struct {
	View
	there  bool
	answer bool
	err    error
	// waits is closed when someone asks a question. The answer comes when ends is closed.
	// Both are nil if person answers at once.
	waits, ends chan struct{}
	asked       []string
	notes       []string
}

func (p *person) CanAsk() bool     { return p.there }
func (p *person) Note(line string) { p.notes = append(p.notes, line) }

func (p *person) Confirm(question string) (bool, error) {
	if p.waits != nil {
		close(p.waits)
		<-p.ends
	}
	p.asked = append(p.asked, question)
	return p.answer, p.err
}

func (p *person) ConfirmName(question, name string) (bool, error) {
	p.asked = append(p.asked, question+" "+name)
	return p.answer, p.err
}

// TestConfirm wants nothing to happen until a person says yes. Without a person, --yes is
// needed.
func TestConfirm(t *testing.T) {
	t.Parallel()
	broken := errors.New("the terminal is gone")
	for name, tt := range map[string]struct {
		person  person
		yes     bool
		asked   int
		outcome Outcome
		says    string // the error, "" for none
	}{
		"yes":               {person{there: true, answer: true}, false, 1, 0, ""},
		"no":                {person{there: true}, false, 1, Refused, "not confirmed; nothing changed"},
		"--yes":             {person{there: true}, true, 0, 0, ""},
		"--yes in a script": {person{}, true, 0, 0, ""},
		"a script":          {person{}, false, 0, BadInput, "Pass --yes to proceed"},
		"no answer":         {person{there: true, err: broken}, false, 1, BadInput, "the terminal is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := (&Engine{View: &tt.person}).Confirm(t.Context(), tt.yes, "delete?")
			if len(tt.person.asked) != tt.asked {
				t.Errorf("asked %v", tt.person.asked)
			}
			told := (*Error)(nil)
			switch {
			case tt.says == "":
				if err != nil {
					t.Errorf("%v", err)
				}
			case !errors.As(err, &told) || told.Outcome != tt.outcome || !strings.Contains(told.Error()+told.Summary, tt.says):
				t.Errorf("%+v, want outcome %v with %q", err, tt.outcome, tt.says)
			}
		})
	}
}

// TestConfirmName wants no flag to replace a name that a person types.
func TestConfirmName(t *testing.T) {
	t.Parallel()
	p := &person{there: true, answer: true}
	if err := (&Engine{View: p}).ConfirmName(t.Context(), "type the name:", "crm"); err != nil || !slices.Equal(p.asked, []string{"type the name: crm"}) {
		t.Errorf("%v, asked %v", err, p.asked)
	}
	if err := (&Engine{View: &person{}}).ConfirmName(t.Context(), "type the name:", "crm"); err == nil {
		t.Error("nobody typed it, and it counts")
	}
}

// TestAskInterrupted wants an interrupted question to say that nothing changed.
func TestAskInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	p := &person{there: true, waits: make(chan struct{}), ends: make(chan struct{})}
	defer close(p.ends)
	go func() {
		<-p.waits
		interrupt()
	}()
	err := (&Engine{View: p}).Confirm(ctx, false, "delete?")
	if !errors.Is(err, context.Canceled) || !slices.Equal(p.notes, []string{"", "nothing changed"}) {
		t.Errorf("%v, notes %q", err, p.notes)
	}
}

// TestMayGoOn wants only a real run to ask.
func TestMayGoOn(t *testing.T) {
	t.Parallel()
	for _, m := range []Mode{ModeClient, ModeServer} {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()

			if err := (&Engine{View: &person{}}).MayGoOn(m, false); err != nil {
				t.Errorf("a dry run (%s): %v", m, err)
			}
		})
	}
}

// TestDeletionSummary wants the question to count everything that the run would delete.
func TestDeletionSummary(t *testing.T) {
	t.Parallel()
	for want, counts := range map[string]map[plan.Action]int{
		"0 objects to delete":                       {},
		"3 objects to delete (1 adopted)":           {plan.ActionDelete: 2, plan.ActionCollect: 1},
		"1 object to recreate":                      {plan.ActionRecreate: 1},
		"1 object to delete, 2 objects to recreate": {plan.ActionDelete: 1, plan.ActionRecreate: 2},
		"0 objects to delete, 1 object to leave behind as orphans, 2 objects to release": {plan.ActionOrphan: 1, plan.ActionRelease: 2},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()

			p := plan.Plan{Counts: counts}
			if counts[plan.ActionCollect] > 0 {
				p.Adopted = map[plan.Action]int{plan.ActionDelete: 1}
			}
			if got := DeletionSummary([]plan.Plan{p}); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
