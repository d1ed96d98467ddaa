package render

import (
	"slices"
	"strings"
)

// uids has the uids of a hub's active rows, without white space around them, and their
// lines. Rows come in the order of uids, so one comparison shows that nearly every uid is
// new. These uids are stored in long texts without single strings or hashes, so a million
// need 25 MB. A map has the others, which white space put out of order.
type uids struct {
	chunks []uidChunk
	last   string // the greatest uid, valid as long as its row
	others map[string]int
}

// uidChunk has some uids in ascending order.
type uidChunk struct {
	text  []byte
	ends  []uint32 // the end of each uid in the text
	lines []int
}

// uidsPerChunk is the number of uids in a chunk.
const uidsPerChunk = 4096

// add stores a uid, or returns the line of the row that has it already.
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

// append adds a uid after all others.
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

// line returns the line of the row with a uid.
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

// line returns the line of the row with a uid of this chunk.
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

// uid returns the i-th uid of the chunk.
func (c *uidChunk) uid(i int) string {
	start := uint32(0)
	if i > 0 {
		start = c.ends[i-1]
	}
	return string(c.text[start:c.ends[i]])
}
