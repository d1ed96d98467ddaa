package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// mutant is one change of one place.
type mutant struct {
	ID     int
	Where  string // FILE:LINE
	Change string // the difference
}

// insertion is text that a mutant adds around a node, which has the bytes from start to
// end.
type insertion struct {
	start, end     int
	before, behind string
}

// mutator collects the mutants of one package.
type mutator struct {
	fset    *token.FileSet
	info    *types.Info
	text    []byte // of the current file
	name    string // of that file
	peers   map[*types.Const]*types.Const
	mutants []mutant
	edits   []insertion
}

// add makes a mutant of a node. In before, %d stands for the mutant's number.
func (m *mutator) add(first int, n ast.Node, change, before, behind string) int {
	id := first + len(m.mutants) + 1
	start, end := m.fset.Position(n.Pos()), m.fset.Position(n.End())
	source := strings.Join(strings.Fields(string(m.text[start.Offset:end.Offset])), " ")
	if len(source) > 70 {
		source = source[:70] + "..."
	}
	m.mutants = append(m.mutants, mutant{id, fmt.Sprintf("%s:%d", m.name, start.Line), fmt.Sprintf(change, source)})
	if before != "" {
		m.edits = append(m.edits, insertion{start.Offset, end.Offset, fmt.Sprintf(before, id), behind})
	}
	return id
}

// file mutates one file. It continues numbers from first.
func (m *mutator) file(first int, f *ast.File) {
	var parents []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			parents = parents[:len(parents)-1]
			return true
		}
		if d, ok := n.(*ast.GenDecl); ok && len(parents) == 1 && d.Tok != token.VAR {
			return false // types, constants and imports decide nothing
		}
		m.node(first, n, parents)
		parents = append(parents, n)
		return true
	})
}

// node makes the mutants of a node. parents are its parents from the file down.
func (m *mutator) node(first int, n ast.Node, parents []ast.Node) {
	if len(parents) < 2 {
		return
	}
	parent := parents[len(parents)-1]
	switch n := n.(type) {
	case ast.Expr:
		switch {
		case m.condition(n, parent):
			m.mutateCondition(first, n, parent)
		case m.returnedError(n, parent):
			m.add(first, n, "returns no error: %s", "mutError(%d, ", ")")
		default:
			m.mutateConstant(first, n, parents)
		}
	case ast.Stmt:
		if block(parent) && droppable(n) {
			m.add(first, n, "leaves out: %s", "if !mutant(%d) { ", " }")
		}
	}
}

// condition reports whether an expression is a condition that contains no smaller one to
// mutate.
func (m *mutator) condition(e ast.Expr, parent ast.Node) bool {
	t := m.info.Types[e]
	if t.Type == nil || !t.IsValue() {
		return false
	}
	if b, ok := t.Type.(*types.Basic); !ok || b.Info()&types.IsBoolean == 0 {
		return false
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return false
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			return false
		}
	}
	switch p := parent.(type) {
	case *ast.UnaryExpr, *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt:
		return false
	case *ast.AssignStmt:
		return slices.Contains(p.Rhs, e) && len(p.Lhs) == len(p.Rhs)
	case *ast.BinaryExpr:
		return p.Op == token.LAND || p.Op == token.LOR
	case *ast.RangeStmt, *ast.SelectorExpr, *ast.Field, *ast.CaseClause:
		c, ok := p.(*ast.CaseClause)
		return ok && slices.Contains(c.List, e) && t.Value == nil
	case *ast.KeyValueExpr:
		return p.Value == e
	case *ast.ValueSpec:
		return slices.Contains(p.Values, e)
	}
	return true
}

// mutateCondition makes an expression always true and always false.
func (m *mutator) mutateCondition(first int, e ast.Expr, parent ast.Node) {
	value := m.info.Types[e].Value
	var is, not int
	_, loop := parent.(*ast.ForStmt)
	if !loop && (value == nil || !constant.BoolVal(value)) {
		is = m.add(first, e, "always true: %s", "", "")
	}
	if value == nil || constant.BoolVal(value) {
		not = m.add(first, e, "always false: %s", "", "")
	}
	start, end := m.fset.Position(e.Pos()).Offset, m.fset.Position(e.End()).Offset
	m.edits = append(m.edits, insertion{start, end, fmt.Sprintf("mutBool(%d, %d, ", is, not), ")"})
}

