package model

import (
	"fmt"
	"hash/fnv"
	"slices"
)

// Shard is a share of the rows, one of Count. The zero Shard has all.
type Shard struct{ Index, Count uint64 }

// has reports whether the shard contains a row.
func (s Shard) has(uid string) bool {
	h := fnv.New64a()
	h.Write([]byte(uid))
	return s.Count == 0 || h.Sum64()%s.Count == s.Index
}

// unsharded names the changes of a shard's run if one of its forms has stages, because no
// shard knows when the nodes of others are ready.
func (c Command) unsharded(before, after *Cluster) []string {
	staged := slices.ContainsFunc(c.Inputs, func(h Hub) bool {
		return slices.ContainsFunc(h.Forms, func(f Form) bool {
			run := Command{Forms: c.Forms, Hubs: c.Hubs}
			return len(f.Stages) > 0 && run.covers(Node{Hub: h.Name, Form: f.Name})
		})
	})
	var wrong []string
	for _, ref := range different(before, after) {
		if staged && c.Shard.Count > 0 {
			wrong = append(wrong, fmt.Sprintf("%s was changed: a shard has no stages", ref))
		}
	}
	return wrong
}
