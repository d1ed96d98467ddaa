package lynq

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Shard is a part of the rows: those whose uid has a hash that is Index modulo Count
// (contract: shards). The zero Shard has all rows.
type Shard struct {
	Index int
	Count int
}

// MaxShards limits the shards of a hub, because a run of the whole hub reads the Lease of each.
const MaxShards = 1024

// ParseShard reads "3/16", counted from 0.
func ParseShard(s string) (Shard, error) {
	index, count, _ := strings.Cut(s, "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	if err1 != nil || err2 != nil {
		return Shard{}, fmt.Errorf("%q is no shard (write INDEX/COUNT, for example 0/16)", s)
	}
	return NewShard(i, n)
}

// NewShard returns shard i of n, counted from 0.
func NewShard(i, n int) (Shard, error) {
	switch {
	case n < 1 || n > MaxShards:
		return Shard{}, fmt.Errorf("the number of shards must be 1 to %d, not %d", MaxShards, n)
	case i < 0 || i >= n:
		return Shard{}, fmt.Errorf("there is no shard %d of %d (count from 0)", i, n)
	}
	return Shard{Index: i, Count: n}, nil
}

// IsZero reports whether a run has all rows.
func (s Shard) IsZero() bool { return s.Count == 0 }

// Has reports whether the shard has the row with a uid, by FNV-1a with 64 bits modulo Count.
func (s Shard) Has(uid string) bool {
	if s.IsZero() {
		return true
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(uid))                         // a hash takes everything
	return h.Sum64()%uint64(s.Count) == uint64(s.Index) //nolint:gosec // neither is negative
}

// First reports whether the shard does the work that is for all rows, such as tombstones.
func (s Shard) First() bool { return s.Index == 0 }

// String returns "3/16", or "" for the zero Shard.
func (s Shard) String() string {
	if s.IsZero() {
		return ""
	}
	return strconv.Itoa(s.Index) + "/" + strconv.Itoa(s.Count)
}

// LeaseName returns the name of the Lease that one run at a time of a hub's shard has.
func (s Shard) LeaseName(hub string) string {
	if s.IsZero() {
		return wellknown.LeaseName(hub)
	}
	return fmt.Sprintf("%s%d-of-%d-%s", wellknown.ShardLeasePrefix, s.Index, s.Count, hub)
}
