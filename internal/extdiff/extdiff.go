package extdiff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/diff"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Variable is the environment variable with the program, as in kubectl.
const Variable = "KUBECTL_EXTERNAL_DIFF"

// Program is a program that shows differences.
type Program struct{ words []string }

// Find returns the program that an environment names, or nil. As in kubectl, spaces
// separate its words, and Find drops arguments that a shell might interpret.
func Find(getenv func(string) string) (*Program, error) {
	value := getenv(Variable)
	if value == "" {
		return nil, nil
	}
	words := strings.Fields(value)
	if len(words) == 0 {
		return nil, fmt.Errorf("%s is blank: name a program, such as \"diff -u -N\", or unset it", Variable)
	}
	program, err := exec.LookPath(words[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Variable, err)
	}
	plain := regexp.MustCompile(`^[a-zA-Z0-9-=]+$`)
	command := []string{program}
	for _, w := range words[1:] {
		if plain.MatchString(w) {
			command = append(command, w)
		}
	}
	return &Program{command}, nil
}

// Show shows the differences between two directories, and describes in our own words what
// no file shows. It reports whether anything differs. For the files, the program decides
// that.
func (p *Program) Show(ctx context.Context, report *diff.Report, out tty.Stream, stdout, stderr io.Writer) (bool, error) {
	dir, err := os.MkdirTemp("", "lynqctl-diff-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // nobody needs it any more, and it has no secrets
	contents, tracking, err := writeSides(dir, report)
	if err != nil {
		return false, err
	}
	if err := ui.PrintDiffHeads(report, out); err != nil {
		return false, err
	}
	if contents == 0 {
		return tracking > 0, nil
	}
	cmd := exec.CommandContext(ctx, p.words[0], append(p.words[1:], filepath.Join(dir, "LIVE"), filepath.Join(dir, "NEXT"))...) //nolint:gosec // the user names it
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return tracking > 0, nil
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return true, nil
	}
	return false, fmt.Errorf("%s: %w", Variable, err)
}

// writeSides writes both sides of all objects whose content changes. It counts these, and
// the objects with only a change of tracking.
func writeSides(dir string, report *diff.Report) (contents, tracking int, err error) {
	for _, side := range []string{"LIVE", "NEXT"} {
		if err := os.Mkdir(filepath.Join(dir, side), 0o700); err != nil {
			return 0, 0, err
		}
	}
	for i := range report.Nodes {
		for j := range report.Nodes[i].Objects {
			o := &report.Nodes[i].Objects[j]
			if o.Diff == "" {
				if o.Tracking {
					tracking++
				}
				continue
			}
			contents++
			for side, text := range map[string]string{"LIVE": o.Before, "NEXT": o.After} {
				if err := writeSide(filepath.Join(dir, side, fileName(o)), text); err != nil {
					return 0, 0, err
				}
			}
		}
	}
	return contents, tracking, nil
}

// writeSide writes one side. It writes no file if the object doesn't exist.
func writeSide(path, text string) error {
	if text == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, tty.Text(text)) // the program shows it unchanged
	return errors.Join(err, f.Close())
}

// fileName returns kubectl's name for an object's file: group.version.kind.namespace.name.
func fileName(o *diff.Object) string {
	group, version := lynq.SplitAPIVersion(o.APIVersion)
	parts := []string{version, o.Kind, o.Namespace, o.Name}
	if group != "" {
		parts = append([]string{group}, parts...)
	}
	return strings.NewReplacer("/", "_", ":", "_").Replace(strings.Join(parts, "."))
}
