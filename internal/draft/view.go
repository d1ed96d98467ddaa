package draft

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// mostWords is how many words a column may have that says in words what is active:
// one with more says something else.
const mostWords = 12

// Words that columns have for active and inactive, in lower case.
func yesWords() []string {
	return []string{"active", "activated", "enabled", "enable", "live", "online", "open", "running", "valid", "ok", "up", "y", "yes", "t", "true", "on"}
}

func noWords() []string {
	return []string{
		"inactive", "deactivated", "disabled", "disable", "offline", "closed", "stopped", "invalid", "down", "n", "no", "f", "false", "off",
		"archived", "blocked", "canceled", "cancelled", "deleted", "expired", "removed", "suspended", "terminated",
	}
}

// View is a view of a table whose activation column is 1 and 0, where the table has
// words.
type View struct {
	Name string // as a hub names it
	// UID and Activate are columns of the view.
	UID, Activate string
	// SQL makes the view. Unclear are words in it that have a question mark where 1 or
	// 0 is to be.
	SQL     string
	Unclear []string
}

// view is the view that makes 1 and 0 of a column, nil where the source has no views
// or the column is more than a few words.
func (t Table) view(of *Column, uid string) *View {
	words := of.words()
	if !t.hasViews() || len(words) == 0 {
		return nil
	}
	d := dialectOf(t.Type)
	v := &View{Name: viewName(t.Name, t.Type), UID: uid, Activate: t.free("active")}
	column := "t." + d.quote(of.Name) + d.asText
	lines := []string{
		fmt.Sprintf("CREATE VIEW %s AS", d.table(v.Name)),
		"SELECT t.*, CASE " + column,
	}
	for _, word := range words {
		result := meaning(word)
		if result == "?" {
			v.Unclear = append(v.Unclear, word)
		}
		lines = append(lines, fmt.Sprintf("  WHEN '%s' THEN '%s'", word, result))
	}
	// Other words stay as they are, so that a run is refused and no tenant is lost.
	lines = append(lines, fmt.Sprintf("  ELSE %s END AS %s", column, d.quote(v.Activate)), fmt.Sprintf("FROM %s t;", d.table(t.Name)))
	v.SQL = strings.Join(lines, "\n") + "\n"
	return v
}

// hasViews tells whether the table is in a database.
func (t Table) hasViews() bool {
	return slices.Contains([]lynq.SourceType{lynq.SourceMySQL, lynq.SourcePostgreSQL, lynq.SourceSQLite}, t.Type)
}

// words are the values that are neither yes nor no, sorted; none where one of them
// is no word, or they are too many.
func (c *Column) words() []string {
	word := regexp.MustCompile(`^[\pL\pN][\pL\pN _-]{0,29}$`)
	var words []string
	for _, v := range c.Values {
		if _, err := lynq.ParseActive(v); err == nil || slices.Contains(words, v) {
			continue
		}
		if !word.MatchString(v) || len(words) == mostWords {
			return nil
		}
		words = append(words, v)
	}
	slices.Sort(words)
	return words
}

// meaning is what a word makes of a row: 1, 0, or a question mark for people to
// replace.
func meaning(word string) string {
	switch word = strings.ToLower(word); {
	case slices.Contains(yesWords(), word):
		return "1"
	case slices.Contains(noWords(), word):
		return "0"
	}
	return "?"
}

// advice says what to do with a view.
func (v *View) advice() string {
	edit := ""
	if len(v.Unclear) > 0 {
		edit = fmt.Sprintf("replace each '?' in it with 1 or 0 (%s), ", strings.Join(v.Unclear, ", "))
	}
	return fmt.Sprintf("the SQL on standard output creates a view with 1 and 0: %srun it, then run init with table=%s --uid %s --activate %s", edit, v.Name, v.UID, v.Activate)
}

// free is a name for one more column.
func (t Table) free(name string) string {
	free := name
	for n := 2; t.find(free) != nil; n++ {
		free = fmt.Sprintf("%s_%d", name, n)
	}
	return free
}

// dialect is how a kind of database spells what a view needs.
type dialect struct {
	quotes  string // around a name
	asText  string // behind a column: as text
	schemas bool   // a dot in a table's name parts it from its schema
}

func dialectOf(kind lynq.SourceType) dialect {
	switch kind {
	case lynq.SourceMySQL:
		return dialect{quotes: "`", schemas: true}
	case lynq.SourcePostgreSQL:
		return dialect{quotes: `"`, asText: "::text", schemas: true}
	}
	return dialect{quotes: `"`}
}

func (d dialect) quote(name string) string {
	return d.quotes + strings.ReplaceAll(name, d.quotes, d.quotes+d.quotes) + d.quotes
}

// table quotes the name of a table as a hub has it.
func (d dialect) table(name string) string {
	if schema, table, found := strings.Cut(name, "."); found && d.schemas {
		return d.quote(schema) + "." + d.quote(table)
	}
	return d.quote(name)
}

// viewName is what the view of a table is called, beside the table.
func viewName(table string, kind lynq.SourceType) string {
	if schema, name, found := strings.Cut(table, "."); found && dialectOf(kind).schemas {
		return schema + ".lynq_" + name
	}
	return "lynq_" + table
}
