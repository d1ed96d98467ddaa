package faultproxy

import "time"

// End says how a request ends that the API server does not end by itself.
type End string

// The ways to end. Where a watch is cut or closed, Rule.Events says after how
// many events.
const (
	// CutBefore breaks the connection before the API server sees the request.
	CutBefore End = "cut-before"
	// CutAfter breaks the connection when the API server has answered, so that
	// the request took effect and the client does not know.
	CutAfter End = "cut-after"
	// CloseAfter ends a watch in good order, as a server does when its time is over.
	CloseAfter End = "close-after"
)

// Rule says which requests fail, and how. Empty fields match every request.
type Rule struct {
	Verb      string
	Resource  string
	Namespace string
	Name      string
	Continue  bool // only further pages of lists
	// Match is what the fields above cannot say of a request; nil matches every one.
	Match func(Request) bool

	Skip  int // let so many matching requests pass first
	Times int // then act on so many; 0 is all

	// Delay comes before anything else. A rule that only delays lets the rules
	// after it speak.
	Delay time.Duration
	// Before is called, and waited for, when the delay is over and before the API
	// server sees the request. A rule that only has this lets the rules after it
	// speak too.
	Before func()
	// Status is answered in the place of the API server, as a Status object.
	Status int
	// Reason of the Status object; "" is the usual one for Status.
	Reason string
	// RetryAfter is the header of that name, in seconds, where it is not 0.
	RetryAfter int
	// End cuts the connection or closes the watch, after so many Events.
	End    End
	Events int
}

// matches tells whether a rule is about a request.
func (r Rule) matches(q Request) bool {
	return anyOr(r.Verb, q.Verb) && anyOr(r.Resource, q.Resource) &&
		anyOr(r.Namespace, q.Namespace) && anyOr(r.Name, q.Name) &&
		(!r.Continue || q.Continue) && (r.Match == nil || r.Match(q))
}

func anyOr(want, got string) bool { return want == "" || want == got }

// final tells whether no rule after this one is asked.
func (r Rule) final() bool { return r.Status != 0 || r.End != "" }

// schedule is rules and how often each has matched.
type schedule struct {
	rules   []Rule
	matched []int
}

func newSchedule(rules []Rule) *schedule {
	return &schedule{rules: rules, matched: make([]int, len(rules))}
}

// next says what to do to a request: the first final rule that is due, with
// the delays of all rules before it added up, and what they call.
func (s *schedule) next(q Request) Rule {
	var delay time.Duration
	var before func()
	for i, rule := range s.rules {
		if !rule.matches(q) {
			continue
		}
		s.matched[i]++
		nth := s.matched[i] - rule.Skip
		if nth < 1 || rule.Times > 0 && nth > rule.Times {
			continue
		}
		delay += rule.Delay
		before = both(before, rule.Before)
		if rule.final() {
			rule.Delay, rule.Before = delay, before
			return rule
		}
	}
	return Rule{Delay: delay, Before: before}
}

// both calls one after the other, where they are not nil.
func both(first, second func()) func() {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func() { first(); second() }
}
