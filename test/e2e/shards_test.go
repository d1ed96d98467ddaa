package e2e_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

const killedShards = 16

// shardRows returns the number of rows for shards. LYNQCTL_SHARD_ROWS sets another number.
func shardRows(t *testing.T) int {
	t.Helper()
	text := os.Getenv("LYNQCTL_SHARD_ROWS")
	if text == "" {
		return 4 * killedShards
	}
	rows, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestShardsKilled runs sixteen shards in sixteen processes. It kills every second one
// while it writes, and starts it again. The result must be that of one run. No shard writes
// another one's objects, and a run of the whole hub waits for them.
func TestShardsKilled(t *testing.T) {
	t.Parallel()
	rows := shardRows(t)
	s := newShop(t, strings.Replace(endedInputs(), "Retain", "Delete", 1), rows, faultproxy.Options{})
	shards := make([]*shop, killedShards)
	running := make([]*running, killedShards)
	for k := range shards {
		shards[k] = s.shard(t)
		if k%2 == 0 {
			running[k] = shards[k].startShard(t, k)
			continue
		}
		running[k] = shards[k].killAtWrite(t, k, 2+3*k)
	}
	whole := s.startApply(t, "--wait=false")
	for k, r := range running {
		if k%2 == 1 {
			<-r.done
			running[k] = shards[k].startShard(t, k)
		}
	}
	for _, r := range running {
		r.want(t, 0)
	}
	whole.want(t, 0)
	for k := range shards {
		for _, r := range shards[k].proxy.Records() {
			if uid := uidOf(r.Request); r.IsWrite() && uid != "" && !(lynq.Shard{Index: k, Count: killedShards}).Has(uid) {
				t.Errorf("shard %d: %s %s %s", k, r.Verb, r.Resource, r.Name)
			}
		}
	}
	s.settled(t)
}

// shard returns the shop for another process, with its own proxy.
func (s *shop) shard(t *testing.T) *shop {
	t.Helper()
	through, proxy := s.Proxy(t, faultproxy.Options{})
	mine := *s
	mine.Env, mine.proxy = through, proxy
	return &mine
}

func (s *shop) startShard(t *testing.T, k int) *running {
	t.Helper()
	return s.startApply(t, "--wait=false", "--shard="+lynq.Shard{Index: k, Count: killedShards}.String())
}

// killAtWrite starts a shard, and kills it at a write of an object or a record.
func (s *shop) killAtWrite(t *testing.T, k, skip int) *running {
	t.Helper()
	started, ready := make(chan *running, 1), make(chan struct{})
	s.proxy.SetRules(faultproxy.Rule{
		Match: func(q faultproxy.Request) bool { return q.IsWrite() && uidOf(q) != "" }, Skip: skip % 9, Times: 1,
		Before: func() {
			r := <-started
			_ = r.cmd.Process.Signal(syscall.SIGKILL)
			<-r.done
			close(ready)
		},
		End: faultproxy.CutAfter,
	})
	r := s.startShard(t, k)
	started <- r
	<-ready
	if r.code == 0 {
		t.Errorf("shard %d was not killed", k)
	}
	return r
}

// uidOf returns the row of an object or an inventory of the shop. It returns "" for the
// hub's own objects.
func uidOf(q faultproxy.Request) string {
	name := strings.TrimPrefix(q.Name, "lynqnode-")
	uid, _, _ := strings.Cut(name, "-")
	var n int
	if _, err := fmt.Sscanf(uid, "t%d", &n); err != nil {
		return ""
	}
	return uid
}
