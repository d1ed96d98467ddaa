package voice

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/doctest"
)

var update = flag.Bool("update", false, "take the exceptions that are no longer needed out of exceptions.txt")

const (
	root           = "../.."
	exceptionsFile = "exceptions.txt"
	// shownLength limits how much of a sentence an exception shows.
	shownLength = 90
)

// TestVoice wants helps, messages and pages to follow the rules, except for the listed
// sentences.
func TestVoice(t *testing.T) {
	content, err := os.ReadFile(exceptionsFile)
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{}
	for line := range strings.Lines(string(content)) {
		allowed[strings.TrimSuffix(line, "\n")] = true
	}
	needed := map[string]bool{}
	for _, f := range findings(t) {
		needed[f.exception] = allowed[f.exception]
		if !allowed[f.exception] {
			t.Errorf("%s: %s", f.place, f.exception)
		}
	}
	var kept []string
	for line := range allowed {
		if _, ok := needed[line]; ok {
			kept = append(kept, line)
		} else if !*update {
			t.Errorf("%s: no longer needed ('make generate' takes it out): %s", exceptionsFile, line)
		}
	}
	if *update {
		slices.Sort(kept)
		if err := os.WriteFile(exceptionsFile, []byte(strings.Join(append(kept, ""), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// finding is a sentence that breaks a rule.
type finding struct{ place, exception string }

// findings returns all sentences that break a rule.
func findings(t *testing.T) []finding {
	t.Helper()
	messages, err := messages(root)
	if err != nil {
		t.Fatal(err)
	}
	found := findingsOf("message", messages)
	pages, err := doctest.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		var paragraphs []text
		for _, part := range p.Paragraphs {
			paragraphs = append(paragraphs, text{fmt.Sprintf("%s:%d", p.Path, part.Line), plain(part.Text)})
		}
		found = append(found, findingsOf(filepath.ToSlash(p.Path), paragraphs)...)
	}
	return found
}

func findingsOf(where string, texts []text) []finding {
	var all []finding
	for _, t := range texts {
		for _, s := range sentences(t.words) {
			for _, rule := range broken(s) {
				shown := []rune(s)
				if len(shown) > shownLength {
					shown = append(shown[:shownLength], '…')
				}
				all = append(all, finding{t.place, fmt.Sprintf("%s: %s: %s", where, rule, string(shown))})
			}
		}
	}
	return all
}

// TestRules wants the rules to find bad sentences, and nothing else.
func TestRules(t *testing.T) {
	long := strings.Repeat("word ", mostWords)
	for sentence, want := range map[string]string{
		"What rows say is applied.":                  "headless clause",
		"error: what exists is kept":                 "headless clause",
		"fail: what another has is kept":             "headless clause",
		"The row is to be deleted.":                  "passive",
		"The file is said to exist.":                 "passive",
		"Everything but for Secrets.":                "but for",
		"Kept, be it empty or not.":                  "be it",
		"Skipped, for they look like secrets.":       "for as because",
		"Wait, for example.":                         "",
		"This is none that lynqctl accepts.":         "is none that",
		"The hub is there already.":                  "is there",
		"It belongs into a Secret.":                  "belongs into",
		"lynqctl deletes objects that no row needs.": "",
		strings.TrimSpace(long):                      "",
		long + "more":                                "long",
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := strings.Join(broken(plain(sentence)), ", "); got != want {
				t.Errorf("%q: %q, want %q", sentence, got, want)
			}
		})
	}
}

// TestSentences splits paragraphs into sentences as readers see them.
func TestSentences(t *testing.T) {
	for paragraph, want := range map[string][]string{
		"One sentence\nin two lines. Another (one.) Three": {"One sentence in two lines.", "Another (one.)", "Three"},
		"A list:\n- one\n  goes on\n- two":                 {"A list:", "one goes on", "two"},
		"| a | b c |\n| d. | e |":                          {"a", "b c", "d.", "e"},
		"Codes:\n  0    fine\n  130  not":                  {"Codes:", "0 fine", "130 not"},
		"First\n\nSecond":                                  {"First", "Second"},
	} {
		t.Run(paragraph, func(t *testing.T) {
			if got := sentences(paragraph); !slices.Equal(got, want) {
				t.Errorf("%q: %q, want %q", paragraph, got, want)
			}
		})
	}
}
