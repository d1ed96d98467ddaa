package suggest

import (
	"fmt"
	"slices"
	"strings"
)

// Near returns the candidate nearest to word, the first of equals. A candidate is near
// enough if it differs only in case, or in edits of at most a third of the word's length.
// Otherwise, it must begin with the word.
func Near(word string, candidates []string) (string, bool) {
	best, bestDistance, begun := "", len(word)/3+1, ""
	for _, c := range candidates {
		if strings.EqualFold(c, word) {
			return c, true
		}
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
		if begun == "" && len(word) > 3 && strings.HasPrefix(c, word) {
			begun = c
		}
	}
	if best == "" {
		best = begun
	}
	return best, best != ""
}

// Typo returns the candidate that word misspells: by case, by a plural, or by one letter
// more, less, other or transposed in a word of six letters or more. Unlike Near, it is sure
// enough for an error.
func Typo(word string, candidates []string) (string, bool) {
	const long = 6
	kind, group, _ := strings.Cut(word, ".")
	for _, c := range candidates {
		name, of, _ := strings.Cut(c, ".")
		if !strings.EqualFold(of, group) {
			continue
		}
		for _, plural := range []string{"", "s", "es"} {
			if strings.EqualFold(kind, name+plural) || strings.HasSuffix(name, "y") && strings.EqualFold(kind, strings.TrimSuffix(name, "y")+"ies") {
				return c, true
			}
		}
	}
	for _, c := range candidates {
		if len(word) >= long && distance(strings.ToLower(word), strings.ToLower(c)) <= 1 {
			return c, true
		}
	}
	return "", false
}

// Fix says what to do about an unknown word: it names the probable candidate, or else the
// first of all.
func Fix(word string, candidates []string) string {
	if near, ok := Near(word, candidates); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return List(candidates)
}

// List returns "there are a, b, c", sorted, and cut if it gets long. It returns "" without
// candidates.
func List(candidates []string) string {
	const most = 12
	sorted := slices.Sorted(slices.Values(candidates))
	switch {
	case len(sorted) == 0:
		return ""
	case len(sorted) == 1:
		return "there is " + sorted[0]
	case len(sorted) > most:
		return fmt.Sprintf("there are %s and %d more", strings.Join(sorted[:most], ", "), len(sorted)-most)
	}
	return "there are " + strings.Join(sorted, ", ")
}

// distance counts the insertions, deletions, substitutions and swaps of neighbours that
// turn a into b.
func distance(a, b string) int {
	previous, row, next := []int(nil), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(next[j-1]+1, row[j]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], previous[j-2]+1)
			}
		}
		previous, row, next = row, next, make([]int, len(b)+1)
	}
	return row[len(b)]
}
