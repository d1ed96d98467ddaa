package command

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/test/doctest"
)

// workflow holds the parts of a GitHub, GitLab or pre-commit file that run something.
type workflow struct {
	Runs struct {
		Steps []struct{ ID, Run string }
	}
	Job struct {
		BeforeScript []string `json:"before_script"`
		Script       []string
	} `json:"$[[ inputs.job ]]"`
}

// documentsOf returns the documents of a YAML file in the source tree. It fails for
// duplicate keys.
func documentsOf(t *testing.T, file string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(sourceTree, file))
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(string(content), "\n---\n")
	for _, document := range documents {
		var into any
		if err := yaml.UnmarshalStrict([]byte(document), &into); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return documents
}

func workflowOf(t *testing.T, file string) *workflow {
	t.Helper()
	documents := documentsOf(t, file)
	var w workflow
	if err := yaml.Unmarshal([]byte(documents[len(documents)-1]), &w); err != nil {
		t.Fatal(err)
	}
	return &w
}

// TestHabits wants every file for another program to be YAML, and its calls of lynqctl to
// be valid.
func TestHabits(t *testing.T) {
	calls := 0
	check := func(file, call string) {
		calls++
		found, err := doctest.Calls(call)
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %q has %d calls: %v", file, call, len(found), err)
		}
		if err := takesCall(found[0]); err != nil {
			t.Errorf("%s: %s: %v", file, call, err)
		}
	}
	var files []string
	for _, pattern := range []string{".github/*.yml", ".github/*/*.yml", "*.yml", "templates/*.yml"} {
		t.Run(pattern, func(t *testing.T) {
			found, err := filepath.Glob(filepath.Join(sourceTree, pattern))
			if err != nil || len(found) == 0 {
				t.Fatalf("%s: no file, %v", pattern, err)
			}
			files = append(files, found...)
		})
	}
	arguments := regexp.MustCompile(`(?m)^[# ]+args: (?:\{default: )?([a-z][^,\n]*)`)
	for _, file := range files {
		file, err := filepath.Rel(sourceTree, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range documentsOf(t, file) {
			for _, m := range arguments.FindAllStringSubmatch(document, -1) {
				if !strings.Contains(file, "workflows") {
					check(file, "lynqctl "+m[1])
				}
			}
		}
	}
	var hooks []struct {
		ID, Entry, Language string
		Args                []string
	}
	if err := yaml.Unmarshal([]byte(documentsOf(t, ".pre-commit-hooks.yaml")[0]), &hooks); err != nil {
		t.Fatal(err)
	}
	for _, h := range hooks {
		check(".pre-commit-hooks.yaml", h.Entry+" "+strings.Join(h.Args, " "))
	}
	if want := len(hooks) + 3; calls != want || len(hooks) != 4 {
		t.Errorf("%d calls and %d hooks, want %d and 4", calls, len(hooks), want)
	}
}

// TestHabitsInstall wants the action and the component to install an archive only if its
// checksum and signature are right.
func TestHabitsInstall(t *testing.T) {
	archive := releaseArchive(t, "lynqctl", "lynqctl-chart")
	const name = "lynqctl_0.1.0_linux_amd64.tar.gz"
	good := fmt.Sprintf("%x  %s\n", sha256.Sum256(archive), name)
	scripts := map[string]string{
		"action.yml":            workflowOf(t, "action.yml").Runs.Steps[1].Run,
		"templates/lynqctl.yml": strings.ReplaceAll(strings.Join(workflowOf(t, "templates/lynqctl.yml").Job.BeforeScript, "\n"), "$(uname -m)", "x86_64"),
	}
	for file, script := range scripts {
		for title, c := range map[string]struct {
			sums   string
			signed bool
		}{
			"good":       {good, true},
			"changed":    {strings.Repeat("0", 64) + "  " + name + "\n", true},
			"not listed": {strings.Repeat("0", 64) + "  lynqctl_0.1.0_darwin_arm64.tar.gz\n", true},
			"not signed": {good, false},
		} {
			t.Run(file+" "+title, func(t *testing.T) {
				dir := t.TempDir()
				programs(t, dir, map[string]string{"cosign": fmt.Sprintf("test %q = true && echo \"$@\" >> "+dir+"/cosign.log", fmt.Sprint(c.signed))})
				said, err := installFrom(t, script, dir, map[string][]byte{
					"/v0.1.0/" + name: archive, "/v0.1.0/checksums.txt": []byte(c.sums), "/v0.1.0/checksums.txt.sigstore.json": nil,
				})
				installed := 0
				for _, program := range []string{"lynqctl", "lynqctl-chart"} {
					if _, err := os.Stat(filepath.Join(dir, map[string]string{"action.yml": "lynqctl-0.1.0"}[file], program)); err == nil {
						installed++
					}
				}
				if want := title == "good"; (err == nil) != want || (installed == 2) != want {
					t.Errorf("%v, %d programs installed\n%s", err, installed, said)
				}
			})
		}
	}
}

// programs writes shell scripts into dir/programs, and puts that folder first in the test's
// PATH.
func programs(t *testing.T, dir string, scripts map[string]string) {
	t.Helper()
	bin := filepath.Join(dir, "programs")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// TestHabitsRun wants the action to end with the command's exit code, unless the user
// accepts that code. It must also pass the output on.
func TestHabitsRun(t *testing.T) {
	step := workflowOf(t, "action.yml").Runs.Steps[2].Run
	job := strings.ReplaceAll(strings.Join(workflowOf(t, "templates/lynqctl.yml").Job.Script, "\n"), "$[[ inputs.args ]]", "diff -f forms/")
	for file, script := range map[string]string{"action.yml": step, "templates/lynqctl.yml": job} {
		for code, accepted := range map[string]bool{"0": true, "1": true, "3": false} {
			t.Run(file+" "+code, func(t *testing.T) {
				dir := t.TempDir()
				programs(t, dir, map[string]string{"lynqctl": `echo "report of $*"; exit ` + code})
				t.Chdir(dir)
				t.Setenv("ARGS", "diff -f forms/")
				t.Setenv("ACCEPT", "0 1")
				t.Setenv("GITHUB_OUTPUT", filepath.Join(dir, "output"))
				said, err := installFrom(t, script, dir, nil)
				if (err == nil) != accepted || !strings.HasPrefix(said, "report of diff -f forms/\n") {
					t.Errorf("%v\n%s", err, said)
				}
				if output, err := os.ReadFile("output"); file == "action.yml" && (err != nil || !strings.HasPrefix(string(output), "exit-code="+code+"\nreport="+dir)) {
					t.Errorf("%v\n%s", err, output)
				}
			})
		}
	}
}
