package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// comparing are functions that decide by a text, or cut it.
var comparing = []string{"Compare", "Contains", "ContainsAny", "ContainsRune", "Count", "Cut", "CutPrefix", "CutSuffix", "EqualFold", "Fields", "HasPrefix", "HasSuffix", "Index",
	"LastIndex", "Match", "MatchString", "FindString", "FindStringSubmatch", "FindStringIndex", "Trim", "TrimLeft", "TrimPrefix", "TrimRight", "TrimSuffix"}

// readsWords returns the places in a file where code decides by the message of an
// error: it is for people, and its words may change.
func readsWords(f *ast.File) (places []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		var texts []ast.Expr
		switch n := n.(type) {
		case *ast.CallExpr:
			if fun, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(comparing, fun.Sel.Name) {
				texts = n.Args
			}
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				texts = []ast.Expr{n.X, n.Y}
			}
		case *ast.SwitchStmt:
			texts = []ast.Expr{n.Tag}
		}
		if slices.ContainsFunc(texts, isMessage) {
			places = append(places, n.Pos())
		}
		return true
	})
	return places
}

// isMessage reports whether an expression is err.Error().
func isMessage(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return false
	}
	fun, ok := call.Fun.(*ast.SelectorExpr)
	return ok && fun.Sel.Name == "Error"
}

func TestErrorWords(t *testing.T) {
	sourceFiles(t, func(_, file string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		for _, at := range readsWords(f) {
			t.Errorf("%v: decides by the words of an error: want a sentinel or a type, with errors.Is or errors.As", fset.Position(at))
		}
	})
}

func TestReadsWords(t *testing.T) {
	const source = `package x
func f(err error, pattern *regexp.Regexp) {
	_ = strings.Contains(err.Error(), "missing")                      // 1
	_ = strings.TrimPrefix(strings.TrimPrefix(err.Error(), "a"), "b") // 2
	_ = errors.Unwrap(err).Error() == "missing"                       // 3
	_ = pattern.MatchString(err.Error())                              // 4
	switch err.Error() {                                              // 5
	}
	_, _ = fmt.Println(err.Error()), len(err.Error())
	_ = strings.ReplaceAll(err.Error(), "\n", "; ")
	_ = err == io.EOF
}
`
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := readsWords(f); len(got) != 5 {
		t.Errorf("found %d places, want 5", len(got))
	}
}
