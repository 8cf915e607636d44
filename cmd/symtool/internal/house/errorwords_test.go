package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// comparing lists functions that examine or split a text.
var comparing = []string{"Compare", "Contains", "ContainsAny", "ContainsRune", "Count", "Cut", "CutPrefix", "CutSuffix", "EqualFold", "Fields", "HasPrefix", "HasSuffix", "Index",
	"LastIndex", "Match", "MatchString", "FindString", "FindStringSubmatch", "FindStringIndex", "Trim", "TrimLeft", "TrimPrefix", "TrimRight", "TrimSuffix"}

// readsWords returns the places in a file where code examines the message of an error:
// messages are for people, and their words may change.
func readsWords(f *ast.File) (places []token.Pos) {
	for _, d := range f.Decls {
		places = append(places, readsWordsIn(d, messagesIn(d))...)
	}
	return places
}

// messagesIn returns the variables that hold the message of an error.
func messagesIn(d ast.Decl) (names []string) {
	ast.Inspect(d, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && isMessage(a.Rhs[0], nil) {
			if name, ok := a.Lhs[0].(*ast.Ident); ok {
				names = append(names, name.Name)
			}
		}
		return true
	})
	return names
}

func readsWordsIn(d ast.Decl, messages []string) (places []token.Pos) {
	ast.Inspect(d, func(n ast.Node) bool {
		var texts []ast.Expr
		switch n := n.(type) {
		case *ast.CallExpr:
			fun, ok := n.Fun.(*ast.SelectorExpr)
			if ok && slices.Contains(comparing, fun.Sel.Name) && !isName(fun.X, "slices") { // slices looks for equal texts in a list
				texts = n.Args
			}
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && !isName(n.Y, "nil") { // a method Error may return an error
				texts = []ast.Expr{n.X, n.Y}
			}
		case *ast.SwitchStmt:
			texts = []ast.Expr{n.Tag}
		}
		if slices.ContainsFunc(texts, func(e ast.Expr) bool { return isMessage(e, messages) }) {
			places = append(places, n.Pos())
		}
		return true
	})
	return places
}

func isName(e ast.Expr, name string) bool {
	x, ok := e.(*ast.Ident)
	return ok && x.Name == name
}

// isMessage reports whether an expression is err.Error(), or one of the variables.
func isMessage(e ast.Expr, variables []string) bool {
	if name, ok := e.(*ast.Ident); ok {
		return slices.Contains(variables, name.Name)
	}
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
	text := err.Error()
	_ = strings.TrimPrefix(text, "a") // 6
}

func g(text string) bool { return text == "a" }
`
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := readsWords(f); len(got) != 6 {
		t.Errorf("found %d places, want 6", len(got))
	}
}
