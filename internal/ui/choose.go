package ui

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// Choose lets a person choose from a numbered list, by numbers and ranges (1,3-5), or all.
// It returns the indexes. An empty answer, and the end of the input, choose nothing. After
// an answer that it can't parse, Choose asks again.
func Choose(in io.Reader, err tty.Stream, l *list.List, question string) ([]int, error) {
	numbered := list.List{Columns: append([]list.Column{{Name: "#"}}, l.Columns...)}
	for i, item := range l.Items {
		numbered.Items = append(numbered.Items, list.Item{Cells: append([]string{strconv.Itoa(i + 1)}, item.Cells...)})
	}
	if _, problem := io.WriteString(err, numbered.Table(false, err)); problem != nil {
		return nil, fmt.Errorf("ask: %w", problem)
	}
	answers := bufio.NewReader(in)
	for {
		if _, problem := fmt.Fprintf(err, "%s [numbers such as 1,3-5, all, or nothing for none] ", tty.Safe(question)); problem != nil {
			return nil, fmt.Errorf("ask: %w", problem)
		}
		line, problem := answers.ReadString('\n')
		if problem != nil {
			_, _ = fmt.Fprintln(err) // the answer had no line end
			if errors.Is(problem, io.EOF) {
				return nil, nil
			}
			return nil, fmt.Errorf("read the answer: %w", problem)
		}
		chosen, wrong := parseChoice(line, len(l.Items))
		if wrong == "" {
			return chosen, nil
		}
		_, _ = fmt.Fprintln(err, wrong)
	}
}

// parseChoice returns the chosen indexes, from 0, or says what is wrong with the answer.
func parseChoice(answer string, n int) (chosen []int, wrong string) {
	if strings.EqualFold(strings.TrimSpace(answer), "all") {
		answer = "1-" + strconv.Itoa(n)
	}
	picked := make([]bool, n)
	for _, part := range strings.FieldsFunc(answer, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || from < 1 || to > n || from > to {
			return nil, fmt.Sprintf("%q is none of 1 to %d", tty.Safe(part), n)
		}
		for i := from - 1; i < to; i++ {
			picked[i] = true
		}
	}
	for i := range picked {
		if picked[i] {
			chosen = append(chosen, i)
		}
	}
	return chosen, ""
}
