package faultproxy

import "time"

// Key groups requests for counting.
type Key struct{ Verb, Resource string }

// Record is a request with its result, in the order of arrival.
type Record struct {
	Request
	// Status is the HTTP status for the client, 0 if it got none.
	Status int
	// Faulted is set if a rule ended the request.
	Faulted bool
	// Began is the time at which the request came. Answered is the time at which the API
	// server's answer came, before the client got it, or at which it was clear that none
	// comes. Answered is zero while the request is in progress.
	Began, Answered time.Time
}

// Count counts the requests of each verb and resource.
func Count(records []Record) map[Key]int {
	counts := map[Key]int{}
	for _, r := range records {
		counts[Key{r.Verb, r.Resource}]++
	}
	return counts
}

// IsWrite reports whether a request changes something, and isn't a dry run.
func (r Request) IsWrite() bool {
	switch r.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return !r.DryRun
	default:
		return false
	}
}
