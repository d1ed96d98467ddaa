package small

import "testing"

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
