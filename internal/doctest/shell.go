package doctest

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Call is a call of lynqctl in a shell script.
type Call struct {
	Line int // of the script, from 1
	Args []string
	More bool // further arguments come from elsewhere: from xargs
}

// Calls finds the calls of lynqctl in a script, as far as that can be told without
// running it: also those by kubectl, by xargs, and within $( ).
func Calls(script string) []Call {
	l := &lexer{text: script, line: 1}
	l.run()
	var calls []Call
	for _, c := range l.commands {
		if call, ok := callOf(c); ok {
			calls = append(calls, call)
		}
	}
	return calls
}

// command is what stands between two operators of the shell.
type command struct {
	line  int
	words []string
}

// callOf tells whether a command calls lynqctl, and how.
func callOf(c command) (Call, bool) {
	assignment := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	before := []string{"if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "exec", "env", "sudo", "command"}
	words := c.words
	for len(words) > 0 && (slices.Contains(before, words[0]) || assignment.MatchString(words[0])) {
		words = words[1:]
	}
	call := Call{Line: c.line}
	if len(words) > 0 && words[0] == "xargs" {
		call.More = true
		at := slices.IndexFunc(words, func(w string) bool { return path.Base(w) == "lynqctl" })
		words = words[max(at, 0):]
	}
	switch {
	case len(words) == 0:
		return call, false
	case path.Base(words[0]) == "lynqctl", words[0] == "kubectl-lynq":
		call.Args = words[1:]
	case len(words) > 1 && words[0] == "kubectl" && words[1] == "lynq":
		call.Args = words[2:]
	case len(words) > 2 && words[0] == "go" && words[1] == "run" && path.Base(words[2]) == "lynqctl":
		call.Args = words[3:]
	default:
		return call, false
	}
	return call, true
}

// lexer parts a script into commands and their words. It knows quotes, comments,
// line ends behind a backslash, $( ) and redirections; of what these contain it
// keeps nothing but the commands.
type lexer struct {
	text     string
	line     int
	commands []command
	current  command
	word     strings.Builder
	inWord   bool
	redirect bool // the next word is the file of a redirection
}

func (l *lexer) run() {
	for l.text != "" {
		l.step()
	}
	l.endCommand()
}

// step takes what comes next.
func (l *lexer) step() {
	c := l.next()
	switch {
	case c == '\\' && strings.HasPrefix(l.text, "\n"):
		l.next()
	case c == '\\' && l.text != "":
		l.add(l.next())
	case c == '\'' || c == '"':
		l.quoted(c)
	case c == '$' && strings.HasPrefix(l.text, "("):
		l.next()
		l.substitution()
	case c == '#' && !l.inWord:
		for l.text != "" && l.text[0] != '\n' {
			l.next()
		}
	case c == ' ' || c == '\t':
		l.endWord()
	case c == '<' || c == '>':
		l.redirection()
	case strings.ContainsRune("\n;|&()`", rune(c)):
		l.endCommand()
	default:
		l.add(c)
	}
}

// next takes a byte.
func (l *lexer) next() byte {
	c := l.text[0]
	l.text = l.text[1:]
	if c == '\n' {
		l.line++
	}
	return c
}

// add adds a byte to the word.
func (l *lexer) add(c byte) {
	l.begin()
	l.word.WriteByte(c)
}

// begin begins a word, which may be empty: "" is one.
func (l *lexer) begin() {
	if !l.inWord && len(l.current.words) == 0 {
		l.current.line = l.line
	}
	l.inWord = true
}

// quoted takes the rest of a text in quotes.
func (l *lexer) quoted(quote byte) {
	l.begin()
	for l.text != "" {
		c := l.next()
		switch {
		case c == quote:
			return
		case quote == '"' && c == '\\' && l.text != "":
			l.add(l.next())
		case quote == '"' && c == '$' && strings.HasPrefix(l.text, "("):
			l.next()
			l.substitution()
		default:
			l.add(c)
		}
	}
}

// substitution takes the rest of a $( ). What it would print becomes an X.
func (l *lexer) substitution() {
	inner := &lexer{text: l.text, line: l.line}
	depth := 1
	for inner.text != "" {
		// Parentheses in quotes and comments are taken by step.
		if inner.text[0] == '(' {
			depth++
		}
		if inner.text[0] == ')' {
			if depth--; depth == 0 {
				break
			}
		}
		inner.step()
	}
	inner.endCommand()
	l.commands = append(l.commands, inner.commands...)
	l.text, l.line = strings.TrimPrefix(inner.text, ")"), inner.line
	l.add('X')
}

// redirection takes a < or > and what belongs to it.
func (l *lexer) redirection() {
	if regexp.MustCompile(`^[0-9]$`).MatchString(l.word.String()) {
		l.word.Reset()
		l.inWord = false
	}
	l.endWord()
	for l.text != "" && strings.ContainsRune("<>&-", rune(l.text[0])) {
		l.next()
	}
	l.redirect = true
}

func (l *lexer) endWord() {
	if l.inWord && !l.redirect {
		l.current.words = append(l.current.words, l.word.String())
	}
	if l.inWord {
		l.redirect = false
	}
	l.word.Reset()
	l.inWord = false
}

func (l *lexer) endCommand() {
	l.endWord()
	l.redirect = false
	if len(l.current.words) > 0 {
		l.commands = append(l.commands, l.current)
	}
	l.current = command{}
}
