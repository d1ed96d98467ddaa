package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
)

// treeForm has two objects. Their size grows with a row's text.
const treeForm = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: shop}
spec:
  source: {type: csv, csv: {path: "PATH"}}
  valueMappings: {uid: id, activate: active}
  extraValueMappings: {text: text}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: shop
  services:
    - id: door
      dependIds: [text]
      nameTemplate: "{{ .uid }}"
      spec: {apiVersion: v1, kind: Service}
  configMaps:
    - id: text
      nameTemplate: "{{ .uid }}"
      spec: {apiVersion: v1, kind: ConfigMap, data: {text: "{{ .text }}", more: "a\n---\n{{ .text }}\n---\n"}}
`

// treeRows returns n random rows.
func treeRows(r *rand.Rand, n int) string {
	texts := []string{"gold", "---", "\"a\n---\nb\"", "on", "- ---", "'#'"}
	var b strings.Builder
	b.WriteString("id,active,text\n")
	for i := range n {
		if r.IntN(4) > 0 {
			fmt.Fprintf(&b, "tenant-%d,1,%s\n", i, texts[r.IntN(len(texts))])
		}
	}
	return b.String()
}

// treeFiles returns the files of a tree.
func treeFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		short, _ := filepath.Rel(dir, name)
		files[filepath.ToSlash(short)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// reached returns the documents that a kustomization.yaml includes.
func reached(t *testing.T, files map[string]string, folder string) []string {
	t.Helper()
	var k struct{ Resources []string }
	if err := yaml.Unmarshal([]byte(files[path.Join(folder, "kustomization.yaml")]), &k); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range k.Resources {
		at := path.Join(folder, r)
		text, isFile := files[at]
		if !isFile {
			all = append(all, reached(t, files, at)...)
			continue
		}
		all = append(all, strings.Split(strings.TrimPrefix(text, "---\n"), "\n---\n")...)
	}
	return all
}

// TestTreeIsStream wants the files of a tree to contain the same documents as standard
// output.
func TestTreeIsStream(t *testing.T) {
	in := write(t, "in.yaml", strings.Replace(treeForm, "PATH", write(t, "rows.csv", treeRows(rand.New(rand.NewPCG(1, 1)), 40)), 1))
	cmd, stderr := renderProcess(t, "-f", in)
	stream, err := cmd.Output()
	if err != nil {
		t.Fatal(err, stderr)
	}
	want := strings.Split(strings.TrimPrefix(string(stream), "---\n"), "\n---\n")
	for i := range want {
		want[i] = strings.TrimSuffix(want[i], "\n")
	}
	slices.Sort(want)
	for _, flags := range [][]string{nil, {"--layout=node-file"}, {"--spread"}, {"--layout=node-file", "--spread"}} {
		dir := filepath.Join(t.TempDir(), "tree")
		cmd, stderr := renderProcess(t, append(flags, "-f", in, "--output-dir", dir)...)
		if err := cmd.Run(); err != nil {
			t.Fatal(err, stderr)
		}
		got := reached(t, treeFiles(t, dir), ".")
		for i := range got {
			got[i] = strings.TrimSuffix(got[i], "\n")
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || len(want) < 40 {
			t.Errorf("%v: %d documents: %s", flags, len(want), diff)
		}
	}
}

// TestTreeUntouched wants a run without work to change the time of no file and no folder.
func TestTreeUntouched(t *testing.T) {
	in := write(t, "in.yaml", strings.Replace(treeForm, "PATH", write(t, "rows.csv", treeRows(rand.New(rand.NewPCG(1, 1)), 20)), 1))
	dir := filepath.Join(t.TempDir(), "tree")
	then := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	for run := range 2 {
		cmd, stderr := renderProcess(t, "-f", in, "--output-dir", dir)
		if err := cmd.Run(); err != nil {
			t.Fatal(err, stderr)
		}
		err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if err != nil || run == 0 {
				return errors.Join(err, os.Chtimes(name, then, then))
			}
			if info, err := e.Info(); err != nil || !info.ModTime().Equal(then) {
				t.Errorf("%s was touched: %v", name, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestTreeAtOnce lets two runs write different rows to one tree. At least one must succeed,
// and the tree must be what that run makes in an empty folder. The other may write nothing.
func TestTreeAtOnce(t *testing.T) {
	const pairs = 6
	random := rand.New(rand.NewPCG(1, 1))
	dir := filepath.Join(t.TempDir(), "tree")
	for range pairs {
		fresh := map[string]map[string]string{}
		commands := map[string]*exec.Cmd{}
		errs := map[string]*bytes.Buffer{}
		for _, run := range []string{"a", "b"} {
			in := write(t, "in.yaml", strings.Replace(treeForm, "PATH", write(t, "rows.csv", treeRows(random, 60)), 1))
			alone := filepath.Join(t.TempDir(), "fresh")
			cmd, stderr := renderProcess(t, "-f", in, "--output-dir", alone)
			if err := cmd.Run(); err != nil {
				t.Fatal(err, stderr)
			}
			fresh[run] = treeFiles(t, alone)
			commands[run], errs[run] = renderProcess(t, "-f", in, "--output-dir", dir, "--max-delete=100%")
		}
		for _, cmd := range commands {
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
		}
		var succeeded []string
		for run, cmd := range commands {
			err := cmd.Wait()
			exit, failed := errors.AsType[*exec.ExitError](err)
			switch {
			case err == nil:
				succeeded = append(succeeded, run)
			case !failed || exit.ExitCode() != 3 || !strings.Contains(errs[run].String(), "nothing was written"):
				t.Errorf("%v\n%s", err, errs[run])
			}
		}
		files := treeFiles(t, dir)
		if !slices.ContainsFunc(succeeded, func(run string) bool { return cmp.Equal(fresh[run], files) }) {
			t.Errorf("the tree is of none of the runs %v", succeeded)
		}
	}
}

// TestTreeKilled ends runs with SIGKILL at random times. It wants each file to be the old
// or the new one. The next complete run must make what it makes in an empty folder.
func TestTreeKilled(t *testing.T) {
	const rows, wanted, most = 100, 4, 200
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	source := write(t, "rows.csv", "")
	in := write(t, "in.yaml", strings.Replace(treeForm, "PATH", source, 1))
	dir := filepath.Join(t.TempDir(), "tree")
	render := func(ctx context.Context, dir string) error {
		cmd := exec.CommandContext(ctx, "lynqctl", "render", "-f", in, "--output-dir", dir, "--max-delete=100%")
		var stderr bytes.Buffer
		cmd.Env, cmd.Stderr = append(os.Environ(), "KUBECONFIG="+os.DevNull), &stderr
		err := cmd.Run()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
			t.Fatal(err, stderr.String())
		}
		return err
	}
	change := func() map[string]string {
		if err := os.WriteFile(source, []byte(treeRows(random, rows)), 0o600); err != nil {
			t.Fatal(err)
		}
		fresh := filepath.Join(t.TempDir(), "fresh")
		if err := render(context.Background(), fresh); err != nil {
			t.Fatal(err)
		}
		return treeFiles(t, fresh)
	}
	old := change()
	began := time.Now()
	if err := render(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	long := time.Since(began)
	for killed, tried := 0, 0; killed < wanted; tried++ {
		if tried == most {
			t.Fatalf("only %d of %d runs were killed while they wrote", killed, tried)
		}
		next := change()
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.Int64N(int64(long))))
		_ = render(ctx, dir) // the process may have been killed, or not
		cancel()
		files := treeFiles(t, dir)
		for name, text := range files {
			if text != old[name] && text != next[name] && name != index.FileName && !strings.HasPrefix(name, ".lynqctl-tmp/") {
				t.Fatalf("%s is neither the old nor the new one:\n%s", name, text)
			}
		}
		if unfinished(files) {
			killed++
		}
		old = change()
		if err := render(context.Background(), dir); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(old, treeFiles(t, dir)); diff != "" {
			t.Fatalf("after %d runs: %s", tried, diff)
		}
	}
}

// unfinished reports whether the last run that wrote a tree was killed.
func unfinished(files map[string]string) bool {
	var head struct{ Unfinished bool }
	line, _, _ := strings.Cut(files[index.FileName], "\n")
	return json.Unmarshal([]byte(line), &head) == nil && head.Unfinished
}
