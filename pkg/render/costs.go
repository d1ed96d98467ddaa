package render

import (
	"math"
	"reflect"
	"regexp"
	"regexp/syntax"
	"strings"
)

// metering is how functions are metered.
type metering struct {
	costs map[string]func(args []reflect.Value) int
	deep  map[string]bool
}

func newMetering() metering { return metering{costs: costs(), deep: goesDeep()} }

func (m metering) of(name string, function any) metered {
	f := metered{name: name, function: function, cost: m.costs[name], levels: shallow}
	if m.deep[name] {
		f.levels = deep
	}
	return f
}

// goesDeep are the functions that look at all of what is in a list or a map.
func goesDeep() map[string]bool {
	names := []string{
		"print", "printf", "println", "html", "js", "urlquery", "cat", "quote", "squote", "join", "toString", "toStrings", "sortAlpha",
		"toJson", "mustToJson", "toRawJson", "mustToRawJson", "toPrettyJson", "mustToPrettyJson",
		"deepCopy", "mustDeepCopy", "deepEqual", "has", "mustHas", "uniq", "mustUniq", "without", "mustWithout",
		"merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite",
	}
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// What functions count that take long whatever they are given.
const (
	slow     = 4 << 20
	verySlow = 8 << 20
)

// costs are the bytes that calls count beside what they are given and what they
// make: before the work is done, for functions that make much of little, and for
// those that take long.
func costs() map[string]func(args []reflect.Value) int {
	fixed := func(n int) func([]reflect.Value) int { return func([]reflect.Value) int { return n } }
	characters := func(a []reflect.Value) int { return times(whole(a[0]), perValue) }
	return map[string]func([]reflect.Value) int{
		"repeat":      func(a []reflect.Value) int { return times(whole(a[0]), a[1].Len()) },
		"replace":     func(a []reflect.Value) int { return times(strings.Count(a[2].String(), a[0].String()), a[1].Len()) },
		"indent":      indentation,
		"nindent":     indentation,
		"wrapWith":    func(a []reflect.Value) int { return times(a[2].Len()/max(whole(a[0]), 1)+1, a[1].Len()) },
		"join":        func(a []reflect.Value) int { return times(length(a[1]), a[0].Len()) },
		"split":       func(a []reflect.Value) int { return times(strings.Count(a[1].String(), a[0].String()), 4*perValue) },
		"splitn":      func(a []reflect.Value) int { return times(strings.Count(a[2].String(), a[0].String()), 4*perValue) },
		"fromJson":    func(a []reflect.Value) int { return times(a[0].Len(), perValue) },
		"printf":      formatting,
		"until":       func(a []reflect.Value) int { return counting(0, whole(a[0]), 1) },
		"untilStep":   func(a []reflect.Value) int { return counting(whole(a[0]), whole(a[1]), whole(a[2])) },
		"seq":         sequence,
		"set":         func(a []reflect.Value) int { return weight(a[2]) },
		"dict":        keyed,
		"uniq":        pairs,
		"mustUniq":    pairs,
		"without":     pairs,
		"mustWithout": pairs,

		"regexMatch": searching, "mustRegexMatch": searching, "regexFind": searching, "mustRegexFind": searching,
		"regexFindAll": searching, "mustRegexFindAll": searching, "regexSplit": searching, "mustRegexSplit": searching,
		"regexReplaceAll": replacing, "mustRegexReplaceAll": replacing,
		"regexReplaceAllLiteral": replacing, "mustRegexReplaceAllLiteral": replacing,

		"randAlpha": characters, "randAlphaNum": characters, "randAscii": characters, "randNumeric": characters, "randBytes": characters,
		"bcrypt": fixed(slow), "htpasswd": fixed(slow), "derivePassword": fixed(2 * verySlow), "genPrivateKey": fixed(verySlow),
		"genCA": fixed(verySlow), "genCAWithKey": fixed(slow), "genSelfSignedCert": fixed(verySlow), "genSelfSignedCertWithKey": fixed(slow),
		"genSignedCert": fixed(verySlow), "genSignedCertWithKey": fixed(slow),
	}
}

// times is a product that stays the largest number there is where it would be more.
func times(a, b int) int {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}

func whole(v reflect.Value) int { return int(v.Int()) }

// length is that of a list, in whatever it is handed over; 0 is that of anything else.
func length(v reflect.Value) int {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() == reflect.Slice {
		return v.Len()
	}
	return 0
}

// weight is what a value counts with all that is in it.
func weight(v reflect.Value) int {
	m := meter{bytes: maxWork}
	if m.weigh(v, deep) != nil {
		return math.MaxInt
	}
	return maxWork - m.bytes
}

// keyed is the cost of making texts of the keys of a map.
func keyed(a []reflect.Value) int {
	cost := 0
	for i := 0; i < a[0].Len() && cost <= maxWork; i += 2 {
		cost += min(weight(a[0].Index(i)), maxWork+1)
	}
	return cost
}

func indentation(a []reflect.Value) int {
	return times(whole(a[0]), 1+strings.Count(a[1].String(), "\n"))
}

// counting is the cost of a list of numbers. What comes near the ends of what a
// number can be counts as endless: it goes round there.
func counting(start, stop, step int) int {
	const far = math.MaxInt / 4
	if max(start, stop, step) > far || min(start, stop, step) < -far {
		return math.MaxInt
	}
	if step == 0 {
		return 0
	}
	n := (stop - start) / step
	return times(max(n, -n), perValue)
}

// sequence is the cost of seq: last; first, last; or first, step, last.
func sequence(args []reflect.Value) int {
	numbers := []int{}
	for i := range args[0].Len() {
		numbers = append(numbers, whole(args[0].Index(i)))
	}
	switch len(numbers) {
	case 1:
		return counting(1, numbers[0], 1)
	case 2:
		return counting(numbers[0], numbers[1], 1)
	case 3:
		return counting(numbers[0], numbers[2], numbers[1])
	}
	return 0
}

// formatting is the cost of what a format pads to, at most a million characters
// each, and of arguments that it names again and again.
func formatting(a []reflect.Value) int {
	const widest = 1_000_000
	format, args := a[0].String(), a[1]
	cost, width := 0, 0
	for _, c := range []byte(format) {
		switch {
		case c >= '0' && c <= '9':
			width = min(10*width+int(c-'0'), widest)
			continue
		case c == '*':
			cost += widest
		case c == '[':
			for i := range args.Len() {
				if v := args.Index(i).Elem(); v.Kind() == reflect.String {
					cost += v.Len()
				}
			}
		}
		cost, width = cost+width, 0
	}
	return cost
}

// pairs is the cost of comparing every element of a list with others of it, or with
// those that are to go.
func pairs(a []reflect.Value) int {
	n := length(a[0])
	if len(a) > 1 {
		return times(n, length(a[1]))
	}
	return times(n, n)
}

// searching is the cost of a regular expression: each of its states may be tried at
// each character.
func searching(a []reflect.Value) int { return times(states(a[0].String()), a[1].Len()+perValue) }

// states are how many a regular expression has; those of what is none do not matter.
func states(pattern string) int {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0
	}
	return len(program.Inst)
}

// replacing is the cost of searching, and of what is written in the place of matches.
// A group is part of its match, so that a $ stands for the whole text at most.
func replacing(a []reflect.Value) int {
	pattern, text, by := a[0].String(), a[1].String(), a[2].String()
	cost := searching(a)
	expression, err := regexp.Compile(pattern)
	if err != nil || cost > maxWork {
		return cost
	}
	written := times(len(expression.FindAllStringIndex(text, -1)), len(by))
	return min(cost, maxWork) + min(written, maxWork) + min(times(strings.Count(by, "$"), len(text)), maxWork)
}
