package diff

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/json"
)

// object reads a manifest as the server's answers are read.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

func TestFields(t *testing.T) {
	for _, tt := range []struct {
		name, live, next string
		want             []string
	}{
		{"nothing", `{"a":1,"b":[{"name":"x"}]}`, `{"a":1.0,"b":[{"name":"x"}]}`, nil},
		{"replaced", `{"a":{"b":1}}`, `{"a":{"b":2}}`, []string{"replace .a.b 1 2"}},
		{"added and removed", `{"a":{"b":1}}`, `{"a":{"c":null}}`, []string{"remove .a.b 1 <nil>", "add .a.c <nil> <nil>"}},
		{"another type", `{"a":{"b":1}}`, `{"a":"x"}`, []string{"replace .a map[b:1] x"}},
		{"large numbers", `{"a":9007199254740993}`, `{"a":9007199254740992}`, []string{"replace .a 9007199254740993 9007199254740992"}},
		{"entries by name", `{"l":[{"name":"x","v":1},{"name":"y","v":1}]}`, `{"l":[{"name":"y","v":2},{"name":"z","v":1}]}`,
			[]string{`remove .l[name="x"] map[name:x v:1] <nil>`, `replace .l[name="y"].v 1 2`, `add .l[name="z"] <nil> map[name:z v:1]`}},
		{"entries by port", `{"l":[{"port":80,"t":1}]}`, `{"l":[{"port":80,"t":2}]}`, []string{`replace .l[port=80].t 1 2`}},
		{"another order", `{"l":[{"name":"x"},{"name":"y"}]}`, `{"l":[{"name":"y"},{"name":"x"}]}`,
			[]string{`replace .l [map[name:x] map[name:y]] [map[name:y] map[name:x]]`}},
		{"one name twice", `{"l":[{"name":"x","v":1},{"name":"x","v":1}]}`, `{"l":[{"name":"x","v":1},{"name":"x","v":2}]}`,
			[]string{`replace .l[1].v 1 2`}},
		{"plain values", `{"l":["a","b"]}`, `{"l":["a","c"]}`, []string{`replace .l [a b] [a c]`}},
		{"of another length", `{"l":[{"v":1}]}`, `{"l":[]}`, []string{`replace .l [map[v:1]] []`}},
		{"odd names", `{"a":{"b.c/d":1,"":2}}`, `{"a":{}}`, []string{`remove .a[""] 2 <nil>`, `remove .a["b.c/d"] 1 <nil>`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range fieldsOf(object(t, tt.live), object(t, tt.next)) {
				got = append(got, fmt.Sprintf("%s %s %v %v", f.Op, f.Path, f.Before, f.After))
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