// returnedError reports whether an expression is an error that a function returns.
func (m *mutator) returnedError(e ast.Expr, parent ast.Node) bool {
	r, ok := parent.(*ast.ReturnStmt)
	t := m.info.Types[e]
	return ok && slices.Contains(r.Results, e) && t.Type != nil && !t.IsNil() && types.Identical(t.Type, types.Universe.Lookup("error").Type())
}

// mutateConstant replaces a named constant by another one of its type.
func (m *mutator) mutateConstant(first int, e ast.Expr, parents []ast.Node) {
	var name *ast.Ident
	prefix := ""
	switch e := e.(type) {
	case *ast.Ident:
		name = e
		if s, ok := parents[len(parents)-1].(*ast.SelectorExpr); ok && s.Sel == e {
			return // the mutant changes the whole selector
		}
	case *ast.SelectorExpr:
		name = e.Sel
		if x, ok := e.X.(*ast.Ident); ok {
			prefix = x.Name + "."
		}
	default:
		return
	}
	c, ok := m.info.Uses[name].(*types.Const)
	if !ok || m.peers[c] == nil || inCase(e, parents) {
		return
	}
	peer := prefix + m.peers[c].Name()
	m.add(first, e, peer+" in the place of %s", "mutPick(%d, "+peer+", ", ")")
}

// inCase reports whether an expression is in the list of a case, which needs a constant.
func inCase(e ast.Expr, parents []ast.Node) bool {
	for i := len(parents) - 1; i >= 0; i-- {
		if c, ok := parents[i].(*ast.CaseClause); ok {
			return slices.ContainsFunc(c.List, func(x ast.Expr) bool { return x.Pos() <= e.Pos() && e.End() <= x.End() })
		}
	}
	return false
}

// block reports whether a node lists statements.
func block(n ast.Node) bool {
	switch n.(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return true
	}
	return false
}

// droppable reports whether a program without a statement compiles.
func droppable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE && !blank(s)
	case *ast.IncDecStmt, *ast.DeferStmt, *ast.SendStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE || s.Tok == token.BREAK
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		f, ok := call.Fun.(*ast.Ident)
		return !ok || f.Name != "panic"
	}
	return false
}

// blank reports whether an assignment only marks a value as used.
func blank(s *ast.AssignStmt) bool {
	return !slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { id, ok := e.(*ast.Ident); return !ok || id.Name != "_" })
}

// peersOf returns for each constant of a package the next one of its type with another
// value.
func peersOf(pkg *types.Package, visible func(*types.Const) bool) map[*types.Const]*types.Const {
	byType := map[string][]*types.Const{}
	for _, name := range pkg.Scope().Names() {
		c, ok := pkg.Scope().Lookup(name).(*types.Const)
		if !ok || !visible(c) {
			continue
		}
		if _, ok := c.Type().(*types.Named); ok {
			byType[c.Type().String()] = append(byType[c.Type().String()], c)
		}
	}
	peers := map[*types.Const]*types.Const{}
	for _, cs := range byType {
		slices.SortFunc(cs, func(a, b *types.Const) int { return cmp.Compare(a.Pos(), b.Pos()) })
		for i, c := range cs {
			for j := range cs[1:] {
				if p := cs[(i+j+1)%len(cs)]; constant.Compare(p.Val(), token.NEQ, c.Val()) {
					peers[c] = p
					break
				}
			}
		}
	}
	return peers
}

// written returns the text with the insertions. If two begin at one place, it writes the
// larger one first. If two end at one place, it writes the smaller one first.
func written(text []byte, edits []insertion) []byte {
	type piece struct {
		at, order int
		text      string
	}
	var pieces []piece
	for i, e := range edits {
		size := e.end - e.start
		pieces = append(pieces, piece{e.start, 1<<40 - size<<10 + i, e.before}, piece{e.end, size<<10 - i, e.behind})
	}
	// At the same place, ends come before starts.
	slices.SortStableFunc(pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
	})
	var out []byte
	last := 0
	for _, p := range pieces {
		out = append(out, text[last:p.at]...)
		out = append(out, p.text...)
		last = p.at
	}
	return append(out, text[last:]...)
}
