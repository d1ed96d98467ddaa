package small

import (
	"sync/atomic"
	"testing"
)

func TestJudge(t *testing.T) {
	if Judge(true, false) != Delete || Judge(false, false) != Keep {
		t.Fail()
	}
}

func TestRead(t *testing.T) {
	if Read(false) == nil || Read(true) != nil {
		t.Fail()
	}
}

// TestCount fails without the defer, and if its call doesn't wait for the end.
func TestCount(t *testing.T) {
	var n atomic.Int64
	n.Store(1)
	if Count(&n); n.Load() != 3 {
		t.Fail()
	}
}
