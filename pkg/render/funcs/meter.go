package funcs

import (
	"cmp"
	"fmt"
	"reflect"
)

// Rows and forms must not exhaust the machine. Each evaluation has a budget of steps and
// bytes. The meter counts the template's requests and never reads a clock, so a template
// that renders here renders everywhere.
const (
	// maxSteps limits the iterations and calls of an evaluation.
	maxSteps = 1_000_000
	// maxWork limits the bytes that the functions of an evaluation take and return in
	// total.
	maxWork = 64 << 20
	// MaxResult limits the length of a template's result. No cluster accepts a string of
	// nearly this length.
	MaxResult = 4 << 20
	// maxNesting limits the depth of printed or compared values.
	maxNesting = 100
	// perValue is the cost of a value in addition to its bytes.
	perValue = 16
)

// Meter has the rest of an evaluation's budget.
type Meter struct{ steps, bytes int }

// Reset restores the full budget for the next evaluation.
func (m *Meter) Reset() { m.steps, m.bytes = maxSteps, maxWork }

// Step uses one step.
func (m *Meter) Step() error {
	if m.steps--; m.steps < 0 {
		return &ValueError{What: fmt.Sprintf("it takes more than %d steps, which are turns of loops and calls of functions (let the database compute it, or loop less)", maxSteps)}
	}
	return nil
}

// use uses n bytes.
func (m *Meter) use(n int) error {
	if m.bytes -= n; m.bytes < 0 {
		return &ValueError{What: fmt.Sprintf("functions are given or make more than %d MiB in all (let the database compute it, or make less of it)", maxWork>>20)}
	}
	return nil
}

// call uses a step, and the bytes of a text argument.
func (m *Meter) call(given int) error {
	if err := m.Step(); err != nil {
		return err
	}
	return m.use(given + perValue)
}

// made uses the bytes of a text result.
func (m *Meter) made(s string) (string, error) { return s, m.use(len(s)) }

// These depths say how far weigh descends into lists and maps.
const (
	shallow = 0
	deep    = maxNesting + 1
)

// weigh uses the bytes of a value. Depending on levels, it descends into nested lists and
// maps, or counts only the outer one.
func (m *Meter) weigh(v reflect.Value, levels int) error {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		return m.use(perValue + v.Len())
	case reflect.Slice, reflect.Array, reflect.Map:
		if err := m.use(perValue * v.Len()); err != nil || levels == shallow {
			return err
		}
		return m.weighAll(v, levels-1)
	}
	return nil
}

