package evidence

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// maxNote limits the bytes of rows in a note. A hub record has them in base64.
const maxNote = 192 << 10

// uidBytes is the length of a uid's digest. Two rows of a source seldom have the same.
const uidBytes = 4

// Digests of values: "" has empty, and all other values of a secret column have filled. Other
// values have other digests.
const (
	empty  = 0
	filled = 1
)

// width is the number of bytes of a value's digest in a note. Notes of earlier versions have
// narrow ones.
const (
	width  = 2
	narrow = 1
)

// Source notes the rows of a source while somebody reads them. It keeps no value.
type Source struct {
	// Where is the condition by which the source chose its rows, or "".
	Where string
	// Lookups are digests of the lookups, by their names. They show no secret value.
	Lookups  map[string]string
	columns  []noted
	active   []sourceRow
	inactive []uint64
}

// noted is a column of a note.
type noted struct {
	Name   string `json:"name"`
	Secret bool   `json:"secret,omitempty"`
}

// sourceRow has hashes of a row, before a key is known.
type sourceRow struct {
	uid    uint64
	values []uint64 // 0 for an empty value
}

// NewSource returns a Source for rows with these columns, which don't include those of the uid and
// of activation.
func NewSource(columns []string, secret func(string) bool) *Source {
	s := &Source{}
	for _, c := range columns {
		s.columns = append(s.columns, noted{c, secret(c)})
	}
	return s
}

// Active notes an active row, with values in the order of the columns.
func (s *Source) Active(uid string, values []string) {
	row := sourceRow{hash(uid), make([]uint64, len(s.columns))}
	for i, v := range values[:min(len(values), len(s.columns))] {
		switch c := &s.columns[i]; {
		case v == "":
		case c.Secret:
			row.values[i] = filled
		default:
			row.values[i] = max(filled, hash(c.Name+"\x00"+uid+"\x00"+v))
		}
	}
	s.active = append(s.active, row)
}

// Inactive notes an inactive row. A uid may have several, and an active one, too.
func (s *Source) Inactive(uid string) { s.inactive = append(s.inactive, hash(uid)) }

func hash(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:8])
}

// keyed returns a hash with a key, so that two hubs have different hashes of one row.
func keyed(key string, h uint64) [sha256.Size]byte {
	var buffer [64]byte // long enough for any key of lynqctl
	return sha256.Sum256(binary.BigEndian.AppendUint64(append(buffer[:0], key...), h))
}

func keyedUID(key string, h uint64) uint32 {
	sum := keyed(key, h)
	return binary.BigEndian.Uint32(sum[:uidBytes])
}

// note is what a run notes about its rows.
type note struct {
	columns []noted
	rows    []noteRow // by their uids
	// sampled is set if there were more rows, whose uids come after these.
	sampled bool
	key     string
	width   int // of a digest
}

// noteRow has the recorded digests of a row. They are so short that many values share one.
type noteRow struct {
	uid    uint32
	values []byte
}

// value returns the digest of a value in a column.
func (n *note) value(r noteRow, column int) uint16 {
	if n.width == narrow {
		return uint16(r.values[column])
	}
	return binary.BigEndian.Uint16(r.values[column*width:])
}

// digest records the digest of a value, of which h is the hash.
func (n *note) digest(b []byte, h uint64, secret bool) []byte {
	value := uint16(empty)
	if h != 0 {
		value = filled
	}
	if h != 0 && !secret {
		sum := keyed(n.key, h)
		value = binary.BigEndian.Uint16(sum[:])
		if n.width == narrow {
			value >>= 8
		}
		value = max(filled, value)
	}
	if n.width == narrow {
		return append(b, byte(value))
	}
	return binary.BigEndian.AppendUint16(b, value)
}

// rowSize returns the number of bytes of a row in the record.
func (n *note) rowSize() int { return uidBytes + n.width*len(n.columns) }

// noteWith returns the note of a source with a key, and digests of this width. It keeps the first
// rows for which there is room, so that two runs keep the same rows.
func (s *Source) noteWith(key string, width int) *note {
	n := &note{columns: s.columns, key: key, width: width}
	rows := make([]noteRow, len(s.active))
	order := make([]int, len(s.active))
	for i := range s.active {
		rows[i].uid, order[i] = keyedUID(key, s.active[i].uid), i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(rows[a].uid, rows[b].uid) })
	if most := maxNote / n.rowSize(); len(order) > most {
		order, n.sampled = order[:most], true
	}
	for _, i := range order {
		row := noteRow{rows[i].uid, make([]byte, 0, n.width*len(s.columns))}
		for k, h := range s.active[i].values {
			row.values = n.digest(row.values, h, s.columns[k].Secret)
		}
		n.rows = append(n.rows, row)
	}
	return n
}

