package funcs

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formatted is printf. Go's own writes its complaints into the text, such as %!d(string=7).
// This one returns them as errors.
func formatted(format string, args ...any) (string, error) {
	verbs, err := parseFormat(format, len(args))
	if err != nil {
		return "", err
	}
	values := slices.Clone(args)
	for _, v := range verbs {
		if values[v.arg], err = v.convert(args[v.arg]); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf(format, values...), nil
}

// CheckFormat finds the mistakes of printf that show without a row. isText reports whether
// an argument is certainly a text.
func CheckFormat(format string, args int, isText func(i int) bool) error {
	verbs, err := parseFormat(format, args)
	for _, v := range verbs {
		if err == nil && isText(v.arg) {
			_, err = v.convert("")
			var value *ValueError
			if errors.As(err, &value) {
				err = &ValueError{What: "a text " + value.What}
			}
		}
	}
	return err
}

// verb is the use of an argument in a format: by a verb, or as '*' for a width.
type verb struct {
	letter rune
	arg    int
	shaped bool // it has a precision, or a flag other than '-'
}

// parseFormat reads a format with n arguments, by the rules of package fmt.
func parseFormat(format string, n int) ([]verb, error) {
	p := formatParser{rest: format, args: n, used: make([]bool, n)}
	for p.err == nil {
		_, rest, found := strings.Cut(p.rest, "%")
		if !found {
			break
		}
		p.rest = rest
		p.directive()
	}
	if p.err != nil {
		return nil, p.err
	}
	if i := slices.Index(p.used, false); i >= 0 {
		return nil, &ValueError{What: fmt.Sprintf("the format has no verb for argument %d after it", i+1)}
	}
	return p.verbs, nil
}

// formatParser reads a format from left to right.
type formatParser struct {
	rest  string
	args  int
	next  int // the argument of the next verb
	used  []bool
	verbs []verb
	// shaped is set if the directive has a precision, or a flag other than '-'.
	shaped bool
	err    error
}

// directive reads what follows a percent sign.
func (p *formatParser) directive() {
	rest := strings.TrimLeft(p.rest, "+-# 0")
	p.shaped = strings.Trim(p.rest[:len(p.rest)-len(rest)], "-") != ""
	p.rest = rest
	p.index()
	p.size()
	if after, found := strings.CutPrefix(p.rest, "."); found {
		p.rest, p.shaped = after, true
		p.index()
		p.size()
	}
	p.index()
	letter, length := utf8.DecodeRuneInString(p.rest)
	switch {
	case p.err != nil:
	case length == 0:
		p.fail("the format ends with a percent sign; %%%% writes one")
	case letter == 'p':
		p.fail("%%p prints an address, which is another one in every run")
	case letter != '%' && !strings.ContainsRune("vTtbcdoOqxXUeEfFgGs", letter):
		p.fail("%%%c is no verb; %%%% writes a percent sign", letter)
	}
	p.rest = p.rest[length:]
	if letter != '%' && p.err == nil {
		p.use(letter)
	}
}

// index reads the number of an argument, such as [2].
func (p *formatParser) index() {
	if !strings.HasPrefix(p.rest, "[") || p.err != nil {
		return
	}
	number, rest, found := strings.Cut(p.rest[1:], "]")
	n, err := strconv.Atoi(number)
	if !found || err != nil || n < 1 || n > p.args {
		p.fail("the format asks for argument [%s], and it has %d", number, p.args)
		return
	}
	p.next, p.rest = n-1, rest
}

// size reads a width or a precision.
func (p *formatParser) size() {
	if after, found := strings.CutPrefix(p.rest, "*"); found {
		p.rest = after
		p.use('*')
		return
	}
	p.rest = strings.TrimLeft(p.rest, "0123456789")
}

func (p *formatParser) use(letter rune) {
	if p.err != nil {
		return
	}
	if p.next >= p.args {
		p.fail("the format has a verb for argument %d, and only %d follow it", p.next+1, p.args)
		return
	}
	p.used[p.next] = true
	p.verbs = append(p.verbs, verb{letter, p.next, p.shaped && letter != '*'})
	p.next++
}

func (p *formatParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = &ValueError{What: fmt.Sprintf(format, args...)}
	}
}

// convert returns an argument as a value that fits the verb.
func (v verb) convert(arg any) (any, error) {
	if arg == nil {
		return nil, missing()
	}
	switch v.letter {
	case 'T':
		return arg, nil
	case 'v', 's', 'q':
		return v.readable(arg)
	case 't':
		if _, ok := arg.(bool); !ok {
			return nil, v.unfit(arg, "a boolean", "| bool")
		}
		return arg, nil
	case 'e', 'E', 'f', 'F', 'g', 'G':
		if !isNumber(arg) {
			return nil, v.unfit(arg, aNumber, "| float")
		}
		return floating(arg)
	case 'x', 'X':
		switch arg.(type) {
		case string, []byte:
			return arg, nil
		}
	}
	return v.integer(arg)
}

// readable returns a value for %v, %s and %q.
func (v verb) readable(arg any) (any, error) {
	value, err := Printable(arg)
	_, fraction := value.(plain)
	if v.shaped && isNumber(arg) && (fraction || v.letter != 'v') {
		return nil, v.unfit(arg, "no precision and no flag for a number", "%f or %d")
	}
	switch value.(type) {
	case int, int64:
		if v.letter != 'v' {
			return numberText(arg), nil
		}
	case bool:
		if v.letter != 'v' {
			return fmt.Sprint(arg), nil
		}
	case string, plain, error, fmt.Stringer:
	default:
		if err == nil && v.letter != 'v' {
			return nil, v.unfit(arg, "a text", "| toJson")
		}
	}
	return value, err
}

// floating returns a number for the verbs of numbers with a fraction.
func floating(arg any) (any, error) {
	d, err := toDecimal(arg)
	if err != nil {
		return nil, err
	}
	if f, ok := number(d).(float64); ok {
		return f, nil
	}
	return bigFloat(d.String()), nil
}

// integer returns a number for the verbs of whole numbers.
func (v verb) integer(arg any) (any, error) {
	if !isNumber(arg) {
		return nil, v.unfit(arg, aWholeNumber, "| int")
	}
	i, err := toInt(arg)
	if err != nil {
		return nil, v.unfit(arg, aWholeNumber, "%v")
	}
	if (v.letter == 'c' || v.letter == 'U') && (i < 0 || i > utf8.MaxRune || !utf8.ValidRune(rune(i))) {
		return nil, v.unfit(arg, "a character", "%d")
	}
	return i, nil
}

// unfit returns the error for an argument of another type than a verb takes.
func (v verb) unfit(arg any, what, fix string) error {
	if v.letter == '*' {
		return &ValueError{value: written(arg), What: "is no width: '*' takes " + aWholeNumber + " (" + fix + ")"}
	}
	if reflect.TypeOf(arg).Kind() == reflect.String && !isNumber(arg) && strings.HasPrefix(fix, "|") {
		fix = "convert it with " + fix
	} else {
		fix = "use " + fix
	}
	return &ValueError{value: written(arg), What: fmt.Sprintf("does not fit %%%c, which takes %s (%s)", v.letter, what, fix)}
}
