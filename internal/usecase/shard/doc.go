// Package shard is the use case of the command shard: it prints the Job, or the CronJob, that
// applies a hub in shards.
package shard
