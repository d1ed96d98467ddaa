package cmdflags

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// indexVariable is the variable with the index of a pod, in a Job with completionMode
// Indexed.
const indexVariable = "JOB_COMPLETION_INDEX"

// shardFlags select a share of the rows.
type shardFlags struct {
	shard  string
	count  int
	getenv func(string) string
}

// RegisterShard registers the flags that select a share of the rows.
func (f *Render) RegisterShard(flags *pflag.FlagSet, getenv func(string) string) {
	f.shard.getenv = getenv
	flags.StringVar(&f.shard.shard, "shard", "", "limit to this share of the rows: INDEX/COUNT, counted from 0")
	flags.IntVar(&f.shard.count, "shards", 0, "like --shard, with the index from the variable "+indexVariable+" of an Indexed Job")
}

// checkShard turns the flags into a shard.
func (f *Render) checkShard() error {
	s := &f.shard
	var err error
	switch {
	case s.shard == "" && s.count == 0:
		return nil
	case s.shard != "" && s.count != 0:
		err = errors.New("give --shard or --shards, not both")
	case len(f.Nodes) > 0:
		err = errors.New("--shard and --node don't go together: a node is of one shard (leave out --shard)")
	case s.shard != "":
		f.Options.Shard, err = lynq.ParseShard(s.shard)
		err = named("--shard", err)
	default:
		f.Options.Shard, err = indexed(s.getenv(indexVariable), s.count)
		err = named("--shards", err)
	}
	if err != nil {
		return session.BadUsage(err)
	}
	return nil
}

// CheckShards refuses an invalid number of shards.
func CheckShards(count int) error {
	if _, err := lynq.NewShard(0, count); err != nil {
		return session.BadUsage(named("--shards", err))
	}
	return nil
}

// InShards sets the options for runs of count shards.
func (f *Render) InShards(count int) error {
	f.Options.Shard.Count = count
	return CheckShards(count)
}

// indexed returns the shard of this pod in an Indexed Job.
func indexed(text string, count int) (lynq.Shard, error) {
	if text == "" {
		return lynq.Shard{}, fmt.Errorf("the variable %s is not set (an Indexed Job sets it; elsewhere, use --shard INDEX/%d)", indexVariable, count)
	}
	index, err := strconv.Atoi(text)
	if err != nil {
		return lynq.Shard{}, fmt.Errorf("the variable %s is %q, and no number", indexVariable, text)
	}
	return lynq.NewShard(index, count)
}

func named(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}
