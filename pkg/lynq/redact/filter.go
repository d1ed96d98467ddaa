package redact

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Hidden stands for a value that must not be shown.
const Hidden = "•••"

// Concealed stands for a message about an object with secret values that nobody knows.
const Concealed = "its message is hidden, because it may quote secret values (kubectl describe shows it)"

const (
	// quotedOnly is the length up to which a value is hidden only where it is quoted. To
	// hide "1" everywhere would leave no text.
	quotedOnly = 3
	// wordOnly is the length up to which a value is hidden only where it is a whole word.
	wordOnly = 7
	// mostWaiting limits how many values wait to be sorted.
	mostWaiting = 1 << 18
)

// Filter hides values in texts. It learns values while a run reads them, and keeps those of
// rows that left. It is safe for concurrent use. Nil hides nothing.
type Filter struct {
	mu      sync.RWMutex
	waiting []string
	public  map[string]bool
	hiding  map[string]bool // see HideObjects
	short   map[string]bool // values that are hidden only in quotes
	tables  []*table        // from large to small, each at least twice as large as the next
}

// New returns a Filter that hides values.
func New(values ...string) *Filter {
	f := &Filter{}
	f.Learn(values...)
	return f
}

// Learn adds values. Texts that left earlier aren't changed.
func (f *Filter) Learn(values ...string) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range values {
		if strings.TrimSpace(v) != "" {
			f.waiting = append(f.waiting, v)
		}
	}
	if len(f.waiting) > mostWaiting {
		f.sort()
	}
}

// Publish names words that every output shows, such as uids. A secret value that equals
// one of them isn't hidden: otherwise a row could remove the name of another from messages.
func (f *Filter) Publish(words ...string) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.public == nil {
		f.public = map[string]bool{}
	}
	for _, w := range words {
		f.public[w] = true
	}
}

// HideObjects says that objects of a hub may have secret values that nobody knows now: those
// of rows that left. No message may quote such an object.
func (f *Filter) HideObjects(hub string) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hiding == nil {
		f.hiding = map[string]bool{}
	}
	f.hiding[hub] = true
}

// HidesObjects reports whether HideObjects named a hub.
func (f *Filter) HidesObjects(hub string) bool {
	if f == nil {
		return false
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.hiding[hub]
}

// sort makes the waiting values findable. Values are sorted in tables of doubling sizes, so
// that learning and hiding in turn doesn't sort all values each time.
func (f *Filter) sort() {
	var long []string
	for _, v := range f.waiting {
		for _, form := range partsOf(v) {
			switch {
			case len(form) > quotedOnly && !f.has(form):
				long = append(long, form)
			case len(form) <= quotedOnly:
				if f.short == nil {
					f.short = map[string]bool{}
				}
				f.short[form] = true
			}
		}
	}
	f.waiting = nil
	if len(long) == 0 {
		return
	}
	for n := len(f.tables); n > 0 && len(f.tables[n-1].values) < 2*len(long); n-- {
		long = append(long, f.tables[n-1].values...)
		f.tables = f.tables[:n-1]
	}
	f.tables = append(f.tables, newTable(long))
}

func (f *Filter) has(value string) bool {
	return slices.ContainsFunc(f.tables, func(t *table) bool {
		_, found := slices.BinarySearch(t.values, value)
		return found
	})
}

// read locks the values for reading, all of them sorted. The caller unlocks them.
func (f *Filter) read() (unlock func()) {
	f.mu.RLock()
	for len(f.waiting) > 0 {
		f.mu.RUnlock()
		f.mu.Lock()
		f.sort()
		f.mu.Unlock()
		f.mu.RLock()
	}
	return f.mu.RUnlock
}

// partsOf returns a value and its parts that a text may show alone. Of several lines these
// are the long ones, and of a JSON value the strings in it.
func partsOf(v string) []string {
	v = strings.TrimSpace(v)
	parts := []string{v}
	if strings.ContainsAny(v, "\n\r\t ") {
		parts = append(parts, phrase.OneLine(v), strings.Join(strings.Fields(v), " "))
	}
	if strings.ContainsAny(v, "\n\r") {
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); len(line) > wordOnly {
				parts = append(parts, line)
			}
		}
	}
	for _, text := range jsonStrings(v) {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
	}
	return parts
}

// jsonStrings are the strings in a JSON list or object, nil where a text is neither.
func jsonStrings(text string) []string {
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return nil
	}
	var content any
	if json.Unmarshal([]byte(text), &content) != nil {
		return nil
	}
	var found []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			found = append(found, v)
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for _, field := range v {
				walk(field)
			}
		}
	}
	walk(content)
	return found
}
