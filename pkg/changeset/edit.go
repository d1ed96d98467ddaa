package changeset

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Edit says how the template of a form's resource changed since lynqctl recorded it.
type Edit struct {
	Form     string `json:"form"`
	Resource string `json:"resource"`
	// Place is where the resource is now, as FILE:LINE.
	Place string `json:"place"`
	// Uncommitted is set if the file has changes of the template that no commit has.
	Uncommitted bool `json:"uncommitted,omitempty"`
	// Commits changed the template, the newest first.
	Commits []Commit `json:"commits,omitempty"`
	// Diff is the unified diff of the template's lines. It is "" if they may have a secret. More
	// counts the lines that it lacks.
	Diff string `json:"diff,omitempty"`
	More int    `json:"moreLines,omitempty"`
}

// Commit is a commit of Git.
type Commit struct {
	ID      string `json:"id"` // short
	Subject string `json:"subject"`
}

// IDs returns the ids of the commits, the newest first.
func (e *Edit) IDs() []string {
	if e == nil {
		return nil
	}
	var ids []string
	for _, c := range e.Commits {
		ids = append(ids, c.ID)
	}
	return ids
}

// String names the newest commit, and how many there are. It returns "" for nil.
func (e *Edit) String() string {
	if e == nil {
		return ""
	}
	var parts []string
	if e.Uncommitted {
		parts = append(parts, "not committed")
	}
	if len(e.Commits) > 0 {
		parts = append(parts, e.Commits[0].ID+" "+e.Commits[0].Subject)
	}
	if more := len(e.Commits) - 1; more > 0 {
		parts = append(parts, "and "+phrase.Count(more, "earlier commit"))
	}
	return strings.Join(parts, ", ")
}

// upTo works like String, for objects of which some have only the newer part of the edit.
func (e *Edit) upTo() string {
	if len(e.Commits) == 0 {
		return e.String()
	}
	return "up to " + phrase.Count(len(e.Commits), "commit") + ", newest " + e.Commits[0].ID + " " + e.Commits[0].Subject
}

// size returns the number of changes of an edit.
func (e *Edit) size() int {
	if e.Uncommitted {
		return len(e.Commits) + 1
	}
	return len(e.Commits)
}

// edited says which edits the members of a group have. It returns "" if nobody knows that of
// each member.
func (s *Set) edited(g *Group) string {
	most, same := s.Changes[g.Members[0]].Edit, true
	for _, m := range g.Members {
		e := s.Changes[m].Edit
		if e == nil {
			return ""
		}
		same = same && e == most
		if e.size() > most.size() {
			most = e
		}
	}
	if same {
		return most.String()
	}
	return most.upTo()
}

// Edits returns the edits of all changes, each once, in the order of the groups.
func (s *Set) Edits() []*Edit {
	var all []*Edit
	seen := map[*Edit]bool{}
	for i := range s.Groups {
		for _, m := range s.Groups[i].Members {
			if e := s.Changes[m].Edit; e != nil && !seen[e] {
				seen[e] = true
				all = append(all, e)
			}
		}
	}
	return all
}
