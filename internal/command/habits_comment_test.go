package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// notes imitates the notes of a merge request in GitLab, which a real GitLab alone would
// produce. It answers one note a page.
type notes struct {
	t      *testing.T
	bodies []string
	author []int
	fail   bool // the list fails
}

func (n *notes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const path = "/projects/7/merge_requests/3/notes"
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	var answer any
	switch id, found := strings.CutPrefix(r.URL.Path, path+"/"); {
	case r.URL.Path == "/user":
		_, _ = w.Write([]byte(`{"id":11,"username":"bot"}`)) // the client may be gone
		return
	case r.Method == http.MethodGet && n.fail:
		http.Error(w, "down", http.StatusBadGateway)
		return
	case r.Method == http.MethodGet && page > len(n.bodies):
		answer = []any{}
	case r.Method == http.MethodGet:
		body, err := json.Marshal(n.bodies[page-1])
		if err != nil {
			n.t.Error(err)
		}
		_, _ = fmt.Fprintf(w, `[{"id":%d,"type":null,"body":%s,"author":{"id":%d,"username":"x"},"system":false}]`, 100+page, body, n.author[page-1])
		return
	case r.Method == http.MethodPost && r.URL.Path == path:
		n.bodies, n.author = append(n.bodies, r.FormValue("body")), append(n.author, 11)
	case r.Method == http.MethodPut && found:
		place, err := strconv.Atoi(id)
		if err != nil || place < 101 {
			n.t.Errorf("note %q", id)
		}
		n.bodies[place-101] = r.FormValue("body")
	default:
		n.t.Errorf("%s %s", r.Method, r.URL)
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		n.t.Error(err)
	}
}

// comments is what a job did with comments.
type comments struct{ title, report, code, want string }

func commentCases() []comments {
	return []comments{
		{"changes", `# 2 changes "quoted\"`, "1", `# 2 changes "quoted\"` + "\n"},
		{"again", "# none", "0", "# none\n"},
		{"refused", "# refused", "3", "# refused\n"},
		{"nothing", "", "0", "lynqctl printed nothing.\n"},
		{"broken", "", "2", "**lynqctl ended with exit code 2:**\n\n    error: no rows\n"},
	}
}

// TestHabitsNote runs the GitLab component several times. It wants one note for each job,
// which the runs edit. Notes of others stay, also with the same marker.
func TestHabitsNote(t *testing.T) {
	script := strings.ReplaceAll(strings.Join(workflowOf(t, "templates/lynqctl.yml").Job.Script, "\n"), "$[[ inputs.args ]]", "diff -f forms/")
	dir := t.TempDir()
	t.Chdir(dir)
	merge := &notes{t: t}
	server := httptest.NewServer(merge)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{"CI_API_V4_URL": server.URL, "CI_PROJECT_ID": "7", "CI_MERGE_REQUEST_IID": "3", "COMMENT": "true", "COMMENT_TOKEN": "x", "ACCEPT": "0 1 2 3"} {
		t.Setenv(name, value)
	}
	run := func(job string, c comments) error {
		t.Setenv("CI_JOB_NAME", job)
		programs(t, dir, map[string]string{"lynqctl": fmt.Sprintf("printf '%%s' '%s'; test %s != 2 || echo 'error: no rows' >&2; exit %[2]s", orLine(c.report), c.code)})
		said, err := installFrom(t, "set -o pipefail\n"+script, dir, nil)
		if err != nil {
			return fmt.Errorf("%w: %s", err, said)
		}
		return nil
	}
	if err := run("first", commentCases()[0]); err != nil || len(merge.bodies) != 1 {
		t.Fatal(err, merge.bodies)
	}
	marker, _, _ := strings.Cut(merge.bodies[0], "\n")
	others := []string{"see " + marker, marker + "\nmine", "> " + marker + "\n> quoted"}
	merge.bodies, merge.author = append(slices.Clone(others), merge.bodies[0]), []int{11, 12, 11, 11}
	for _, c := range commentCases() {
		if err := run("first", c); err != nil {
			t.Fatal(err)
		}
		if got, want := merge.bodies[len(others)], marker+"\n"+c.want; got != want || len(merge.bodies) != 4 {
			t.Errorf("%s: %d notes; got %q, want %q", c.title, len(merge.bodies), got, want)
		}
	}
	if err := run("second", commentCases()[0]); err != nil || len(merge.bodies) != 5 || strings.HasPrefix(merge.bodies[4], marker) {
		t.Errorf("%v, %q", err, merge.bodies)
	}
	for i, other := range others {
		if merge.bodies[i] != other {
			t.Errorf("note %d became %q", i, merge.bodies[i])
		}
	}
	merge.fail = true
	if err := run("first", commentCases()[0]); err == nil || len(merge.bodies) != 5 {
		t.Errorf("a list that fails: %v, %d notes", err, len(merge.bodies))
	}
}

// orLine adds a line break to a report that has text.
func orLine(report string) string {
	if report == "" {
		return ""
	}
	return report + "\n"
}

// TestHabitsComment runs the action's steps with a gh that notes its calls. The second run
// edits the comment of the first, which gh finds by author and marker.
func TestHabitsComment(t *testing.T) {
	steps := workflowOf(t, "action.yml").Runs.Steps
	for _, c := range commentCases() {
		for _, url := range []string{"", "https://github.com/o/r/pull/3#issuecomment-41"} {
			t.Run(c.title+" "+url, func(t *testing.T) {
				dir := t.TempDir()
				t.Chdir(dir)
				programs(t, dir, map[string]string{
					"lynqctl": fmt.Sprintf("printf '%%s' '%s'; test %s != 2 || echo 'error: no rows' >&2; exit %[2]s", orLine(c.report), c.code),
					"gh":      fmt.Sprintf("printf '%%s\\n' \"$*\" >> %s; test \"$1 $2\" != 'pr view' || echo '%s'", filepath.Join(dir, "calls"), url),
				})
				report := filepath.Join(dir, "lynqctl-report.md")
				for name, value := range map[string]string{
					"ARGS": "diff -f forms/", "ACCEPT": "0 1 2 3", "GITHUB_OUTPUT": filepath.Join(dir, "output"),
					"REPORT": report, "CODE": c.code, "NUMBER": "3", "GH_REPO": "o/r", "JOB": "ci/diff . diff -f forms/",
				} {
					t.Setenv(name, value)
				}
				for _, step := range steps[2:4] {
					if said, err := installFrom(t, "set -o pipefail\n"+step.Run, dir, nil); err != nil {
						t.Fatalf("%v\n%s", err, said)
					}
				}
				body, err := os.ReadFile(report + ".comment")
				if err != nil {
					t.Fatal(err)
				}
				marker, rest, _ := strings.Cut(string(body), "\n")
				if rest != c.want || !strings.HasPrefix(marker, "<!-- lynqctl ") {
					t.Errorf("%q, want %q", body, c.want)
				}
				calls, err := os.ReadFile(filepath.Join(dir, "calls"))
				if err != nil {
					t.Fatal(err)
				}
				want := `pr view 3 --json comments --jq .comments[] | select(.viewerDidAuthor and (.body | startswith("` + marker + `"))) | .url` + "\n"
				if url == "" {
					want += "pr comment 3 --body-file " + report + ".comment\n"
				} else {
					want += "api --silent --method PATCH repos/o/r/issues/comments/41 --field body=@" + report + ".comment\n"
				}
				if string(calls) != want {
					t.Errorf("got:\n%swant:\n%s", calls, want)
				}
			})
		}
	}
}
