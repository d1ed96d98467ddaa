package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// run returns the answers by their IDs.
func run(t *testing.T, in io.Reader, f Functions) (map[int]wire.Response, error) {
	t.Helper()
	var out bytes.Buffer
	failed := Run(in, &out, "v1", f)
	lines := json.NewDecoder(&out)
	var hello wire.Hello
	if err := lines.Decode(&hello); err != nil || hello != (wire.Hello{Version: wire.Version, Release: "v1"}) {
		t.Fatalf("hello %v, %v", hello, err)
	}
	answers := map[int]wire.Response{}
	for {
		var r wire.Response
		err := lines.Decode(&r)
		if errors.Is(err, io.EOF) {
			return answers, failed
		}
		if err != nil {
			t.Fatal(err)
		}
		answers[r.ID] = r
	}
}

func TestRun(t *testing.T) {
	in := strings.NewReader(`{"id":1,"build":{"base":"good"}}
{"id":2,"build":{"base":"panic"}}
{"id":3,"render":{}}
{"id":4}
{"id":5,"build":{"base":"large"}}
`)
	answers, err := run(t, in, Functions{Build: func(b wire.Build) (*wire.Built, []wire.Problem) {
		switch b.Base {
		case "panic":
			panic("a bug") //nolint:forbidigo // as a library may
		case "large":
			return &wire.Built{Texts: map[string][]byte{"a": make([]byte, wire.MaxLine)}}, nil
		}
		return &wire.Built{Objects: []wire.Object{{Text: b.Base}}}, nil
	}})
	if err != nil || len(answers) != 5 || answers[1].Built.Objects[0].Text != "good" {
		t.Fatalf("%v, %v", answers, err)
	}
	for id, want := range map[int]string{2: "a bug", 3: "doesn't know the request", 4: "doesn't know the request", 5: "more than 64 MiB"} {
		if p := answers[id].Problems; len(p) != 1 || !strings.Contains(p[0].What, want) {
			t.Errorf("%d: %v, want %s", id, p, want)
		}
	}
}

// TestBadRequests wants an error for lines that are none of lynqctl's.
func TestBadRequests(t *testing.T) {
	for name, in := range map[string]io.Reader{
		"no JSON": strings.NewReader("hello\n"),
		"cut":     strings.NewReader(`{"id":1`),
		"endless": io.LimitReader(endless{}, wire.MaxLine+1),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := run(t, in, Functions{}); err == nil {
				t.Errorf("no error")
			}
		})
	}
}

// endless is a line without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}
