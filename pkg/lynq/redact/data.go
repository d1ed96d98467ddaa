package redact

import (
	"regexp"
	"strings"
)

// HideData works like Hide, for JSON, YAML, and other data that programs read. Keys, and
// the quotes and brackets between values, stay as they are.
func (f *Filter) HideData(data string) string {
	if f.Empty() {
		return data
	}
	var b strings.Builder
	key := yamlKey()
	for line := range strings.Lines(data) {
		if text := strings.TrimSpace(line); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, `"`) {
			f.hideJSON(&b, line)
			continue
		}
		at := key.FindStringIndex(line)
		if at == nil {
			at = []int{0, 0}
		}
		b.WriteString(line[:at[1]])
		b.WriteString(f.Hide(line[at[1]:]))
	}
	return b.String()
}

// Empty reports whether there is nothing to hide.
func (f *Filter) Empty() bool {
	if f == nil {
		return true
	}
	defer f.read()()
	return len(f.tables) == 0 && len(f.short) == 0
}

// yamlKey matches the key of a line of YAML.
func yamlKey() *regexp.Regexp { return regexp.MustCompile(`^\s*(- )*["']?[\w./-]+["']?:(\s|$)`) }

// hideJSON hides values in the texts of a line of JSON that aren't keys.
func (f *Filter) hideJSON(b *strings.Builder, line string) {
	for {
		from := strings.IndexByte(line, '"')
		if from < 0 {
			break
		}
		to := from + 1
		for to < len(line) && line[to] != '"' {
			if line[to] == '\\' {
				to++
			}
			to++
		}
		to = min(to+1, len(line))
		if strings.HasPrefix(strings.TrimLeft(line[to:], " "), ":") {
			b.WriteString(line[:to])
		} else {
			b.WriteString(line[:from])
			b.WriteString(f.Hide(line[from:to])) // with its quotes, in which short values are hidden
		}
		line = line[to:]
	}
	b.WriteString(line)
}
