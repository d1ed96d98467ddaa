// Package shard is the use case of the command shard: it prints the Job or CronJob that
// applies a hub in shards.
//
// Options and files flow in, manifests flow out. The package never changes a cluster.
package shard
