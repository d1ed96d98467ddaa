package gitlog

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// repository is a folder with a repository of Git.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	for _, v := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		t.Setenv(v, os.DevNull)
	}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "a")
		t.Setenv("GIT_"+who+"_EMAIL", "a@example.com")
	}
	r := &repository{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r *repository) git(args ...string) {
	r.t.Helper()
	c := exec.Command("git", args...)
	c.Dir = r.dir
	if out, err := c.CombinedOutput(); err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func (r *repository) write(file, text string) string {
	r.t.Helper()
	path := filepath.Join(r.dir, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// commit commits a file with a text.
func (r *repository) commit(file, text, subject string) {
	r.t.Helper()
	r.write(file, text)
	r.git("add", "--", file)
	r.git("commit", "-q", "-m", subject)
}

// versions returns the versions of a file: subject=text, each once.
func (r *repository) versions(file string) string {
	r.t.Helper()
	var all []string
	for _, v := range New(time.Now).Versions(r.t.Context(), file) {
		all = append(all, v.Commit.Subject+"="+v.Text)
	}
	return strings.Join(all, " ")
}

func (r *repository) want(file, want string) {
	r.t.Helper()
	if got := r.versions(filepath.Join(r.dir, file)); got != want {
		r.t.Errorf("%s: got %q, want %q", file, got, want)
	}
}

func TestVersions(t *testing.T) {
	r := newRepository(t)
	r.commit("forms/web.yaml", "1", "one")
	r.commit("forms/web.yaml", "2", "two")
	r.commit("forms/other.yaml", "x", "other")
	r.commit("forms/-web :(top)*.yaml", "d", "dash")
	r.write("forms/web.yaml", "3")
	r.want("forms/web.yaml", "=3 two=2 one=1")
	r.want("forms/-web :(top)*.yaml", "=d dash=d")
	t.Chdir(filepath.Join(r.dir, "forms"))
	if got := r.versions("web.yaml"); got != "=3 two=2 one=1" {
		t.Errorf("a relative path: %q", got)
	}
	if got := r.versions("-web :(top)*.yaml"); got != "=d dash=d" {
		t.Errorf("a path that begins like a flag: %q", got)
	}
	r.git("rm", "-q", "--cached", "--", "forms/web.yaml")
	r.git("commit", "-q", "-m", "gone")
	r.want("forms/web.yaml", "=3 gone= two=2 one=1")

	// A hook's environment names another repository.
	for _, v := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		t.Setenv(v, filepath.Join(r.dir, "nowhere"))
	}
	r.want("forms/web.yaml", "=3 gone= two=2 one=1")
}

// TestMerge follows the first parent of a merge that changed the file, and the branch that
// changed it else.
func TestMerge(t *testing.T) {
	r := newRepository(t)
	r.commit("web.yaml", "1", "one")
	r.git("checkout", "-q", "-b", "side")
	r.commit("web.yaml", "side", "side")
	r.git("checkout", "-q", "main")
	r.commit("other.yaml", "x", "other")
	r.git("merge", "-q", "-m", "clean", "side")
	r.want("web.yaml", "=side side=side one=1")
	r.git("checkout", "-q", "-b", "later")
	r.commit("web.yaml", "later", "later")
	r.git("checkout", "-q", "main")
	r.commit("web.yaml", "main", "main")
	r.git("merge", "-q", "-s", "ours", "--no-commit", "later")
	r.commit("web.yaml", "both", "both")
	r.want("web.yaml", "=both both=both main=main side=side one=1")
}

// TestNoVersions knows none without git, a repository, a history or a regular file, and
// fails no run.
func TestNoVersions(t *testing.T) {
	r := newRepository(t)
	r.write("web.yaml", "1")
	r.want("web.yaml", "") // no commit
	r.commit("other.yaml", "x", "other")
	r.want("web.yaml", "") // not in a commit
	r.want("missing.yaml", "")
	r.want(".", "")
	r.want("other.yaml", "=x other=x")
	ended, end := context.WithCancel(t.Context())
	end()
	if v := New(time.Now).Versions(ended, filepath.Join(r.dir, "other.yaml")); v != nil {
		t.Errorf("after the end of the run: %v", v)
	}
	t.Setenv("PATH", t.TempDir())
	r.want("other.yaml", "")
}

// TestTimeLimit asks Git no more once it has reached the limit.
func TestTimeLimit(t *testing.T) {
	r := newRepository(t)
	r.commit("web.yaml", "1", "one")
	now := time.Unix(0, 0)
	l := New(func() time.Time { now = now.Add(timeLimit / 2); return now })
	for i, want := range []int{2, 2, 0} {
		if got := l.Versions(t.Context(), filepath.Join(r.dir, "web.yaml")); len(got) != want {
			t.Errorf("question %d: %d versions, want %d", i, len(got), want)
		}
	}
}

// TestShallow knows the newest versions of a shallow clone.
func TestShallow(t *testing.T) {
	r := newRepository(t)
	r.commit("web.yaml", "1", "one")
	r.commit("web.yaml", "2", "two")
	r.commit("web.yaml", "3", strings.Repeat("three ", 20))
	shallow := &repository{t, filepath.Join(t.TempDir(), "shallow")}
	r.git("clone", "-q", "--depth=2", "file://"+r.dir, shallow.dir)
	shallow.want("web.yaml", "=3 "+strings.Repeat("three ", 12)+"…=3 two=2")
}

// TestPrograms runs no program that the repository's settings name.
func TestPrograms(t *testing.T) {
	r := newRepository(t)
	r.commit("web.yaml", "1", "one")
	ran := filepath.Join(r.dir, "ran")
	program := r.write("program", "#!/bin/sh\necho \"$@\" >> "+ran+"\n")
	for _, key := range []string{
		"core.fsmonitor", "core.pager", "pager.log", "gpg.program", "diff.external", "diff.x.textconv", "core.sshCommand", "credential.helper", "core.editor", "filter.x.smudge",
	} {
		r.git("config", key, program)
	}
	for _, set := range [][2]string{{"log.showSignature", "true"}, {"log.follow", "true"}, {"format.pretty", "fuller"}, {"color.ui", "always"}, {"diff.x.binary", "false"}} {
		r.git("config", set[0], set[1])
	}
	r.write(".git/info/attributes", "web.yaml diff=x filter=x\n")
	r.git("-c", "core.fsmonitor=false", "update-ref", "HEAD", r.signed())
	for _, hook := range []string{"post-index-change", "reference-transaction", "fsmonitor-watchman"} {
		r.write(".git/hooks/"+hook, "#!/bin/sh\n"+program+"\n")
	}
	for _, v := range []string{"GIT_PAGER", "GIT_EXTERNAL_DIFF", "PAGER", "GIT_TRACE"} {
		t.Setenv(v, program)
	}
	_ = os.Remove(ran)
	r.want("web.yaml", "=1 one=1")
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("a program ran with %s", text)
	}
}

// signed returns a copy of the newest commit with a signature, which Git could check.
func (r *repository) signed() string {
	r.t.Helper()
	c := exec.Command("sh", "-c", `git cat-file commit HEAD | sed '0,/^$/s/^$/gpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n/' | git hash-object -t commit -w --stdin`)
	c.Dir = r.dir
	out, err := c.Output()
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestOwner reads no repository of another user. Git takes each repository for one, if a
// variable for its own tests says so.
func TestOwner(t *testing.T) {
	r := newRepository(t)
	r.commit("web.yaml", "1", "one")
	r.want("web.yaml", "=1 one=1")
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	others := t.TempDir()
	if err := os.WriteFile(filepath.Join(others, "git"), []byte("#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec "+real+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", others)
	r.want("web.yaml", "")
}
