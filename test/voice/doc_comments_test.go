package voice

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocComments wants the comment of an exported name in pkg to say what the name does. A
// comment like "X is what ..." makes readers decode a definition first.
func TestDocComments(t *testing.T) {
	t.Parallel()
	defines := regexp.MustCompile(`^\w+ (is|are) (what|how|who|whether|where|when|why|that|those|as)\b`)
	comments := 0
	err := filepath.WalkDir(filepath.Join(root, "pkg"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for name, doc := range documented(file) {
			comments++
			if text := strings.Join(strings.Fields(doc.Text()), " "); defines.MatchString(text) {
				t.Errorf("%s: the comment of %s defines it: %q", fset.Position(doc.Pos()), name, text)
			}
		}
		return nil
	})
	if err != nil || comments == 0 {
		t.Fatalf("%d comments read, error %v", comments, err)
	}
}

// documented yields the exported names of a file and their comments.
func documented(file *ast.File) func(yield func(string, *ast.CommentGroup) bool) {
	return func(yield func(string, *ast.CommentGroup) bool) {
		give := func(name *ast.Ident, doc *ast.CommentGroup) bool {
			return doc == nil || !name.IsExported() || yield(name.Name, doc)
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if !give(d.Name, d.Doc) {
					return
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					name, doc := named(spec)
					if doc == nil {
						doc = d.Doc
					}
					if name != nil && !give(name, doc) {
						return
					}
				}
			}
		}
	}
}

// named returns the first name of a specification, and its own comment.
func named(spec ast.Spec) (*ast.Ident, *ast.CommentGroup) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Name, s.Doc
	case *ast.ValueSpec:
		return s.Names[0], s.Doc
	}
	return nil, nil
}
