package funcs

import (
	"math"
	"reflect"
	"regexp/syntax"
	"strings"
)

// Metering says how the meter counts the work of functions.
type Metering struct {
	costs map[string]func(args []reflect.Value) int
	deep  map[string]bool
}

// NewMetering returns the costs of all functions.
func NewMetering() Metering { return Metering{costs: costs(), deep: goesDeep()} }

// Of adds to a function its cost, and how deep it reads lists and maps.
func (m Metering) Of(name string, function any) Metered {
	f := Metered{Name: name, function: function, cost: m.costs[name], levels: shallow}
	if m.deep[name] {
		f.levels = deep
	}
	return f
}

// goesDeep names the functions that read lists and maps at all depths.
func goesDeep() map[string]bool {
	names := []string{
		"print", "printf", "println", "html", "js", "urlquery", "cat", "quote", "squote", "join", "toString", "toStrings", "sortAlpha",
		"toJson", "mustToJson", "toRawJson", "mustToRawJson", "toPrettyJson", "mustToPrettyJson",
		"deepCopy", "mustDeepCopy", "deepEqual", "has", "mustHas", "uniq", "mustUniq", "without", "mustWithout",
		"merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite", "set", "dict",
		"toYaml", "mustToYaml", "toToml", "mustToToml",
	}
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// These are the base costs of slow functions.
const (
	slow     = 4 << 20
	verySlow = 8 << 20
)

// costs returns functions that compute extra costs in bytes from the arguments. They cover
// functions with large results or long run times. Most results are no larger than the
// product of their numbers and the sizes of their texts and lists.
func costs() map[string]func(args []reflect.Value) int {
	all := map[string]func([]reflect.Value) int{
		"until":     func(a []reflect.Value) int { return counting(0, whole(a[0]), 1) },
		"untilStep": func(a []reflect.Value) int { return counting(whole(a[0]), whole(a[1]), whole(a[2])) },
		"seq":       sequence,
		"printf":    formatting,
		"replace":   func(a []reflect.Value) int { return times(strings.Count(a[2].String(), a[0].String()), size(a[1])) },
		"wrapWith":  func(a []reflect.Value) int { return multiplied(a[1:]) },
		"uniq":      pairs, "mustUniq": pairs,
		"split": pieces, "splitn": pieces, "fromJson": pieces, "mustFromJson": pieces, "fromYaml": pieces,
	}
	for _, name := range []string{
		"repeat", "indent", "nindent", "join", "without", "mustWithout",
		"randAlpha", "randAlphaNum", "randAscii", "randNumeric", "randBytes",
	} {
		all[name] = multiplied
	}
	for _, name := range []string{"Match", "Find", "FindAll", "Split", "ReplaceAll", "ReplaceAllLiteral"} {
		all["regex"+name], all["mustRegex"+name] = searching, searching
	}
	for name, cost := range map[string]int{
		"bcrypt": slow, "htpasswd": slow, "derivePassword": 2 * verySlow, "genPrivateKey": verySlow,
		"genCA": verySlow, "genCAWithKey": slow, "genSelfSignedCert": verySlow, "genSelfSignedCertWithKey": slow,
		"genSignedCert": verySlow, "genSignedCertWithKey": slow,
	} {
		all[name] = func([]reflect.Value) int { return cost }
	}
	return all
}

// times multiplies, and returns the largest int on overflow.
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

// size returns an argument's factor for a result. It is a number, or the length of a text
// or list, and at least one.
func size(v reflect.Value) int {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	n := 1
	switch v.Kind() {
	case reflect.Int:
		n = whole(v)
	case reflect.String, reflect.Slice:
		n = v.Len()
	}
	return max(n, 1)
}

func multiplied(args []reflect.Value) int {
	n := 1
	for _, arg := range args {
		n = times(n, size(arg))
	}
	return n
}

// pairs returns the cost of comparing all pairs of a list's elements.
func pairs(a []reflect.Value) int { return times(size(a[0]), size(a[0])) }

// pieces returns the cost of splitting a text into one value per character.
func pieces(a []reflect.Value) int { return times(size(a[len(a)-1]), perValue) }

// searching returns the cost of a regular expression. It may try each state at each
// character. It also writes the third text, with a match for each $.
func searching(a []reflect.Value) int {
	tried := states(a[0].String())
	if len(a) > 2 {
		tried += size(a[2])
	}
	return times(tried, size(a[1]))
}

// states counts the states of a regular expression. An invalid expression has none.
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

// counting returns the cost of a list of numbers. It treats numbers near the limits as
// endless, because they overflow there.
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

// sequence returns the cost of seq, with arguments last, or first and last, or first, step
// and last.
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

// formatting returns the cost of a format. It counts padding, up to a million characters
// each, and repeated arguments.
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
