package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/form/files"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// These limit a command that prints a password.
const (
	execLimit  = 30 * time.Second
	maxPrinted = 64 << 10
)

// printed returns what the command of a hub prints, without a shell. Each reading of rows
// runs the command, because its token may expire. Errors have what the command wrote to
// standard error, and never what it printed. The command may run until limit.
func printed(ctx context.Context, h *form.Hub, from *form.PasswordSource, what string, limit time.Duration) (endpoint.Secret, error) {
	fail := func(format string, args ...any) (endpoint.Secret, error) {
		return "", fmt.Errorf("%s: hub %q: command %s of %sFrom: %w", from.Pos, h.Name, phrase.Quote(from.Command[0]), what, fmt.Errorf(format, args...))
	}
	if h.Pos.File == files.StdinName { // it may come from elsewhere
		return fail("a hub from standard input runs no command (give the hub as a file)")
	}
	dir := filepath.Dir(h.Pos.File)
	program := from.Command[0]
	if isPath := filepath.Base(program) != program; isPath && !filepath.IsAbs(program) {
		program = filepath.Join(dir, program)
		if !filepath.IsAbs(program) { // "./token" without its path would be a program of PATH
			program = "." + string(filepath.Separator) + program
		}
	}
	program, err := exec.LookPath(program)
	if err != nil {
		return fail("%w (install it, or write its path from the hub's file)", err)
	}
	if program, err = filepath.Abs(program); err != nil {
		return fail("%w", err)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, told := &limitedBuffer{most: maxPrinted}, &limitedBuffer{most: maxPrinted}
	cmd := &exec.Cmd{Path: program, Args: from.Command, Dir: dir, Stdout: out, Stderr: told, WaitDelay: time.Second}
	if err := cmd.Start(); err != nil {
		return fail("%w", err)
	}
	stop := context.AfterFunc(limited, func() { _ = cmd.Process.Kill() }) // it may have ended by itself
	err = cmd.Wait()
	stop()
	password := strings.TrimRight(out.String(), "\r\n")
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case limited.Err() != nil:
		return fail("it ran for more than %s%s", limit, stderrOf(told, password))
	case errors.Is(err, exec.ErrWaitDelay):
		return fail("it ended, and a process that it started still writes to its output (end that process, or redirect its output)")
	case err != nil:
		return fail("%w%s", err, stderrOf(told, password))
	case out.over:
		return fail("it printed more than %d KiB", maxPrinted>>10)
	case strings.ContainsAny(password, "\r\n"):
		return fail("it printed several lines (print the %s alone)", what)
	case strings.TrimSpace(password) == "":
		return fail("it printed nothing%s", stderrOf(told, password))
	}
	return endpoint.Secret(password), nil
}

// stderrOf returns what a command wrote to standard error, without the lines that it printed,
// because each of them may be the password.
func stderrOf(told *limitedBuffer, password string) string {
	text := strings.TrimSpace(told.String())
	if text == "" {
		return ""
	}
	lines := strings.FieldsFunc(password, func(r rune) bool { return r == '\r' || r == '\n' })
	slices.SortFunc(lines, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
	const shortest = 4                                                       // a shorter line of several is no password, and a part of many words
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" && (len(lines) == 1 || len(line) >= shortest) {
			text = strings.ReplaceAll(text, line, endpoint.Redacted)
		}
	}
	return ": " + phrase.Shown(text)
}

// limitedBuffer keeps the beginning of what a program writes. It embeds no buffer, whose
// ReadFrom would take everything.
type limitedBuffer struct {
	kept bytes.Buffer
	most int
	over bool
}

// String returns what it kept.
func (b *limitedBuffer) String() string { return b.kept.String() }

// Write implements io.Writer, and never fails, so that the program ends by itself.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	kept := p[:min(len(p), b.most-b.kept.Len())]
	b.over = b.over || len(kept) < len(p)
	_, err := b.kept.Write(kept)
	return len(p), err
}
