package tty

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// CanAsk reports whether a person can answer a question: input and output are terminals, of
// whatever kind.
func CanAsk(in io.Reader, err Stream) bool {
	file, ok := in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && err.Interactive
}

// Confirm asks a question, and returns true for y or yes. Any other answer is a no.
func Confirm(in io.Reader, err Stream, question string) (bool, error) {
	line, problem := answer(in, err, Safe(question)+" [y/N] ")
	line = strings.ToLower(line)
	return line == "y" || line == "yes", problem
}

// ConfirmName asks a person to type a name, and returns true if it matches.
func ConfirmName(in io.Reader, err Stream, question, name string) (bool, error) {
	line, problem := answer(in, err, Safe(question)+" [type "+Safe(name)+" to confirm] ")
	return line == name && name != "", problem
}

// answer returns the line that a person types after a question. It returns "" if the input
// ends, even in the middle of a line.
func answer(in io.Reader, err Stream, question string) (string, error) {
	if _, problem := fmt.Fprint(err, question); problem != nil {
		return "", fmt.Errorf("ask: %w", problem)
	}
	line, problem := bufio.NewReader(in).ReadString('\n')
	if problem != nil {
		_, _ = fmt.Fprintln(err) // the answer had no line end
		if errors.Is(problem, io.EOF) {
			return "", nil
		}
		return "", fmt.Errorf("read the answer: %w", problem)
	}
	return strings.TrimSpace(line), nil
}
