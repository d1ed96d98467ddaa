package render

import (
	"slices"
	"strings"
)

// uids knows the uids of a hub's active rows, without the blanks around them, and the line
// of each. Rows come in the order of their uids, so nearly every uid follows all others,
// and one comparison shows that it is new. Those lie one behind the other, without a
// string or a hash of their own: a million take 25 MB. The others are in a map; blanks
// around a uid put it in another place.
type uids struct {
	chunks []uidChunk
	last   string // the greatest, as long as the row that it came with
	others map[string]int
}

// uidChunk is some uids in ascending order.
type uidChunk struct {
	text  []byte
	ends  []uint32 // of each uid in the text
	lines []int
}

// uidsPerChunk is how many uids lie together.
const uidsPerChunk = 4096

// add takes note of a uid, or gives the line of the row that has it already.
func (u *uids) add(uid string, line int) (first int, twice bool) {
	if uid > u.last {
		if first, twice = u.others[uid]; !twice {
			u.append(uid, line)
		}
		return first, twice
	}
	if first, twice = u.line(uid); twice {
		return first, true
	}
	if u.others == nil {
		u.others = map[string]int{}
	}
	u.others[strings.Clone(uid)] = line
	return 0, false
}

// append adds a uid behind all others.
func (u *uids) append(uid string, line int) {
	if n := len(u.chunks); n == 0 || len(u.chunks[n-1].ends) == uidsPerChunk {
		c := uidChunk{ends: make([]uint32, 0, uidsPerChunk), lines: make([]int, 0, uidsPerChunk)}
		if n > 0 {
			c.text = make([]byte, 0, len(u.chunks[n-1].text)+len(uid))
		}
		u.chunks = append(u.chunks, c)
	}
	c := &u.chunks[len(u.chunks)-1]
	c.text = append(c.text, uid...)
	c.ends = append(c.ends, uint32(len(c.text))) //nolint:gosec // fault.MaxRow bounds a uid
	c.lines = append(c.lines, line)
	u.last = uid
}

// line is the line of the row that has a uid.
func (u *uids) line(uid string) (line int, found bool) {
	if line, found = u.others[uid]; found {
		return line, true
	}
	at, found := slices.BinarySearchFunc(u.chunks, uid, func(c uidChunk, uid string) int {
		return strings.Compare(c.uid(len(c.ends)-1), uid)
	})
	if at == len(u.chunks) {
		return 0, false
	}
	c := &u.chunks[at]
	if found {
		return c.lines[len(c.lines)-1], true
	}
	return c.line(uid)
}

// line is the line of the row that has one of the chunk's uids.
func (c *uidChunk) line(uid string) (line int, found bool) {
	low, high := 0, len(c.ends)
	for low < high {
		middle := (low + high) / 2
		switch strings.Compare(c.uid(middle), uid) {
		case 0:
			return c.lines[middle], true
		case -1:
			low = middle + 1
		default:
			high = middle
		}
	}
	return 0, false
}

// uid is the i-th uid of the chunk.
func (c *uidChunk) uid(i int) string {
	start := uint32(0)
	if i > 0 {
		start = c.ends[i-1]
	}
	return string(c.text[start:c.ends[i]])
}
