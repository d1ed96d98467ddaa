package draft

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Common names of columns for a purpose, the likeliest first.
func uidNames() []string {
	return []string{"uid", "tenant", "tenant_id", "slug", "id", "uuid", "tenant_uid", "key", "code", "handle", "subdomain", "account", "account_id", "customer", "customer_id", "name"}
}

func expiresNames() []string {
	return []string{"expires_at", "valid_until", "valid_to", "expires_on", "expires", "expiry", "expiry_date", "expiration_date", "ended_at", "ends_at", "end_date"}
}

// ends finds the columns with a time from which a row counts as inactive. Their names say
// so, and they contain times. Those that say that a row is deleted come first, and times
// that were known before come last.
func (t Table) ends() []*Column {
	var ends []*Column
	for i := range t.Columns {
		if c := &t.Columns[i]; c.isEnd() {
			ends = append(ends, c)
		}
	}
	rank := func(c *Column) int {
		if name := strings.ToLower(c.Name); strings.Contains(name, "delet") || strings.Contains(name, "discard") {
			return -2
		}
		return slices.Index(expiresNames(), snake(c.Name))
	}
	slices.SortStableFunc(ends, func(a, b *Column) int { return cmp.Compare(rank(a), rank(b)) })
	return ends
}

// isEnd reports whether a column has the times at which rows became or become inactive.
func (c *Column) isEnd() bool {
	says := c.meaning()
	return !c.Binary && c.hasMoments() && (says == saysEnd || says == saysInactive && c.hasValue())
}

// previousUID finds the column with a row's former uid, by its name. If the table has none,
// it returns "".
func (t Table) previousUID(d *Draft) string {
	for i := range t.Columns {
		if c := &t.Columns[i]; snake(c.Name) == "previous_"+snake(d.UID) && !c.Binary && c.Name != d.Activate {
			return c.Name
		}
	}
	return ""
}

// hasMoments reports whether all values of a column are times, or empty.
func (c *Column) hasMoments() bool {
	return !slices.ContainsFunc(c.Values, func(v string) bool {
		_, err := lynq.ParseMoment(v)
		return err != nil
	})
}

// uid finds the column that identifies the active rows. Inactive rows may repeat its
// values, for example as history.
func (t Table) uid(chosen string, off []bool) (*Column, error) {
	if chosen != "" {
		c, err := t.named("uid", chosen)
		if err == nil && !c.isDistinct(off) {
			err = &Error{What: fmt.Sprintf("column %q identifies no row: it has an empty value in active rows, or one twice", c.Name), Fix: "fix the rows, or name another column"}
		}
		return c, err
	}
	var best *Column
	most := 0
	for i := range t.Columns {
		if fit := t.Columns[i].fitForUID(i == 0, off); fit > most {
			best, most = &t.Columns[i], fit
		}
	}
	switch {
	case len(t.Columns) == 0:
		return nil, &Error{What: "there are no rows, and so no columns", Fix: "run init again when the first row exists"}
	case best == nil:
		return nil, &Error{
			What: "no column identifies the rows: none is a key, or has a usual name and no value twice",
			Fix:  "name it with --uid; there are: " + strings.Join(t.names(), ", "),
		}
	}
	return best, nil
}

// fitForUID rates how well a column would identify rows, with 0 for not at all. Keys come
// before columns that only happen to be distinct. Words come before numbers, which make
// poor names. So a slug that is a key is better than a number that is one.
// Titles, such as "Acme Inc." or those in a column "name", come last, because people change
// them.
func (c *Column) fitForUID(first bool, off []bool) int {
	if c.Binary || c.looksSecret() || !c.isDistinct(off) || slices.ContainsFunc(c.Values, isNested) {
		return 0
	}
	var fit int
	names := uidNames()
	at := slices.Index(names, snake(c.Name))
	switch {
	case c.Primary:
		fit = 100
	case c.Unique:
		fit = 80
	case at >= 0:
		fit = 40
	case first:
		return 1
	default:
		return 0
	}
	if words := strings.Split(snake(c.Name), "_"); at < 0 && len(words) > 1 && (c.Primary || c.Unique && words[len(words)-1] != "id") {
		at = slices.Index(names, words[len(words)-1]) // such as customer_key, but not stripe_customer_id
	}
	if at >= 0 {
		fit += len(names) - at
	}
	const mostOfTitles = 10
	switch {
	case c.saysTitle(), c.isTitle():
		fit = min(fit, mostOfTitles)
	case c.isNumber():
		fit -= 30
	}
	return max(fit, 1)
}