func (m *Meter) weighAll(list reflect.Value, levels int) error {
	if levels == 0 {
		return &ValueError{What: fmt.Sprintf("lists and maps are more than %d levels deep in each other", maxNesting)}
	}
	if list.Kind() == reflect.Map {
		for values := list.MapRange(); values.Next(); {
			if err := m.weigh(values.Value(), levels); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range list.Len() {
		if err := m.weigh(list.Index(i), levels); err != nil {
			return err
		}
	}
	return nil
}

// Metered is a function that uses the budget before and after its work.
type Metered struct {
	Name     string
	function any
	cost     func(args []reflect.Value) int // extra cost beside arguments and result; may be nil
	levels   int                            // how deep it reads its arguments
}

// Bound returns the function with a meter. Common functions avoid reflection.
func (f *Metered) Bound(m *Meter) any {
	switch g := f.function.(type) {
	case func(any) (string, error):
		return one(f, m, g)
	case func(any) (int, error):
		return one(f, m, g)
	case func(string) (any, error):
		return one(f, m, g)
	case func(string, ...any) (string, error):
		return func(format string, args ...any) (string, error) {
			if err := m.before(f, []reflect.Value{reflect.ValueOf(format), reflect.ValueOf(args)}); err != nil {
				return "", err
			}
			s, err := g(format, args...)
			return s, cmp.Or(err, m.use(len(s)))
		}
	}
	if f.cost == nil && f.levels == shallow {
		if light := f.light(m); light != nil {
			return light
		}
	}
	return f.reflected(m)
}

// one wraps a function with one argument.
func one[A, R any](f *Metered, m *Meter, call func(A) (R, error)) func(A) (R, error) {
	return func(a A) (R, error) {
		if err := m.before(f, []reflect.Value{reflect.ValueOf(a)}); err != nil {
			var none R
			return none, err
		}
		r, err := call(a)
		return r, cmp.Or(err, m.weigh(reflect.ValueOf(r), shallow))
	}
}

// light wraps functions of texts whose cost is the length of these. It returns nil for
// other functions.
func (f *Metered) light(m *Meter) any {
	switch g := f.function.(type) {
	case func(string) string:
		return func(s string) (string, error) {
			if err := m.call(len(s)); err != nil {
				return "", err
			}
			return m.made(g(s))
		}
	case func(string, string) string:
		return func(a, b string) (string, error) {
			if err := m.call(len(a) + len(b)); err != nil {
				return "", err
			}
			return m.made(g(a, b))
		}
	case func(int, string) string:
		return func(n int, s string) (string, error) {
			if err := m.call(len(s)); err != nil {
				return "", err
			}
			return m.made(g(n, s))
		}
	case func(...any) []any:
		return func(values ...any) ([]any, error) {
			if err := m.call(0); err != nil {
				return nil, err
			}
			return g(values...), m.use(perValue * len(values))
		}
	case func(string) (string, error):
		return func(s string) (string, error) {
			if err := m.call(len(s)); err != nil {
				return "", err
			}
			made, err := g(s)
			return made, cmp.Or(err, m.use(len(made)))
		}
	case func(map[string]any, string) any:
		return func(d map[string]any, key string) (any, error) { return g(d, key), m.call(len(key)) }
	}
	return f.scalars(m)
}

// scalars wraps functions of any values. Each text among them costs its length.
func (f *Metered) scalars(m *Meter) any {
	switch g := f.function.(type) {
	case func(any) (bool, error):
		return func(a any) (bool, error) {
			if err := m.given(a); err != nil {
				return false, err
			}
			return g(a)
		}
	case func(any, any) (bool, error):
		return func(a, b any) (bool, error) {
			if err := m.given(a, b); err != nil {
				return false, err
			}
			return g(a, b)
		}
	case func(any, ...any) (bool, error):
		return func(a any, more ...any) (bool, error) {
			if err := cmp.Or(m.given(a), m.given(more...)); err != nil {
				return false, err
			}
			return g(a, more...)
		}
	case func(any, ...any) (any, error):
		return func(a any, more ...any) (any, error) {
			if err := cmp.Or(m.given(a), m.given(more...)); err != nil {
				return nil, err
			}
			return g(a, more...)
		}
	case func(...any) (int64, error):
		return func(values ...any) (int64, error) {
			if err := m.given(values...); err != nil {
				return 0, err
			}
			return g(values...)
		}
	}
	return nil
}

// given uses a step, and the bytes of the texts among the arguments.
func (m *Meter) given(values ...any) error {
	n := 0
	for _, v := range values {
		if s, ok := v.(string); ok {
			n += len(s)
		}
	}
	return m.call(n)
}

// reflected wraps any function by reflection.
func (f *Metered) reflected(m *Meter) any {
	function := reflect.ValueOf(f.function)
	t := function.Type()
	in := make([]reflect.Type, t.NumIn())
	for i := range in {
		in[i] = t.In(i)
	}
	call := function.Call
	if t.IsVariadic() {
		call = function.CallSlice
	}
	failure := reflect.TypeFor[error]()
	wrapped := func(args []reflect.Value) []reflect.Value {
		if err := m.before(f, args); err != nil {
			return []reflect.Value{reflect.Zero(t.Out(0)), reflect.ValueOf(&err).Elem()}
		}
		results := call(args)
		if len(results) == 1 {
			results = append(results, reflect.Zero(failure))
		}
		if err := m.weigh(results[0], shallow); err != nil {
			results[1] = reflect.ValueOf(&err).Elem()
		}
		return results
	}
	return reflect.MakeFunc(reflect.FuncOf(in, []reflect.Type{t.Out(0), failure}, t.IsVariadic()), wrapped).Interface()
}

// before uses the cost of a call's arguments.
func (m *Meter) before(f *Metered, args []reflect.Value) error {
	err := m.call(0)
	for _, arg := range args {
		switch {
		case err != nil:
			return err
		case f.levels == deep:
			err = m.weigh(arg, deep)
		case arg.Kind() == reflect.String:
			err = m.use(arg.Len())
		}
	}
	if err == nil && f.cost != nil {
		err = m.use(f.cost(args))
	}
	return err
}

// Shown returns a value as it is printed. The value may have nested lists. It must not be
// missing.
func (m *Meter) Shown(v any) (any, error) {
	if err := cmp.Or(m.Step(), m.weigh(reflect.ValueOf(v), deep)); err != nil {
		return nil, err
	}
	return Printable(v)
}
