package lynq

import "github.com/lynqctl/lynqctl/pkg/lynq/phrase"

// causesOfPlace is the number of causes at one place that have lines of their own.
const causesOfPlace = 10

// rowsProblem is a problem of one or more rows.
type rowsProblem struct {
	Problem // of the first row
	rows    []string
	count   int
	differ  bool // the rows have different problems
}

// Lines returns a line for each problem. Rows with the same problem share a line, which counts
// them and names some. If rows have many different problems at one place, such as one for each
// value, a last line counts the other rows.
func (ps Problems) Lines() []string {
	var all, rest []*rowsProblem
	causes, others, places := map[Problem]*rowsProblem{}, map[Problem]*rowsProblem{}, map[Problem]int{}
	for _, p := range ps {
		cause := p.cause()
		place := cause.place()
		of := causes[cause]
		switch {
		case of != nil:
		case !p.ofRow() || places[place] < causesOfPlace:
			of = &rowsProblem{Problem: p}
			causes[cause], all = of, append(all, of)
			places[place]++
		case others[place] != nil:
			of = others[place]
		default:
			of = &rowsProblem{Problem: p, differ: true}
			others[place], rest = of, append(rest, of)
		}
		of.add(p)
	}
	lines := make([]string, 0, len(all)+len(rest))
	for _, of := range append(all, rest...) {
		lines = append(lines, of.line())
	}
	return lines
}

// WithoutRows returns the text of the problems without their rows. It is the same for rows with
// the same problems.
func (ps Problems) WithoutRows() string {
	shared := make(Problems, len(ps))
	for i, p := range ps {
		if shared[i] = p.cause(); p.Verb {
			shared[i].What, shared[i].Verb = "each "+p.What, false
		}
	}
	return shared.Sorted().Error()
}

// ofRow reports whether the problem is about a row.
func (p Problem) ofRow() bool { return p.Row != "" || p.AtRow }

// cause returns the problem without its row.
func (p Problem) cause() Problem {
	if p.Row = ""; p.AtRow {
		p.Pos = Pos{}
	}
	return p
}

// place returns the part of a cause that says where the problem is.
func (p Problem) place() Problem {
	p.What, p.Fix, p.Verb = "", "", false
	return p
}

// add counts a row.
func (r *rowsProblem) add(p Problem) {
	if n := len(r.rows); p.Row != "" && n > 0 && r.rows[n-1] == p.Row {
		return
	}
	r.count++
	if p.Row != "" {
		r.rows = append(r.rows, p.Row)
	}
}

// line returns the line for all rows.
func (r *rowsProblem) line() string {
	if r.count == 1 || !r.ofRow() {
		return r.String()
	}
	p, noun := r.Problem, "row"
	switch {
	case r.differ:
		noun, p.What, p.Fix, p.Verb = "more row", "each has a problem of its own", "to list them, run lynqctl validate --rows -o json", false
	case p.Verb:
		p.What, p.Verb = "each "+p.What, false
	}
	rows := phrase.Count(r.count, noun)
	if len(r.rows) > 0 {
		quoted := make([]string, len(r.rows))
		for i, row := range r.rows {
			quoted[i] = phrase.Quote(row)
		}
		rows += " (" + phrase.Some(quoted) + ")"
	}
	return p.line(p.message(rows))
}
