package index

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func sampleIndex() *Index {
	return &Index{Unfinished: true, Entries: []Entry{
		{Path: "a-web/kustomization.yaml", Digests: []Digest{{1}}, Owned: Owned{Owner: &Owner{Hub: lynq.HubKey{Name: "crm", Namespace: "eu"}, Form: lynq.FormKey{Namespace: "us", Name: "web"}, Node: lynq.NodeKey{Namespace: "blue", Name: "a-web"}}}},
		{Path: "a-web/x.yaml", Digests: []Digest{{2}, {3}}, Owned: Owned{
			Owner: &Owner{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, Node: lynq.NodeKey{Namespace: "blue", Name: "a-web"}},
			Objects: []ObjectKey{
				{lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "blue", Name: "a"}, "app", false},
				{lynq.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "system:a@\"b\""}, "ü \\ <id>", true},
			},
		}},
		{Path: "kustomization.yaml", Digests: []Digest{{4}}, Owned: Owned{Owner: new(Owner)}},
	}, Forms: []Origin{
		{Hub: "crm", Form: "web", Digest: "0011223344556677"},
		{Hub: "crm", Form: "web", Digest: "8899aabbccddeeff"},
		{Hub: "crm", HubNamespace: "eu", Form: "web", FormNamespace: "us", Digest: "0011223344556677"},
	}}
}

// recordedIndex returns an index of one node with a row in two places, and of one without.
func recordedIndex() *Index {
	x := sampleIndex()
	x.Unfinished, x.Lynqctl, x.Templates = false, "v1.2.3", []Template{{x.Forms[0], []byte("abcdef")}, {x.Forms[2], []byte("ghi")}}
	node := &Owner{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, Node: lynq.NodeKey{Namespace: "blue", Name: "b-web"}, Row: "\x00\xff\"z"}
	for _, path := range []string{"a-apps.yaml", "b-web/a.yaml", "b-web/b.yaml"} {
		x.Entries = append(x.Entries, Entry{Path: path, Digests: []Digest{{5}}, Owned: Owned{Owner: node}})
	}
	x.Entries[len(x.Entries)-1].Objects = []ObjectKey{{lynq.Ref{Kind: "ConfigMap", Name: "b"}, "text", false}}
	x.Sort()
	return x
}

// TestRecorded checks what an index has for reports: each run of a node's lines has the row
// once. Nobody knows it after a merge or a killed run.
func TestRecorded(t *testing.T) {
	x := recordedIndex()
	text := string(x.Encode())
	got, err := Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	compareIndex(t, x, got)
	if strings.Count(text, `,"row":"`) != 2 || strings.Count(text, `"parts":`) != 2 || !strings.Contains(text, `,"last":true,"lynqctl":"v1.2.3","plan":"`) {
		t.Error(text)
	}
	if a, b := got.Find("b-web/a.yaml"), got.Find("b-web/b.yaml"); a.Owner != b.Owner {
		t.Error("two files of a node have two owners")
	}
	plan := got.Seal().Digests.Plan
	if got.Lynqctl = "v2"; got.Seal().Digests.Plan != plan {
		t.Error("another version of lynqctl makes another plan")
	}
	bare := recordedIndex()
	bare.forget()
	killed := recordedIndex()
	killed.Unfinished = true
	for name, of := range map[string]string{"a merge": text + text, "a killed run": string(killed.Encode()), "an edit": strings.Replace(text, `"row":"`, `"row":"A`, 1)} {
		t.Run(name, func(t *testing.T) {
			got, err := Decode([]byte(of))
			if err != nil {
				t.Fatal(err)
			}
			bare.Edited, bare.Unfinished = got.Edited, got.Unfinished
			if !got.Edited && !got.Unfinished {
				t.Errorf("%s passes for the index of a run", name)
			}
			compareIndex(t, bare, got)
		})
	}
}

func compareIndex(t *testing.T, want, got *Index) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Entry{})); diff != "" {
		t.Error(diff)
	}
}

func TestIndexRoundTrip(t *testing.T) {
	x := sampleIndex()
	got, err := Decode(x.Encode())
	if err != nil {
		t.Fatal(err)
	}
	compareIndex(t, x, got)
	if lines := bytes.Count(x.Encode(), []byte("\n")); lines != 11 {
		t.Errorf("%d lines for a head, three files, one digest more, two hubs, three digests of forms and the end", lines)
	}
}

