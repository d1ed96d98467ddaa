package render

import (
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/render/expr"
	"github.com/lynqctl/lynqctl/pkg/render/scalar"
)

// frame has the results of a program's expressions for one row. It serves one row after
// the other, in one goroutine.
type frame struct {
	// base is compiled from the form. program is the same, or has the objects of the row's
	// charts, too.
	base     *Program
	program  *Program
	settings *Settings
	dashed   bool // the form's name has a dash
	row      lynq.Row
	uid      string
	// called caches the name of the row's node, or is "". kept is set if the name comes
	// from Settings.Recorded.
	called string
	kept   bool

	results *expr.Evaluator

	// lookups are those of the form. values and nulls are the row's with theirs, and absent
	// are the lookups without an entry for the row.
	lookups []frameLookup
	values  []string
	nulls   []bool
	absent  []int

	// left has true for each resource that the row doesn't get.
	left    []bool
	matched int // first stage whose template matches the row, counted from 1

	// without has true for each chart that the row doesn't get.
	without []bool

	// outside has true for each resource outside the node's namespace.
	outside []bool

	probe   []byte // buffer for isAltered
	probing bool
}

func newFrame(p *Program, s *Settings) *frame {
	f := &frame{
		base: p, program: p, settings: s, without: make([]bool, len(p.charts)), dashed: naming.Dashed(p.Form.Name),
		outside: make([]bool, len(p.resources)), left: make([]bool, len(p.resources)),
	}
	var check func([]byte) error
	if p.kustomize {
		check = checkKustomizeText
	}
	f.results = expr.NewEvaluator(p.exprs, expr.Node{Name: f.name, Dashed: f.dashed}, check)
	f.prepareLookups()
	return f
}

// name returns the name of the row's node.
func (f *frame) name() string {
	if f.called == "" {
		f.called, f.kept = f.settings.nodeName(f.base, f.uid)
	}
	return f.called
}

// begin sets the row.
func (f *frame) begin(row lynq.Row) {
	f.contract()
	if len(f.lookups) > 0 {
		row = f.extend(row)
	}
	f.row, f.uid, f.called, f.kept = row, row.Values[f.program.uid], "", false
}

// load evaluates all expressions for the row, renders its charts, and reports errors.
func (f *frame) load(problems *lynq.Problems) {
	before := len(*problems)
	f.failLookups(problems)
	f.results.Load(f.row)
	if f.program.conditional {
		f.include(problems)
		f.matched = f.match(problems)
	}
	for i := range f.program.uses {
		if f.program.conditional && f.idle(&f.program.uses[i]) {
			continue
		}
		f.fill(i, problems)
	}
	if len(f.base.charts) > 0 && len(*problems) == before {
		f.expand(problems)
	}
}

// fill evaluates one expression.
func (f *frame) fill(i int, problems *lynq.Problems) {
	if err := f.results.Run(i); err != nil {
		f.failExpr(problems, &f.program.uses[i], err)
	}
}

func (f *frame) fail(problems *lynq.Problems, at place, fix, format string, args ...any) {
	*problems = append(*problems, lynq.Problem{Pos: at.pos, Subject: f.program.subject(at), Row: strings.Clone(f.uid), What: fmt.Sprintf(format, args...), Fix: fix})
}

// failExpr reports an expression that failed, once for all its places.
func (f *frame) failExpr(problems *lynq.Problems, u *usage, err error) {
	if isAbsent(err) {
		return
	}
	more := ""
	if u.more > 0 {
		more = fmt.Sprintf("the same text stands in %d more places", u.more)
	}
	f.fail(problems, u.at, more, "%s", expr.Reason(err, u.at.secret))
}

// holds reports whether a condition is true for resource r.
func (f *frame) holds(c condition, r int) bool {
	switch c {
	case foreign:
		return f.outside[r]
	case madeUID:
		return !f.results.UIDIsLabel()
	case altered:
		return f.isAltered(r)
	}
	return true
}

// isAltered reports whether variable substitution of a target would change resource r. To
// find out, it writes the resource without the annotation that depends on the answer.
func (f *frame) isAltered(r int) bool {
	if f.probing {
		return false
	}
	f.probing = true
	f.probe = f.appendYAML(f.probe[:0], r)
	f.probing = false
	return scalar.Substitutable(f.probe)
}

// appendYAML writes resource r as a YAML document, without separator.
func (f *frame) appendYAML(dst []byte, r int) []byte {
	ops := f.program.resources[r].yaml()
	for i := 0; i < len(ops); i++ {
		switch o := &ops[i]; o.kind {
		case opBytes:
			dst = append(dst, o.bytes...)
		case opText:
			dst = f.results.AppendYAML(dst, o.slot, o.indent)
		case opRaw:
			dst = f.results.Append(dst, o.slot)
		case opWhen:
			if !f.holds(o.when, r) {
				i += o.skip
			}
		}
	}
	return dst
}
