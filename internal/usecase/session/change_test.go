package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// steps is a Change that notes its steps, and the View of its run.
type steps struct {
	View
	done    []string
	refuse  string // the step with a refusal
	fail    string // the step that fails
	more    bool   // Again finds something that nobody confirmed
	nothing bool
}

var errStep = errors.New("a step failed")

func (s *steps) step(name string) error {
	s.done = append(s.done, name)
	if s.fail == name {
		return errStep
	}
	return nil
}

func (s *steps) looked(name string) (string, []plan.Refusal, error) {
	err := s.step(name)
	if s.nothing {
		err = ErrNothing
	}
	if s.refuse == name {
		return name, []plan.Refusal{{Guard: plan.GuardLock}}, err
	}
	return name, nil, err
}

func (s *steps) Printer(Mode) Printer        { return s }
func (*steps) Plan([]plan.Plan) error        { return nil }
func (s *steps) Refuse([]plan.Refusal) error { s.done = append(s.done, "refused"); return nil }

// change returns a Change without hubs, so that it takes no Leases.
func (s *steps) change() *Change[string] {
	return &Change[string]{
		Look: func(context.Context) (string, []plan.Refusal, error) { return s.looked("look") },
		Try:  func(_ context.Context, p string) error { return s.step("try " + p) },
		Ask:  func(_ context.Context, p string) (string, error) { return p, s.step("ask " + p) },
		Hubs: func(string) []lynq.HubKey { s.done = append(s.done, "lock"); return nil },
		Again: func(_ context.Context, _ *Locks, _ string) (string, []plan.Refusal, error) {
			return s.looked("again")
		},
		More: func(_, _ string) bool { return s.more },
		Do:   func(_ context.Context, _ *Locks, p string) error { return s.step("do " + p) },
	}
}

func TestPerform(t *testing.T) {
	early := func(s *steps, c *Change[string]) {
		c.Early = &Early{
			Read: func(context.Context) error { return s.step("read") },
			Check: func(context.Context) ([]plan.Refusal, error) {
				_, refusals, err := s.looked("check")
				return refusals, err
			},
			Ahead: func(context.Context) func() {
				s.done = append(s.done, "begin")
				return func() { s.done = append(s.done, "drop") }
			},
		}
	}
	unlocked := func(_ *steps, c *Change[string]) { c.Hubs, c.Again, c.Ask = nil, nil, nil }
	once := func(_ *steps, c *Change[string]) { c.Again = nil }
	for _, tt := range []struct {
		name   string
		steps  steps
		mode   Mode
		change func(*steps, *Change[string])
		want   string
		err    error
	}{
		{"all of it", steps{}, ModeRun, nil, "look, ask look, lock, again, do again", nil},
		{"more than was agreed on", steps{more: true}, ModeRun, nil, "look, ask look, lock, again, ask again, do again", nil},
		{"looked once", steps{}, ModeRun, once, "look, ask look, lock, do look", nil},
		{"without Leases and questions", steps{}, ModeRun, unlocked, "look, do look", nil},
		{"a client dry run", steps{}, ModeClient, nil, "look, try look", nil},
		{"a server dry run", steps{}, ModeServer, nil, "look, try look", nil},
		{"nothing to do", steps{nothing: true}, ModeRun, nil, "look", nil},
		{"refused", steps{refuse: "look"}, ModeRun, nil, "look, refused", ErrReported},
		{"a dry run that is refused", steps{refuse: "look"}, ModeClient, nil, "look, refused", ErrReported},
		{"refused when looked at again", steps{refuse: "again", more: true}, ModeRun, nil, "look, ask look, lock, again, refused", ErrReported},
		{"a look fails", steps{fail: "look", refuse: "look"}, ModeRun, nil, "look", errStep},
		{"not confirmed", steps{fail: "ask look"}, ModeRun, nil, "look, ask look", errStep},
		{"the second look fails", steps{fail: "again", more: true}, ModeRun, nil, "look, ask look, lock, again", errStep},
		{"the second question is answered no", steps{fail: "ask again", more: true}, ModeRun, nil, "look, ask look, lock, again, ask again", errStep},
		{"locked early", steps{}, ModeRun, early, "read, check, begin, look, ask look, do look, drop", nil},
		{"a dry run reads and locks nothing", steps{}, ModeClient, early, "read, look, try look", nil},
		{"refused before the Leases", steps{refuse: "check"}, ModeRun, early, "read, check, refused", ErrReported},
		{"rows that cannot be read", steps{fail: "read"}, ModeRun, early, "read", errStep},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, c := &tt.steps, tt.steps.change()
			if tt.change != nil {
				tt.change(s, c)
			}
			r := Run{Engine: &Engine{View: s}, RunOptions: &RunOptions{Mode: tt.mode}, Client: &kube.Client{}}
			if err := Perform(t.Context(), &r, c); !errors.Is(err, tt.err) || err != nil && tt.err == nil {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if got := strings.Join(slices.Clone(s.done), ", "); got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
		})
	}
}