// TestIndexHoldsData checks that both ways of reading keep the mark of a resource.
func TestIndexHoldsData(t *testing.T) {
	x := &Index{Entries: []Entry{{Path: "b-web/y.yaml", Digests: []Digest{{5}}, Owned: Owned{
		Owner:   &Owner{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, Node: lynq.NodeKey{Namespace: "blue", Name: "b-web"}},
		Objects: []ObjectKey{{lynq.Ref{Kind: "ConfigMap", Name: "b"}, "text", true}, {lynq.Ref{Kind: "ConfigMap", Name: "c"}, "more", false}},
	}}}}
	text := x.Encode()
	spaced := bytes.ReplaceAll(text, []byte(`,"holdsData"`), []byte(` , "holdsData"`))
	for _, b := range [][]byte{text, spaced} {
		got, err := Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		x.Edited = !bytes.Equal(b, text) // others edited the second one
		compareIndex(t, x, got)
	}
}

// TestEdited checks that an index knows whether others changed it, whichever line they change.
func TestEdited(t *testing.T) {
	text := string(sampleIndex().Encode())
	lines := strings.SplitAfter(text, "\n")
	last := lines[len(lines)-2]
	for name, edited := range map[string]string{
		"a line is gone":            strings.Replace(text, lines[2], "", 1),
		"an object has another id":  strings.Replace(text, "@", "@x", 1),
		"a merge keeps both sides":  text + strings.Join(lines[1:], ""),
		"the last line has nothing": strings.Replace(text, last, `{"format":1,"last":true}`+"\n", 1),
		"other line ends":           strings.ReplaceAll(text, "\n", "\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			if x, err := Decode([]byte(edited)); err != nil || !x.Edited {
				t.Errorf("%v", err)
			}
		})
	}
	if x, err := Decode([]byte(text)); err != nil || x.Edited {
		t.Errorf("nobody changed it: %v", err)
	}
}