// activate finds the column that shows which rows are active. It returns nil if every row
// is. perhaps are columns that people must look at: their values may show it, and their
// names say nothing.
func (t Table) activate(choice Choice, uid *Column) (c *Column, perhaps []string, err error) {
	switch {
	case choice.EveryRow:
		return nil, nil, nil
	case choice.Activate != "":
		c, err = t.chosenActivation(choice)
		return c, nil, err
	}
	var unfit *Column
	most := 0
	for i := range t.Columns {
		next := &t.Columns[i]
		says := next.meaning()
		switch fit := next.fitForActivation(); {
		case next == uid || says == saysNothing:
			if next != uid && next.mayShowActivity() {
				perhaps = append(perhaps, next.Name)
			}
		case !next.isShown():
			unfit = cmp.Or(unfit, next)
		case fit > most:
			c, most = next, fit
		}
	}
	switch {
	case c != nil:
		return c, nil, nil
	case unfit != nil && len(t.ends()) == 0:
		return nil, nil, t.unfitForActivation(unfit, "can't tell which rows are active: ")
	}
	return nil, perhaps, nil
}

// fitForActivation rates how well a column shows which rows are active, by its name, with 0
// for not at all. A column without values, although there are rows, comes last.
func (c *Column) fitForActivation() int {
	fit := map[meaning]int{saysActive: 4, saysState: 3, saysInactive: 2}[c.meaning()]
	switch {
	case c.isEnd():
		return 0
	case c.meaning() == saysState && len(c.Values) == 0, fit > 0 && len(c.Values) > 0 && !c.hasValue() && c.meaning() != saysInactive:
		return 1
	}
	return fit
}

// assumption returns what a column's name or values only suggest about its rows, or "".
func (c *Column) assumption() string {
	switch says := c.meaning(); {
	case len(c.Values) == 0:
		return "the table has no rows, so only the column's name counts"
	case says == saysInactive:
		return "by the column's name, yes means inactive"
	case !c.hasFlags():
		return "by their meaning, words are sorted into active and inactive"
	case says == saysState && c.hasValue() && c.isCount():
		return "1 means active and 0 inactive, but some frameworks count the other way round"
	}
	return ""
}

// mayShowActivity reports whether the values of a column look as if they showed which rows
// are active, although its name doesn't say so.
func (c *Column) mayShowActivity() bool {
	return !c.Binary && c.hasValue() && (c.hasFlags() || len(c.words()) > 0 && slices.ContainsFunc(c.Values, func(v string) bool {
		return slices.Contains(yesWords(), strings.ToLower(v)) || slices.Contains(noWords(), strings.ToLower(v))
	}))
}

// hasFlags reports whether all samples of a column mean yes or no, or are empty.
func (c *Column) hasFlags() bool {
	return !slices.ContainsFunc(c.Values, func(v string) bool {
		_, ok := parseFlag(v)
		return !ok && v != ""
	})
}

// chosenActivation returns the activation column that a person named.
func (t Table) chosenActivation(choice Choice) (*Column, error) {
	c, err := t.named("activation", choice.Activate)
	if err == nil && len(choice.Activity.Active) == 0 {
		if _, _, ok := c.activity(); !ok {
			err = t.unfitForActivation(c, "")
		}
	}
	return c, err
}

// unfitForActivation returns the error for a column whose values init doesn't understand.
func (t Table) unfitForActivation(c *Column, before string) *Error {
	if c.meaning() == saysEnd {
		fix := "store times there"
		if t.Type.HasSQL() {
			fix = "read a view that has times, or write a hub with where, and run init with -f HUB"
		}
		return &Error{
			What: fmt.Sprintf("%scolumn %q has other values than times such as 2026-01-31 12:00:00", before, c.Name),
			Fix:  "name another column with --activate, or pass --activate none if every row is active, or " + fix,
		}
	}
	return &Error{
		What: fmt.Sprintf("%scolumn %q has other values than 1 true yes t on, and 0 false no f off or nothing", before, c.Name),
		Fix:  "name another column with --activate, or pass --activate none if every row is active, or write a hub with activeValues and inactiveValues, and run init with -f HUB",
	}
}