// written is the JSON of a note.
type written struct {
	// Key is the key of a note with digests of 16 bits. Earlier versions wrote narrow digests, and
	// their key has another name, so that they don't read a note of this version.
	Key       string  `json:"key16,omitempty"`
	NarrowKey string  `json:"key,omitempty"`
	Columns   []noted `json:"columns"`
	Sampled   bool    `json:"sampled,omitempty"`
	Where     string  `json:"where,omitempty"`
	// Lookups have keyed digests.
	Lookups map[string]string `json:"lookups,omitempty"`
	Rows    string            `json:"rows"`
}

// Note returns a note about the rows with a key, for the next run.
func (s *Source) Note(key string) string {
	n := s.noteWith(key, width)
	var b []byte
	for _, r := range n.rows {
		b = binary.BigEndian.AppendUint32(b, r.uid)
		b = append(b, r.values...)
	}
	text, err := json.Marshal(written{Key: key, Columns: n.columns, Sampled: n.sampled, Where: s.Where, Lookups: s.lookups(key), Rows: base64.RawStdEncoding.EncodeToString(b)})
	if err != nil {
		return "" // texts and booleans can always be encoded
	}
	return string(text)
}

// read reads a note. It returns nil for none, and for one that can't be read, because nothing
// fails without evidence.
func read(text string) *note {
	w := readText(text)
	if w == nil {
		return nil
	}
	n := &note{columns: w.Columns, sampled: w.Sampled, key: w.Key, width: width}
	if n.key == "" {
		n.key, n.width = w.NarrowKey, narrow
	}
	b, err := base64.RawStdEncoding.DecodeString(w.Rows)
	size := n.rowSize()
	if err != nil || len(b)%size != 0 {
		return nil
	}
	for row := range slices.Chunk(b, size) {
		n.rows = append(n.rows, noteRow{binary.BigEndian.Uint32(row), row[uidBytes:]})
	}
	if !slices.IsSortedFunc(n.rows, func(a, b noteRow) int { return cmp.Compare(a.uid, b.uid) }) {
		return nil
	}
	return n
}

// readText reads the text of a note, nil if it has no key.
func readText(text string) *written {
	var w written
	if text == "" || json.Unmarshal([]byte(text), &w) != nil || w.Key+w.NarrowKey == "" {
		return nil
	}
	return &w
}

// lookups returns the digests of lookups with a key.
func (s *Source) lookups(key string) map[string]string {
	digests := map[string]string{}
	for name, digest := range s.Lookups {
		sum := keyed(key, hash(digest))
		digests[name] = hex.EncodeToString(sum[:8])
	}
	return digests
}

// ChangedLookups returns the lookups that an earlier note has with other entries, sorted.
func (s *Source) ChangedLookups(earlier string) []string {
	return slices.Sorted(maps.Keys(s.compareLookups(earlier, false)))
}

// compareLookups returns the lookups that both notes know, with equal entries or with others.
func (s *Source) compareLookups(earlier string, equal bool) map[string]bool {
	w, found := readText(earlier), map[string]bool{}
	if w == nil {
		return found
	}
	for name, digest := range s.lookups(cmp.Or(w.Key, w.NarrowKey)) {
		if before, known := w.Lookups[name]; known && (before == digest) == equal {
			found[name] = true
		}
	}
	return found
}

// WhereBefore returns the condition of an earlier note, and whether it isn't that of this
// run. Without a note, nobody knows the earlier one.
func (s *Source) WhereBefore(earlier string) (where string, changed bool) {
	w := readText(earlier)
	if w == nil {
		return "", false
	}
	return w.Where, w.Where != s.Where
}

// Key returns the key of a note, or "" if the note can't be read.
func Key(text string) string {
	if n := read(text); n != nil {
		return n.key
	}
	return ""
}