// TestIndexOfMerge reads an index after Git merged two branches line by line.
func TestIndexOfMerge(t *testing.T) {
	text := string((&Index{Entries: sampleIndex().Entries, Forms: sampleIndex().Forms}).Encode())
	lines := strings.SplitAfter(text, "\n")
	other := &Index{Entries: sampleIndex().Entries, Forms: []Origin{{Hub: "crm", Form: "web", Digest: "ffffffffffffffff"}}}
	other.Entries[2].Digests = []Digest{{9}}
	ending := strings.SplitAfter(string(other.Encode()), "\n")[5:]
	merged := lines[0] + lines[4] + lines[3] + `{"format":1,"unfinished":true}` + "\n" + lines[5] + lines[1] + lines[2] + lines[3] + strings.Join(ending, "") + strings.Join(lines[6:], "")
	got, err := Decode([]byte(strings.ReplaceAll(merged, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	want := &Index{Edited: true, Entries: sampleIndex().Entries, Forms: slices.Insert(sampleIndex().Forms, 2, other.Forms[0])}
	want.Entries[1].Digests = []Digest{{3}, {2}}
	compareIndex(t, want, got)
}

func TestBadIndex(t *testing.T) {
	head := `{"format":1}` + "\n"
	file := func(path, more string) string {
		return `{"path":"` + path + `","sha256":"` + strings.Repeat("0", 64) + `"` + more + "}\n"
	}
	for text, want := range map[string]string{
		"":                                     "line 1: it is no head of an index of lynqctl",
		"apiVersion: v1\n":                     "line 1: it is no head of an index of lynqctl",
		`{"format":3,"x":1}`:                   "its format is 3, and this lynqctl knows 2",
		head + "<<<<<<< HEAD\n":                "line 2: it is a mark of a merge",
		"<<<<<<< HEAD\n" + head:                "line 1: it is a mark of a merge",
		head + "||||||| 1a2b3c\n":              "line 2: it is a mark of a merge",
		head + file("a", "") + "=======\n":     "line 3: it is a mark of a merge",
		head + file("../a", ""):                `line 2: path "../a" is none in the tree`,
		head + file("/etc/passwd", ""):         `line 2: path "/etc/passwd" is none in the tree`,
		head + file(".git/config", ""):         `line 2: path ".git/config" is none in the tree`,
		head + file(FileName, ""):              `line 2: path "lynqctl-index.jsonl" is none in the tree`,
		head + `{"path":"a","sha256":"00"}`:    `line 2: sha256 "00" is no digest`,
		head + `{"path":"a"}`:                  `line 2: sha256 "" is no digest`,
		head + file("a", `,"hub":"crm"`):       "line 2: it has a hub without a node",
		head + file("a", `,"node":"x"`):        "line 2: it has a hub without a node",
		head + "{}\n":                          `line 2: path "" is none`,
		head + "{\n":                           "line 2: it is no line of an index of lynqctl (restore the file from Git)",
		head + file("a", `,"objects":["x"]`):   `line 2: object "x" has no id`,
		head + file("a", `,"objects":["x@y"]`): `line 2: object "x@y" has no name`,
		head + `{"hub":"crm"}`:                 `line 2: digest "" is no digest`,
		head + `{"hub":"crm","form":"web","digest":"AABBCCDDEEFF0011"}`:                    `line 2: digest "AABBCCDDEEFF0011" is no digest`,
		head + `{"hub":"crm","form":"web","digest":"0011223344556677\nSigned-off-by: me"}`: `line 2: digest "0011223344556677\nSigned-off-by: me" is no digest`,
		head + `{"form":"web","digest":"0011223344556677"}`:                                `line 2: path "" is none`,
		head + strings.Repeat(file("a", ""), 9) + "{}":                                     `line 11: path`,
	} {
		t.Run(text, func(t *testing.T) {
			if strings.HasPrefix(text, head) {
				text += "\n" + `{"format":1,"last":true}`
			}
			_, err := Decode([]byte(text))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", text, err, want)
			}
		})
	}
	_, err := Decode([]byte(`{"format":7}`))
	if newer, ok := errors.AsType[*NewerError](err); !ok || newer.Format != 7 {
		t.Error(err)
	}
}

// TestDigests checks the digests of an index against their definitions, and that files and
// forms determine them.
func TestDigests(t *testing.T) {
	x := sampleIndex()
	sealed := x.Seal()
	b, digests := x.Encode(), sealed.Digests
	lines := strings.SplitAfter(strings.TrimSuffix(string(b), "\n"), "\n")
	last := len(lines) - 1
	sum := func(lines ...string) string {
		d := DigestOf([]byte(strings.Join(lines, "")))
		return hex.EncodeToString(d[:])
	}
	eu, local := OriginOf(lynq.HubKey{Namespace: "eu", Name: "crm"}, lynq.FormKey{}), OriginOf(lynq.HubKey{Name: "crm"}, lynq.FormKey{})
	web := OriginOf(lynq.HubKey{Name: "crm"}, lynq.FormKey{Name: "web"})
	for name, got := range map[string]struct{ got, want any }{
		"file":          {sealed.File, DigestOf(b)},
		"plan":          {digests.Plan, sum(lines[:last]...)[:32]},
		"last line":     {lines[last], `{"format":1,"last":true,"plan":"` + digests.Plan + `"}`},
		"hub":           {digests.Of(eu), []string{sum(lines[1])[:16]}},
		"hub elsewhere": {digests.Of(local), []string{sum(lines[2:4]...)[:16]}},
		"form":          {digests.Of(web), []string{"0011223344556677", "8899aabbccddeeff"}},
		"no form":       {digests.Of(OriginOf(lynq.HubKey{Name: "erp"}, lynq.FormKey{Name: "web"})), []string(nil)},
		"first line":    {lines[5], `{"hub":"crm","digest":"` + digests.Of(local)[0] + `"}` + "\n"},
		"form's line":   {lines[9], `{"hub":"crm","hubNamespace":"eu","form":"web","formNamespace":"us","digest":"0011223344556677"}` + "\n"},
		"all":           {len(digests.Origins), 5},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(got.want, got.got); diff != "" {
				t.Errorf("%s", diff)
			}
		})
	}
	x.Entries[0].Digests = []Digest{{7}}
	if now := x.Seal().Digests; now.Plan == digests.Plan || cmp.Equal(now.Of(eu), digests.Of(eu)) || !cmp.Equal(now.Of(local), digests.Of(local)) {
		t.Errorf("a file of one hub changes, and\n%+v\nbecomes\n%+v", digests, now)
	}
	x = sampleIndex()
	x.Forms = x.Forms[1:]
	if now := x.Seal().Digests; now.Plan == digests.Plan || !cmp.Equal(now.Of(eu), digests.Of(eu)) {
		t.Errorf("a form changes, and\n%+v\nbecomes\n%+v", digests, now)
	}
}

// TestWithout checks that an index without a file keeps everything else.
func TestWithout(t *testing.T) {
	x, want := sampleIndex(), sampleIndex()
	x.Told, want.Told = []string{"web: x"}, []string{"web: x"}
	want.Entries = slices.Delete(want.Entries, 1, 2)
	compareIndex(t, want, x.Without(map[string]bool{"a-web/x.yaml": true}))
}

