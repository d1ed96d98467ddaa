package voice

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// text is a text for people, with its place.
type text struct{ place, words string }

// messages returns the texts in the source of the program, including helps.
func messages(root string) ([]text, error) {
	var all []text
	for _, dir := range []string{"cmd", "internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && slices.Contains([]string{"bench", "dbtest", "doctest", "testdata"}, d.Name()):
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			found, err := literals(path)
			all = append(all, found...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// literals returns the texts of a Go file. X stands for inserted values.
func literals(path string) ([]text, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		return nil, err
	}
	var all []text
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			return n.Tag == nil
		case *ast.BinaryExpr, *ast.BasicLit:
			expr, _ := n.(ast.Expr)
			words, isText := joined(expr)
			if isText && strings.Count(strings.TrimSpace(words), " ") > 1 {
				all = append(all, text{files.Position(n.Pos()).String(), words})
			}
			return !isText
		}
		return true
	})
	return all, nil
}

// joined returns the text of an expression. isText is false if it has none.
func joined(e ast.Expr) (words string, isText bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		words, err := strconv.Unquote(e.Value)
		return words, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		left, a := joined(e.X)
		right, b := joined(e.Y)
		return left + right, e.Op == token.ADD && (a || b)
	}
	return "X", false
}
