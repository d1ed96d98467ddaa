package faultproxy

import "time"

// End says how a rule ends a request.
type End string

// The ways to end. For a watch, Rule.Events says after how many events.
const (
	// CutBefore breaks the connection before the API server gets the request.
	CutBefore End = "cut-before"
	// CutAfter breaks the connection after the API server's answer. The request took
	// effect, and the client doesn't know it.
	CutAfter End = "cut-after"
	// CloseAfter ends a watch properly, as a server does after its time limit.
	CloseAfter End = "close-after"
)

// Rule selects requests, and says how they fail. Empty fields match every request.
type Rule struct {
	Verb      string
	Resource  string
	Namespace string
	Name      string
	Continue  bool // only further pages of lists
	// Match selects requests that the fields above can't describe. nil matches all.
	Match func(Request) bool

	Skip  int // ignore this many matching requests first
	Times int // then change this many; 0 means all

	// Delay comes before everything else. After a rule that only delays, later rules apply,
	// too.
	Delay time.Duration
	// Before runs after the delay and before the API server gets the request, which waits
	// for it. After a rule that only has this, later rules apply, too.
	Before func()
	// Status is the code of a Status object that the proxy answers instead of the API
	// server.
	Status int
	// Reason is the reason in the Status object. "" means the usual one for Status.
	Reason string
	// RetryAfter sets this header, in seconds, unless it is 0.
	RetryAfter int
	// Header is added to the request, for servers that know it: see package apiserver.
	Header map[string]string
	// End cuts the connection, or closes the watch after this many Events.
	End    End
	Events int
}

// matches reports whether a rule applies to a request.
func (r Rule) matches(q Request) bool {
	return anyOr(r.Verb, q.Verb) && anyOr(r.Resource, q.Resource) &&
		anyOr(r.Namespace, q.Namespace) && anyOr(r.Name, q.Name) &&
		(!r.Continue || q.Continue) && (r.Match == nil || r.Match(q))
}

func anyOr(want, got string) bool { return want == "" || want == got }

// final reports whether later rules don't apply.
func (r Rule) final() bool { return r.Status != 0 || r.End != "" || r.Header != nil }

// schedule holds rules, and how often each has matched.
type schedule struct {
	rules   []Rule
	matched []int
}

func newSchedule(rules []Rule) *schedule {
	return &schedule{rules: rules, matched: make([]int, len(rules))}
}

// next returns the rule for a request. This is the first final rule that is due, with the
// delays and Before functions of all rules before it.
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

// both returns a function that calls both functions, which may be nil.
func both(first, second func()) func() {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func() { first(); second() }
}
