package walk

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/walk/compare"
)

// compareFiles compares the walks in two files.
func (p *walkPrinter) compareFiles(a, b string) error {
	var readers [2]*compare.Reader
	for i, path := range []string{a, b} {
		f, err := openJSON(path)
		if err != nil {
			return &cli.StatusError{Status: cli.StatusInput, Err: fmt.Errorf("%s: %w", path, err)}
		}
		defer f.Close()
		readers[i] = compare.NewReader(f, path)
	}
	summary, err := compare.Documents(readers[0], readers[1], p.show)
	var input *compare.Error
	if errors.As(err, &input) {
		return &cli.StatusError{Status: cli.StatusInput, Err: err}
	}
	if err != nil {
		return err
	}
	p.summary = summary
	return nil
}

// openJSON opens a file or a pipe. Its errors do not contain the path.
func openJSON(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err == nil {
		var st os.FileInfo
		if st, err = f.Stat(); err == nil && st.IsDir() {
			err = syscall.EISDIR
		}
		if err == nil {
			return f, nil
		}
		f.Close()
	}
	return nil, bin.WithoutPath(err)
}

// comparison prints one of two walks of a dump, and counts it.
func (p *walkPrinter) comparison(c *compare.Comparison) error {
	p.summary.Add(c)
	return p.show(c)
}

func (p *walkPrinter) show(c *compare.Comparison) error {
	switch p.format {
	case formatWalkText:
		return p.written(compare.Write(p.out, c))
	case formatOneJSON:
		p.all = append(p.all, c)
		return nil
	}
	return p.json(c)
}

// comparedDocument is a comparison as JSON; in JSON Lines each comparison is a
// line, and the last one contains the summary.
type comparedDocument struct {
	Comparisons []*compare.Comparison `json:"comparisons,omitempty"`
	Summary     *compare.Summary      `json:"summary"`
}
