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

func activateNames() []string {
	return []string{"active", "is_active", "activate", "activated", "enabled", "is_enabled", "live", "status", "state"}
}

func expiresNames() []string {
	return []string{"expires_at", "valid_until", "expires_on", "expires", "expiry"}
}

// ends finds the columns with a time from which a row counts as inactive. Their names say
// so, and they contain times. Those that say that a row is deleted come first.
func (t Table) ends() []*Column {
	var deleted, expires []*Column
	for i := range t.Columns {
		switch c := &t.Columns[i]; {
		case c.isEnd():
			deleted = append(deleted, c)
		case c.Binary || !c.hasMoments():
		case slices.Contains(expiresNames(), snake(c.Name)):
			expires = append(expires, c)
		}
	}
	rank := func(c *Column) int { return slices.Index(expiresNames(), snake(c.Name)) }
	slices.SortStableFunc(expires, func(a, b *Column) int { return cmp.Compare(rank(a), rank(b)) })
	return append(deleted, expires...)
}

// isEnd reports whether a column has the times at which rows became inactive.
func (c *Column) isEnd() bool { return c.saysDeleted() && !c.Binary && c.hasMoments() }

// saysDeleted reports whether a name, such as "deleted_at", names the time at which a row
// became inactive.
func (c *Column) saysDeleted() bool {
	words := strings.Split(snake(c.Name), "_")
	last := len(words) - 1
	return last > 0 && slices.Contains([]string{"at", "on", "date", "time", "timestamp"}, words[last]) && saysInactive(words[:last])
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
	if best == nil {
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
	if c.Binary || c.looksSecret() || !c.isDistinct(off) {
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
	if words := strings.Split(snake(c.Name), "_"); at < 0 && len(words) > 1 && (c.Primary || c.Unique) {
		at = slices.Index(names, words[len(words)-1]) // such as customer_key
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
// is. perhaps are columns that people must look at: those of yes and no whose names say
// nothing, and one with a usual name and unknown values.
func (t Table) activate(choice Choice, uid *Column) (c *Column, perhaps []string, err error) {
	switch {
	case choice.EveryRow:
		return nil, nil, nil
	case choice.Activate != "":
		c, err = t.chosenActivation(choice)
		return c, nil, err
	}
	var worded, inverted, unfit *Column
	for i := range t.Columns {
		if c := &t.Columns[i]; c != uid && c.isYesNo() && c.saysInactive() && !c.isEnd() {
			inverted = cmp.Or(inverted, c)
		}
	}
	for _, name := range activateNames() {
		for i := range t.Columns {
			c := &t.Columns[i]
			switch {
			case c == uid || snake(c.Name) != name:
			case !c.Binary && c.notActivation() == "":
				return c, nil, nil
			default:
				if _, _, ok := c.activity(); ok && !c.Binary {
					worded = cmp.Or(worded, c)
				}
				unfit = cmp.Or(unfit, c)
			}
		}
	}
	switch {
	case worded != nil:
		return worded, nil, nil
	case inverted != nil:
		return inverted, nil, nil
	case unfit != nil && len(t.ends()) == 0:
		return nil, nil, unfit.unfitForActivation("can't tell which rows are active: ")
	}
	for i := range t.Columns {
		if c := &t.Columns[i]; c != uid && c.isYesNo() && c.hasValue() {
			perhaps = append(perhaps, c.Name)
		}
	}
	if unfit != nil {
		perhaps = append(perhaps, unfit.Name)
	}
	return nil, perhaps, nil
}

// isYesNo reports whether all samples of a column mean yes or no, or are empty. It returns
// false without samples.
func (c *Column) isYesNo() bool { return !c.Binary && len(c.Values) > 0 && c.notActivation() == "" }

// chosenActivation returns the activation column that a person named.
func (t Table) chosenActivation(choice Choice) (*Column, error) {
	c, err := t.named("activation", choice.Activate)
	if err == nil && len(choice.Activity.Active) == 0 {
		if _, _, ok := c.activity(); !ok {
			err = c.unfitForActivation("")
		}
	}
	return c, err
}

// unfitForActivation returns the error for a column whose values init doesn't understand.
func (c *Column) unfitForActivation(before string) *Error {
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
