package gitlog

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/edits"
)

// These limit what a Log reads.
const (
	maxCommits = 50
	maxFile    = 4 << 20
	maxOutput  = 32 << 20
	maxSubject = 72              // characters
	timeLimit  = 5 * time.Second // for all files of a run
)

// Log reads versions for a run. It isn't safe for concurrent use.
type Log struct {
	now  func() time.Time
	left time.Duration // until Git reaches the time limit
}

// New returns a Log.
func New(now func() time.Time) *Log { return &Log{now, timeLimit} }

// Versions returns the versions of a file, see edits.Versions. Once Git has reached the time
// limit, the Log returns none.
func (l *Log) Versions(ctx context.Context, file string) []edits.Version {
	began := l.now()
	defer func() { l.left -= l.now().Sub(began) }()
	info, err := os.Stat(file)
	if err != nil || l.left <= 0 || !info.Mode().IsRegular() || info.Size() > maxFile || strings.ContainsAny(file, "\n\x00") {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.left)
	defer cancel()
	commits, ok := commitsOf(ctx, file)
	if !ok || len(commits) == 0 {
		return nil
	}
	texts, ok := textsOf(ctx, file, commits)
	now, err := os.ReadFile(file)
	if !ok || err != nil {
		return nil
	}
	versions := []edits.Version{{Text: string(now)}}
	for i, c := range commits {
		versions = append(versions, edits.Version{Commit: changeset.Commit{ID: c.short, Subject: c.subject}, Text: texts[i]})
	}
	return versions
}

// commit is a commit that changed a file.
type commit struct{ id, short, parent, subject string }

// commitsOf returns the commits that changed a file, from the newest one. Each is the first
// parent of the one before it, as far as the file is concerned.
func commitsOf(ctx context.Context, file string) ([]commit, bool) {
	const fields = 4
	out, ok := git(ctx, file, nil, "log", "-z", "-n", strconv.Itoa(maxCommits), "--topo-order", "--parents", "--no-follow", "--no-show-signature", "--no-notes",
		"--no-decorate", "--no-color", "--no-ext-diff", "--no-textconv", "--no-patch", "--encoding=UTF-8", "--format=tformat:%H%n%h%n%P%n%s", "--", "./"+filepath.Base(file))
	if !ok {
		return nil, false
	}
	all, first := map[string]commit{}, ""
	for record := range strings.SplitSeq(string(out), "\x00") {
		parts := strings.SplitN(record, "\n", fields)
		if len(parts) < fields {
			continue
		}
		parent, _, _ := strings.Cut(parts[2], " ")
		c := commit{parts[0], parts[1], parent, shorten(parts[3])}
		if all[c.id] = c; first == "" {
			first = c.id
		}
	}
	var chain []commit
	for c, known := all[first]; known; c, known = all[c.parent] {
		chain = append(chain, c)
		delete(all, c.id)
	}
	return chain, true
}

// shorten returns a subject as a short line.
func shorten(subject string) string {
	runes := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(subject, "\uFFFD")), " "))
	if len(runes) > maxSubject {
		return string(runes[:maxSubject]) + "…"
	}
	return string(runes)
}

// textsOf returns the file in each of some commits. It is "" in a commit that deleted it.
func textsOf(ctx context.Context, file string, commits []commit) ([]string, bool) {
	var in bytes.Buffer
	for _, c := range commits {
		fmt.Fprintf(&in, "%s:./%s\n", c.id, filepath.Base(file))
	}
	out, ok := git(ctx, file, &in, "cat-file", "--batch=%(objecttype) %(objectsize)")
	if !ok {
		return nil, false
	}
	var texts []string
	for r := bufio.NewReader(bytes.NewReader(out)); len(texts) < len(commits); {
		head, err := r.ReadString('\n')
		if err != nil {
			return nil, false
		}
		var size int
		if n, _ := fmt.Sscanf(head, "blob %d", &size); n == 0 {
			if !strings.HasSuffix(head, " missing\n") {
				return nil, false
			}
			texts = append(texts, "")
			continue
		}
		text := make([]byte, min(size, maxOutput)+1)
		if _, err := io.ReadFull(r, text); err != nil {
			return nil, false
		}
		texts = append(texts, string(text[:len(text)-1])) // a line end follows
	}
	return texts, true
}

// git runs git in the folder of a file, and returns what it prints. Git ignores settings that
// would make it run other programs. It refuses repositories of other users.
func git(ctx context.Context, file string, in io.Reader, args ...string) ([]byte, bool) {
	cmd, out := exec.CommandContext(ctx, "git"), &limited{most: maxOutput}
	cmd.Args = append(cmd.Args, "--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.hooksPath="+os.DevNull, "-c", "protocol.allow=never")
	cmd.Args = append(cmd.Args, args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.WaitDelay = filepath.Dir(file), environment(os.Environ()), in, out, time.Second
	err := cmd.Run()
	return out.Bytes(), err == nil && !out.over
}

// environment returns an environment in which git finds the repository by the folder, asks
// nothing, and writes nothing. Settings by environment remain, because CI systems set
// safe.directory with them.
func environment(from []string) []string {
	var env []string
	for _, v := range from {
		if !strings.HasPrefix(v, "GIT_") || strings.HasPrefix(v, "GIT_CONFIG") || strings.HasPrefix(v, "GIT_CEILING_DIRECTORIES=") {
			env = append(env, v)
		}
	}
	return append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C")
}

// limited keeps what a program prints, up to a limit. It embeds no buffer, whose ReadFrom
// would take everything.
type limited struct {
	kept bytes.Buffer
	most int
	over bool
}

// Bytes returns what it kept.
func (l *limited) Bytes() []byte { return l.kept.Bytes() }

// Write implements io.Writer, and never fails, so that the program ends by itself.
func (l *limited) Write(p []byte) (int, error) {
	kept := p[:min(len(p), l.most-l.kept.Len())]
	l.over = l.over || len(kept) < len(p)
	_, err := l.kept.Write(kept)
	return len(p), err
}