// Compare returns how the rows differ from those of an earlier note, or nil without one.
func (s *Source) Compare(earlier string) *Rows {
	before := read(earlier)
	if before == nil {
		return nil
	}
	now := s.noteWith(before.key, before.width)
	c := comparison{now: now, before: before, rows: &Rows{Sampled: now.sampled || before.sampled, Narrow: before.width == narrow}, inactive: map[uint32]bool{}}
	for _, h := range s.inactive {
		c.inactive[keyedUID(before.key, h)] = true
	}
	c.match()
	c.compare()
	return c.rows
}

// comparison compares two notes row by row.
type comparison struct {
	now, before *note
	inactive    map[uint32]bool
	rows        *Rows
	// columns are the places of the columns that both have.
	columns [][2]int
}

// match finds the columns that both notes have. A column is secret if it is in one of them.
func (c *comparison) match() {
	for i, now := range c.now.columns {
		j := slices.IndexFunc(c.before.columns, func(b noted) bool { return b.Name == now.Name })
		if j < 0 {
			continue
		}
		c.columns = append(c.columns, [2]int{i, j})
		c.rows.Columns = append(c.rows.Columns, Column{Name: now.Name, Secret: now.Secret || c.before.columns[j].Secret})
	}
}

// compare compares both sorted notes, as far as both have all rows.
func (c *comparison) compare() {
	now, before := c.now.within(c.before), c.before.within(c.now)
	for len(now)+len(before) > 0 {
		switch {
		case len(before) == 0 || len(now) > 0 && now[0].uid < before[0].uid:
			c.rows.New++
			now = now[1:]
		case len(now) == 0 || before[0].uid < now[0].uid:
			if c.inactive[before[0].uid] {
				c.rows.Deactivated++
			} else {
				c.rows.Vanished++
			}
			before = before[1:]
		default:
			c.row(now[0], before[0])
			now, before = now[1:], before[1:]
		}
	}
	slices.SortFunc(c.rows.Columns, func(a, b Column) int { return cmp.Compare(a.Name, b.Name) })
}

// within returns the rows that another note has, or would have.
func (n *note) within(other *note) []noteRow {
	if !other.sampled || len(other.rows) == 0 {
		return n.rows
	}
	last := other.rows[len(other.rows)-1].uid
	end := 0
	for end < len(n.rows) && n.rows[end].uid <= last {
		end++
	}
	return n.rows[:end]
}

// row compares a row with the earlier one.
func (c *comparison) row(now, before noteRow) {
	c.rows.Compared++
	changed := false
	for k, at := range c.columns {
		column := &c.rows.Columns[k]
		a, b := c.now.value(now, at[0]), c.before.value(before, at[1])
		if column.Secret {
			a, b = min(a, filled), min(b, filled)
		}
		if a == b {
			continue
		}
		if a == empty {
			column.Emptied++
		}
		if !column.Secret {
			column.Changed++
			changed = true
		}
	}
	if changed {
		c.rows.Changed++
	}
}

// Unchanged returns a function that names the columns in which a row has the values of an
// earlier note, and the lookups with the entries of that note. The function returns nil for a
// row that one of the notes lacks. Sixteen bits can't tell all values apart: one of 65 536
// changed values counts as unchanged.
func (s *Source) Unchanged(earlier string) func(uid string) []string {
	before := read(earlier)
	if before == nil {
		return func(string) []string { return nil }
	}
	c := comparison{now: s.noteWith(before.key, before.width), before: before, rows: &Rows{}}
	c.match()
	same := slices.Sorted(maps.Keys(s.compareLookups(earlier, true)))
	return func(uid string) []string {
		u := keyedUID(before.key, hash(uid))
		now, was := c.now.row(u), c.before.row(u)
		if now == nil || was == nil {
			return nil
		}
		var columns []string
		for k, at := range c.columns {
			if column := &c.rows.Columns[k]; !column.Secret && c.now.value(*now, at[0]) == c.before.value(*was, at[1]) {
				columns = append(columns, column.Name)
			}
		}
		for _, name := range same {
			columns = append(columns, lynq.LookupColumn(name))
		}
		return columns
	}
}

// row returns the row with a uid, or nil if it is missing or two rows have this digest.
func (n *note) row(uid uint32) *noteRow {
	i, found := slices.BinarySearchFunc(n.rows, uid, func(r noteRow, uid uint32) int { return cmp.Compare(r.uid, uid) })
	if !found || i+1 < len(n.rows) && n.rows[i+1].uid == uid {
		return nil
	}
	return &n.rows[i]
}
