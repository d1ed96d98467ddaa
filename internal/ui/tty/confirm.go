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

// CanAsk tells whether a question can be answered: both what is read from and
// what is asked on are terminals, of whatever kind.
func CanAsk(in io.Reader, err Stream) bool {
	file, ok := in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && err.Interactive
}

// Confirm asks a question that is answered with y or n. Anything but a yes is a no.
func Confirm(in io.Reader, err Stream, question string) (bool, error) {
	line, problem := answer(in, err, Safe(question)+" [y/N] ")
	line = strings.ToLower(line)
	return line == "y" || line == "yes", problem
}

// ConfirmName asks a question that is answered by typing a name. Anything else is a no.
func ConfirmName(in io.Reader, err Stream, question, name string) (bool, error) {
	line, problem := answer(in, err, Safe(question)+" [type "+Safe(name)+" to confirm] ")
	return line == name && name != "", problem
}

// answer is the line that is typed after a question, "" where the input ends, also in
// the middle of a line.
func answer(in io.Reader, err Stream, question string) (string, error) {
	if _, problem := fmt.Fprint(err, question); problem != nil {
		return "", fmt.Errorf("ask: %w", problem)
	}
	line, problem := bufio.NewReader(in).ReadString('\n')
	if problem != nil {
		_, _ = fmt.Fprintln(err) // the line was not ended
		if errors.Is(problem, io.EOF) {
			return "", nil
		}
		return "", fmt.Errorf("read the answer: %w", problem)
	}
	return strings.TrimSpace(line), nil
}
