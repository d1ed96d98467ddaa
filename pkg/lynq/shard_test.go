package lynq_test

import (
	"fmt"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestShards: each row is of one shard, each shard has its share, and no release moves a row.
func TestShards(t *testing.T) {
	const rows, shards = 16_000, 16
	sizes := make([]int, shards)
	for i := range rows {
		uid, of := fmt.Sprintf("tenant-%d", i), 0
		for k := range shards {
			if (lynq.Shard{Index: k, Count: shards}).Has(uid) {
				sizes[k]++
				of++
			}
		}
		if of != 1 {
			t.Fatalf("row %s is of %d shards", uid, of)
		}
	}
	for k, n := range sizes {
		if n < rows/shards*8/10 || n > rows/shards*12/10 {
			t.Errorf("shard %d has %d rows", k, n)
		}
	}
	for uid, want := range map[string]int{"": 5, "acme": 15, "bolt": 6, "ünï": 6} {
		t.Run(uid, func(t *testing.T) {
			for k := range shards {
				if (lynq.Shard{Index: k, Count: shards}).Has(uid) != (k == want) {
					t.Errorf("row %q: shard %d", uid, k)
				}
			}
		})
	}
	if !(lynq.Shard{}).Has("acme") {
		t.Error("the zero shard lacks a row")
	}
}

func TestParseShard(t *testing.T) {
	for text, want := range map[string]lynq.Shard{"0/1": {Index: 0, Count: 1}, "3/16": {Index: 3, Count: 16}} {
		t.Run(text, func(t *testing.T) {
			if got, err := lynq.ParseShard(text); err != nil || got != want || got.String() != text {
				t.Errorf("%s: %v, %v", text, got, err)
			}
		})
	}
	for _, text := range []string{"", "3", "/", "3/", "/16", "16/16", "-1/16", "0/0", "0/1025", "a/b", "0/16/2", " 0/16"} {
		t.Run(text, func(t *testing.T) {
			if got, err := lynq.ParseShard(text); err == nil {
				t.Errorf("%q: %v", text, got)
			}
		})
	}
}
