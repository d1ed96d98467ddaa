package doctest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Call is a call of lynqctl in a shell script.
type Call struct {
	Line int // of the script, from 1
	Args []string
	More bool // further arguments come from elsewhere, such as xargs
}

// Calls returns the calls of lynqctl in a shell script, in the order of their lines. It
// also finds calls through kubectl and xargs, and within $( ). An X stands for the output
// of a substitution, and $NAME for the value of a variable. For a script that bash can't
// parse, it returns an error with the line.
func Calls(script string) ([]Call, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "script")
	if err != nil {
		return nil, fmt.Errorf("parse the script: %w", err)
	}
	var calls []Call
	syntax.Walk(file, func(node syntax.Node) bool {
		if c, ok := node.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			if call, ok := callOf(words(c.Args)); ok {
				call.Line = int(c.Args[0].Pos().Line())
				calls = append(calls, call)
			}
		}
		return true
	})
	slices.SortStableFunc(calls, func(a, b Call) int { return a.Line - b.Line })
	return calls, nil
}

// words returns the arguments that the shell would pass for the words of a command.
func words(args []*syntax.Word) []string {
	texts := make([]string, len(args))
	for i, w := range args {
		var text strings.Builder
		for _, part := range w.Parts {
			write(&text, part, false)
		}
		texts[i] = text.String()
	}
	return texts
}

// write writes a part of a word as the shell would pass it. Within double quotes, the shell
// removes a backslash only before a few characters.
func write(text *strings.Builder, part syntax.WordPart, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		text.WriteString(unescaped(p.Value, quoted))
	case *syntax.SglQuoted:
		text.WriteString(p.Value)
	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			write(text, inner, true)
		}
	case *syntax.ParamExp:
		text.WriteString("$" + p.Param.Value)
	default:
		text.WriteString("X")
	}
}

// unescaped removes the backslashes that the shell removes.
func unescaped(literal string, quoted bool) string {
	var text strings.Builder
	for i := 0; i < len(literal); i++ {
		if literal[i] == '\\' && i+1 < len(literal) && (!quoted || strings.IndexByte("\"\\$`", literal[i+1]) >= 0) {
			i++
		}
		text.WriteByte(literal[i])
	}
	return text.String()
}

// callOf returns the call of lynqctl in the words of a command. It returns false if the
// words call something else.
func callOf(words []string) (Call, bool) {
	for len(words) > 0 && slices.Contains([]string{"exec", "env", "sudo", "command"}, words[0]) {
		words = words[1:]
	}
	var call Call
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
