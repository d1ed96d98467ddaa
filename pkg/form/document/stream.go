package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	yaml2 "go.yaml.in/yaml/v2"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Stream is the content of a YAML or JSON stream.
type Stream struct {
	// Documents are the readable documents without the empty ones.
	Documents []*Value
	// Broken is set if the stream ends early, or if a document exceeded the limits.
	Broken bool
	// Problems are errors, and Warnings are oddities.
	Problems, Warnings lynq.Problems
}

// Parse reads a YAML or JSON stream. Problems and values name file as their place.
func Parse(file string, data []byte) *Stream { return parse(file, data, false) }

// ParseRendered works like Parse for a stream that a template rendered. Its lines aren't those of
// the template, so no place has one.
func ParseRendered(file string, data []byte) *Stream { return parse(file, data, true) }

func parse(file string, data []byte, rendered bool) *Stream {
	s := &Stream{}
	if json.Valid(data) {
		data = joinSurrogates(data)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var n yaml.Node
		err := decoder.Decode(&n)
		if errors.Is(err, io.EOF) {
			return s
		}
		if err != nil {
			problem := syntaxProblem(file, string(data), err)
			if rendered {
				problem.Pos.Line = 0
			}
			s.Problems, s.Broken = append(s.Problems, problem), true
			return s
		}
		if n.Kind != yaml.DocumentNode || len(n.Content) == 0 || isEmpty(n.Content[0]) {
			continue
		}
		c := converter{stream: s, file: file, rendered: rendered}
		document := c.value(n.Content[0], 0, false)
		if s.Broken = s.Broken || c.tooLarge; !c.tooLarge {
			s.Documents = append(s.Documents, document)
		}
	}
}

// isEmpty reports whether a document has only comments or an explicit null.
func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == yaml.NodeTagNull
}

// joinSurrogates replaces pairs like \ud83d\ude00 with the character that they escape.
// JSON uses such pairs for characters outside the basic plane, but YAML forbids them. The
// data must be valid JSON.
func joinSurrogates(data []byte) []byte {
	const width = len(`\ud83d`)
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			out = append(out, data[i])
			continue
		}
		if i+2*width <= len(data) && data[i+1] == 'u' && data[i+width] == '\\' && data[i+width+1] == 'u' {
			high, _ := strconv.ParseUint(string(data[i+2:i+width]), 16, 16)
			low, _ := strconv.ParseUint(string(data[i+width+2:i+2*width]), 16, 16)
			if r := utf16.DecodeRune(rune(high), rune(low)); r != '\uFFFD' {
				out = append(out, string(r)...)
				i += 2*width - 1
				continue
			}
		}
		out = append(out, data[i], data[i+1])
		i++
	}
	return out
}

// syntaxProblem turns an error of the YAML parser into a problem.
func syntaxProblem(file, data string, err error) lynq.Problem {
	line, message := syntaxError(err)
	if name, ok := strings.CutPrefix(message, "unknown anchor '"); ok {
		// The message doesn't show the name, because a password may begin with a star.
		name, _, _ = strings.Cut(name, "'")
		return lynq.Problem{
			Pos:  lynq.Pos{File: file, Line: lineOf(data, "*"+name)},
			What: "not YAML: an alias has no anchor",
			Fix:  "quote a value that begins with *",
		}
	}
	if l := kubectlLine(data); l > 0 {
		line = l
	}
	lines := strings.Split(strings.TrimSuffix(data, "\n"), "\n")
	line = min(max(line, 1), len(lines))
	problem := lynq.Problem{Pos: lynq.Pos{File: file, Line: line}, What: "not YAML: " + message}
	if unquotedTemplate(lines[line-1]) {
		problem.Fix = `a value that begins with quote the template: "{{ ... }}"`
	}
	return problem
}

func unquotedTemplate(line string) bool {
	text := strings.TrimLeft(line, " -")
	if _, value, ok := strings.Cut(text, ": "); ok {
		text = strings.TrimLeft(value, " ")
	}
	return strings.HasPrefix(text, "{{")
}

// kubectlLine returns the line of the first syntax error from the older YAML library, or
// 0. The newer library only names the line at which the block around the error begins.
func kubectlLine(data string) int {
	decoder := yaml2.NewDecoder(strings.NewReader(data))
	for {
		err := decoder.Decode(&ignored{})
		if errors.Is(err, io.EOF) {
			return 0
		}
		if err == nil {
			continue
		}
		line, message := syntaxError(err)
		// Unlike its scanner, this library's parser counts lines from zero.
		if line > 0 && strings.HasPrefix(message, "did not find expected") {
			line++
		}
		return line
	}
}

// ignored receives a YAML value without decoding it.
type ignored struct{}

func (*ignored) UnmarshalYAML(func(any) error) error { return nil }

// syntaxError splits "yaml: line 3: message". line is 0 if there is none.
func syntaxError(err error) (line int, message string) {
	m := regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`).FindStringSubmatch(err.Error())
	if m == nil {
		return 0, err.Error()
	}
	line, _ = strconv.Atoi(m[1])
	return line, m[2]
}

// lineOf returns the number of the first line with the text, or 0.
func lineOf(data, text string) int {
	before, _, found := strings.Cut(data, text)
	if !found {
		return 0
	}
	return 1 + strings.Count(before, "\n")
}
