package symfmt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/symtool/symtool/symfmt/vars"
)

// VarsResult holds the variables of a symbol file.
type VarsResult struct {
	Vars     *vars.Info // nil if there are none
	Problems []Problem  // damaged records, which are left out
}

// ReadVars reads the variables of a symbol file and skips all other records. It reports only problems of
// variables.
func ReadVars(r io.Reader, file string) (*VarsResult, error) {
	result, err := readVars(r, file, "")
	if err != nil {
		return nil, err
	}
	result.Problems = slices.DeleteFunc(result.Problems, func(p Problem) bool {
		var bad *SyntaxError
		return !errors.As(p.Err, &bad) || bad.Record != recordVars
	})
	return result, nil
}

func readVars(r io.Reader, file, id string) (*VarsResult, error) {
	rd := NewReader(r, ReadOptions{File: file, Tolerant: true, Grouped: true, Outline: true})
	b := builder{rd: rd}
	for {
		rec, err := rd.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if rec.Kind == KindModule && id != "" && !strings.EqualFold(string(rec.DebugID), id) {
			return nil, fmt.Errorf("%s: variables of module %s, want %s", file, rec.DebugID, id)
		}
		if rec.Kind != KindInfo || string(rec.Key) != vars.Key || b.vars == nil && !vars.IsStart(rec.Name) {
			continue
		}
		if err := b.addVars(rec); err != nil {
			return nil, err
		}
	}
	result := &VarsResult{}
	if b.vars != nil {
		var err error
		if result.Vars, err = b.vars.Finish(b.badVars); err != nil {
			return nil, err
		}
		b.sortProblems()
	}
	result.Problems = rd.Report().Problems
	return result, nil
}

// ReadVarsBeside reads the variables of the symbol file at path, NAME.sym, from NAME.vars in the same folder;
// both may be compressed. If there is no such file, there are no variables. id is the id that its MODULE
// record must have.
func ReadVarsBeside(path, id string) (*VarsResult, error) {
	base, ext := path, ""
	for _, zip := range []string{".gz", ".zst"} {
		if cut, ok := strings.CutSuffix(path, zip); ok {
			base, ext = cut, zip
		}
	}
	base, ok := strings.CutSuffix(base, ".sym")
	if !ok {
		return &VarsResult{}, nil
	}
	for _, zip := range []string{ext, "", ".gz", ".zst"} {
		f, err := os.Open(base + ".vars" + zip)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readVars(f, f.Name(), id)
	}
	return &VarsResult{}, nil
}
