package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// recordWords returns the words by which a program would recognise a record of a symbol file.
func recordWords() (words []string) {
	for k := symfmt.KindModule; k <= symfmt.KindCFI; k++ {
		if k != symfmt.KindLine {
			words = append(words, k.String())
		}
	}
	return append(words, "STACK")
}

// checkRecords returns the places where a file compares text with the words of records. Such a file
// would be a second reader, which would also have to decide to which FUNC a line belongs.
func checkRecords(f *ast.File) (wrong []string) {
	words := recordWords()
	check := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			ast.Inspect(e, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if s, err := strconv.Unquote(lit.Value); err == nil && slices.Contains(words, strings.TrimSpace(s)) {
						wrong = append(wrong, s)
					}
				}
				return true
			})
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				check(n.X, n.Y)
			}
		case *ast.CaseClause:
			check(n.List...)
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && (x.Name == "bytes" || x.Name == "strings") && !strings.HasPrefix(sel.Sel.Name, "Contains") {
					check(n.Args...)
				}
			}
		}
		return true
	})
	return wrong
}

// TestOneReaderOfRecords checks that only symfmt parses records. Other packages get them from
// symfmt.Reader, with the records to which they belong.
func TestOneReaderOfRecords(t *testing.T) {
	sourceFiles(t, func(pkg, file string) {
		if pkg == "symfmt" || strings.HasSuffix(file, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		for _, word := range checkRecords(f) {
			t.Errorf("%s looks for %q in a text: take records from symfmt.Reader", file, word)
		}
	})
}

func TestCheckRecords(t *testing.T) {
	const source = `package p
func f(line, word string) bool {
	switch word {
	case "FUNC", "other":
	}
	if word == "STACK CFI INIT" || word != "none" {
	}
	return strings.HasPrefix(line, "INLINE ") || fmt.Sprint("FILE") == line
}`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := checkRecords(f), []string{"FUNC", "STACK CFI INIT", "INLINE ", "FILE"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
