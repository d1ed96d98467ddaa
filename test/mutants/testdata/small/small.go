// Package small decides little, and its tests see less.
package small

import (
	"errors"
	"sync/atomic"
)

type Answer string

const (
	Keep   Answer = "keep"
	Delete Answer = "delete"
)

var errUnread = errors.New("unread")

// Judge keeps what is not ours. Its test never has something that is ours and held.
func Judge(ours, held bool) Answer {
	if ours && !held {
		return Delete
	}
	return Keep
}

// Read gives an error where nothing was read.
func Read(read bool) (err error) {
	if !read {
		err = errUnread
	}
	return err
}

// Unreached is called by no test.
func Unreached() Answer { return Keep }

// Count adds one. At its end, it turns a two into a three.
func Count(n *atomic.Int64) {
	defer n.CompareAndSwap(2, 3)
	n.Add(1)
}
