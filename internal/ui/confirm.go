package ui

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
	for _, stream := range []any{in, err.Writer} {
		if file, ok := stream.(*os.File); !ok || !term.IsTerminal(int(file.Fd())) {
			return false
		}
	}
	return true
}

// Confirm asks a question that is answered with y or n. Anything but a yes is a
// no, and so is the end of the input, also in the middle of a line.
func Confirm(in io.Reader, err Stream, question string) (bool, error) {
	if _, problem := fmt.Fprint(err, safe(question)+" [y/N] "); problem != nil {
		return false, fmt.Errorf("ask: %w", problem)
	}
	line, problem := bufio.NewReader(in).ReadString('\n')
	if problem != nil {
		_, _ = fmt.Fprintln(err) // the line was not ended
		if errors.Is(problem, io.EOF) {
			return false, nil
		}
		return false, fmt.Errorf("read the answer: %w", problem)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}
