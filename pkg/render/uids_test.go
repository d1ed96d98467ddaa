package render

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestUIDs compares uids with a map, in the order of sources and in any other.
func TestUIDs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		var rows []string
		for range 3 * uidsPerChunk {
			uid := fmt.Sprintf("t-%d", random.IntN(4*uidsPerChunk))
			if random.IntN(8) == 0 {
				uid = []string{" ", "\t", "\u2003", ""}[random.IntN(4)] + uid + []string{"", " ", "x"}[random.IntN(3)]
			}
			rows = append(rows, uid)
		}
		if round%4 > 0 {
			slices.Sort(rows)
		}
		var got uids
		want := map[string]int{}
		for line, row := range rows {
			uid := strings.TrimSpace(row)
			first, twice := got.add(uid, line+1)
			if wantFirst := want[uid]; first != wantFirst || twice != (wantFirst > 0) {
				t.Fatalf("round %d: add(%q) = %d, %t after line %d", round, uid, first, twice, wantFirst)
			}
			if !twice {
				want[uid] = line + 1
			}
		}
		for i := range 4 * uidsPerChunk {
			uid := fmt.Sprintf("t-%d", i)
			if line, found := got.line(uid); line != want[uid] || found != (want[uid] > 0) {
				t.Fatalf("round %d: line(%q) = %d, %t, want %d", round, uid, line, found, want[uid])
			}
		}
	}
}