// TestCutIndex refuses an index that was cut.
func TestCutIndex(t *testing.T) {
	x := sampleIndex()
	x.Unfinished = false
	text := string(x.Encode())
	for end := range text {
		if _, err := Decode([]byte(text[:end])); err == nil && end < len(text)-1 {
			t.Errorf("%q passes for an index", text[:end])
		}
	}
	sorted := strings.SplitAfter(text, "\n")
	slices.Sort(sorted)
	merged := text + text
	for _, whole := range []string{text, strings.Join(sorted, ""), merged} {
		t.Run(whole, func(t *testing.T) {
			if got, err := Decode([]byte(whole)); err != nil || len(got.Entries) != len(x.Entries) || !cmp.Equal(got.Forms, x.Forms) {
				t.Errorf("%v\n%s", err, whole)
			}
		})
	}
}

// FuzzIndex checks that a readable index reads the same after encoding, in both ways of
// reading.
func FuzzIndex(f *testing.F) {
	f.Add(sampleIndex().Encode())
	f.Add(recordedIndex().Encode())
	f.Add([]byte("{\"format\":1}\n{\"path\":\"a\",\"sha256\":\"" + strings.Repeat("a", 64) + "\",\"objects\":[\"A/b@c\\u003c\"]}\n{\"format\":1,\"last\":true}"))
	f.Add([]byte("{\"format\":1}\n{\"path\":\"a\xff\",\"sha256\":\"" + strings.Repeat("a", 64) + "\"}\n{\"format\":1,\"last\":true}"))
	f.Add([]byte("{\"format\":1}\n{ \"sha256\":\"" + strings.Repeat("a", 64) + "\",\"path\":\"a\"}\n{\"format\":1,\"last\":true}"))
	f.Add([]byte("{\"format\":2}\n{\"suspended\":{\"until\":\"2030-01-01T01:00:00+02:00\"},\"node\":\"a\"}\n{\"format\":2,\"last\":true}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := Decode(b)
		if err != nil {
			return
		}
		text := x.Encode()
		again, err := Decode(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		compareIndex(t, x, again)
		if !bytes.Equal(text, again.Encode()) {
			t.Errorf("%s\nbecomes\n%s", text, again.Encode())
		}
	})
}

// TestUntold checks that each form's losses are reported once. Changed or returning losses
// are new.
func TestUntold(t *testing.T) {
	once := policy.Loss{Form: "web", Resource: "a", Policy: "creationPolicy: Once", Instead: "x"}
	stuck := policy.Loss{Form: "web", Resource: "a", Policy: "conflictPolicy: Stuck", Instead: "y"}
	other := policy.Loss{Form: "db", Policy: "rollout.maxSkew", Instead: "z"}
	changed := once
	changed.Instead = "w"
	var x Index
	for i, run := range []struct {
		target policy.Target
		forms  []string
		losses []policy.Loss
		untold []policy.Loss
	}{
		{policy.Argo, []string{"web", "db"}, []policy.Loss{once, other}, []policy.Loss{once, other}},
		{policy.Argo, []string{"web", "db"}, []policy.Loss{once, other}, nil},
		{policy.Argo, []string{"web"}, []policy.Loss{once, stuck}, []policy.Loss{stuck}},
		{policy.Argo, []string{"db"}, []policy.Loss{other}, nil},
		{policy.Argo, []string{"web"}, []policy.Loss{stuck}, nil},
		{policy.Argo, []string{"web"}, []policy.Loss{once, stuck}, []policy.Loss{once}},
		{policy.Argo, []string{"web"}, []policy.Loss{changed, stuck}, []policy.Loss{changed}},
		{policy.Flux, []string{"web"}, []policy.Loss{changed}, []policy.Loss{changed}},
	} {
		t.Run(string(run.target), func(t *testing.T) {
			untold, told := x.Untold(run.target, run.forms, run.losses)
			if diff := cmp.Diff(run.untold, untold); diff != "" {
				t.Errorf("run %d: %s", i, diff)
			}
			x.Told = told
			read, err := Decode(x.Encode())
			if err != nil || !cmp.Equal(read.Told, x.Told) {
				t.Fatalf("run %d: told %v, read %+v, error %v", i, x.Told, read, err)
			}
			x = *read
		})
	}
}

func TestInTree(t *testing.T) {
	for path, want := range map[string]bool{
		"kustomization.yaml": true, "a/b.yaml": true, "_nul.x-web/a.yaml": true, "ab/x-web_ns/y.yaml": true,
		"": false, ".": false, "..": false, "../x": false, "a/../../x": false, "/etc/passwd": false, "a//b": false, "a/": false,
		".git/config": false, "a/.git/config": false, `a\b`: false, "c:/x": false, FileName: false,
	} {
		t.Run(path, func(t *testing.T) {
			if InTree(path) != want {
				t.Errorf("inTree(%q) is %v", path, !want)
			}
		})
	}
}
