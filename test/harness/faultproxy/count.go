package faultproxy

import "time"

// Key is what requests are counted by.
type Key struct{ Verb, Resource string }

// Record is a request that came, in the order of coming, and how it went.
type Record struct {
	Request
	// Status is the HTTP status that the client got, 0 where it got none.
	Status int
	// Faulted is set where a rule ended the request.
	Faulted bool
	// Began is when the request came. Answered is when the API server's answer did, which
	// is before the client has it, or when it was known that there is none; it is zero
	// while the request is under way.
	Began, Answered time.Time
}

// Count tells how many requests there were of each verb and resource.
func Count(records []Record) map[Key]int {
	counts := map[Key]int{}
	for _, r := range records {
		counts[Key{r.Verb, r.Resource}]++
	}
	return counts
}

// IsWrite tells whether a request changes something, if it is no dry run.
func (r Request) IsWrite() bool {
	switch r.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return !r.DryRun
	default:
		return false
	}
}