// notActivation returns a value that means neither active nor inactive, or "".
func (c *Column) notActivation() string {
	for _, v := range c.Values {
		if _, err := lynq.ParseActive(v); err != nil {
			return v
		}
	}
	return ""
}

func (c *Column) hasValue() bool {
	return slices.ContainsFunc(c.Values, func(v string) bool { return v != "" })
}

// isDistinct reports whether all samples differ, and none is empty. It skips the rows that
// are off, because tables keep history.
func (c *Column) isDistinct(off []bool) bool {
	seen := map[string]bool{}
	for i, v := range c.Values {
		if i < len(off) && off[i] {
			continue
		}
		if v = strings.TrimSpace(v); v == "" || seen[v] {
			return false
		}
		seen[v] = true
	}
	return true
}

// isNested reports whether a value is an object or a list.
func isNested(v string) bool { return strings.HasPrefix(v, "{") || strings.HasPrefix(v, "[") }

// isNumber reports whether all samples are numbers. It returns false without samples.
func (c *Column) isNumber() bool {
	for _, v := range c.Values {
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			return false
		}
	}
	return len(c.Values) > 0
}

// isTitle reports whether a sample has several words.
func (c *Column) isTitle() bool {
	return slices.ContainsFunc(c.Values, isTitle)
}

func isTitle(v string) bool { return strings.ContainsAny(strings.TrimSpace(v), " \t") }

// saysTitle reports whether the name of a column says that people read its values.
func (c *Column) saysTitle() bool {
	words := strings.Split(snake(c.Name), "_")
	return slices.Contains([]string{"name", "title", "label", "company", "email", "mail", "description"}, words[len(words)-1])
}

// isCount reports whether all samples are small whole numbers. It returns false without
// samples.
func (c *Column) isCount() bool {
	for _, v := range c.Values {
		if _, err := strconv.ParseUint(v, 10, 16); err != nil {
			return false
		}
	}
	return len(c.Values) > 0
}

// LooksSecret reports whether the name of a column or variable suggests a secret.
func LooksSecret(name string) bool { return (&Column{Name: name}).looksSecret() }

// looksSecret reports whether a column may contain values that nobody should see in a
// ConfigMap. If in doubt, it returns true.
func (c *Column) looksSecret() bool {
	words := strings.Split(snake(c.Name), "_")
	for _, w := range []string{"pass", "pwd", "pin", "otp", "totp", "dsn", "salt", "hash", "auth", "cert", "credential", "credentials", "cvv"} {
		if slices.Contains(words, w) {
			return true
		}
	}
	joined := strings.Join(words, "")
	for _, part := range []string{"password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey", "sshkey", "encryptionkey", "connectionstring", "connstr", "webhook"} {
		if strings.Contains(joined, part) {
			return true
		}
	}
	return slices.ContainsFunc(c.Values, secretValue)
}

// secretValue reports whether a value looks like a secret: a private key, the hash of a
// password, a URL with a password, or a token with a well-known start.
func secretValue(v string) bool {
	for _, prefix := range []string{"-----BEGIN", "$2a$", "$2b$", "$2y$", "$argon2", "{SSHA}", "sk_live_", "sk_test_", "ghp_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "eyJ"} {
		if strings.HasPrefix(v, prefix) {
			return true
		}
	}
	_, rest, found := strings.Cut(v, "://")
	if !found {
		return false
	}
	authority, _, _ := strings.Cut(rest, "/")
	user, _, at := strings.Cut(authority, "@")
	return at && strings.Contains(user, ":")
}

// snake returns a name in lower case with underscores between its words: "isActive" and "Is
// Active" become "is_active".
func snake(name string) string {
	var b strings.Builder
	lower := false // the last character was a lower-case letter or a digit
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r, lower = '_', false
		case unicode.IsUpper(r):
			if lower {
				b.WriteByte('_')
			}
			r, lower = unicode.ToLower(r), false
		default:
			lower = true
		}
		b.WriteRune(r)
	}
	return strings.Trim(b.String(), "_")
}
