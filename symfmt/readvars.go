package symfmt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/symtool/symtool/symfmt/vars"
)

// ReadVars reads the variables of a symbol file, and passes over all other records; the result is nil
// if there are none. What is wrong with records of variables is returned as problems: a damaged one
// is left out. Problems of other records are for whoever reads these.
func ReadVars(r io.Reader, file string) (*vars.Info, []Problem, error) {
	info, problems, err := readVars(r, file, "")
	n := 0
	for _, p := range problems {
		var bad *SyntaxError
		if errors.As(p.Err, &bad) && bad.Record == recordVars {
			problems[n] = p
			n++
		}
	}
	return info, problems[:n], err
}

func readVars(r io.Reader, file, id string) (*vars.Info, []Problem, error) {
	rd := NewReader(r, ReadOptions{File: file, Tolerant: true, Grouped: true, Outline: true})
	b := builder{rd: rd}
	for {
		rec, err := rd.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		if rec.Kind == KindModule && id != "" && !strings.EqualFold(string(rec.DebugID), id) {
			return nil, nil, fmt.Errorf("%s: variables of module %s, want %s", file, rec.DebugID, id)
		}
		if rec.Kind != KindInfo || string(rec.Key) != vars.Key || b.vars == nil && !vars.IsStart(rec.Name) {
			continue
		}
		if err := b.addVars(rec); err != nil {
			return nil, nil, err
		}
	}
	if b.vars == nil {
		return nil, rd.Report().Problems, nil
	}
	info, err := b.vars.Finish(b.badVars)
	b.sortProblems()
	return info, rd.Report().Problems, err
}

// ReadVarsBeside reads the variables of the symbol file at a path, NAME.sym, from NAME.vars in the same
// folder; both may be compressed. The result is nil if there is no such file. id is the id that MODULE
// must have. Damaged records are left out, and returned as problems.
func ReadVarsBeside(path, id string) (*vars.Info, []Problem, error) {
	base, ext := path, ""
	for _, zip := range []string{".gz", ".zst"} {
		if cut, ok := strings.CutSuffix(path, zip); ok {
			base, ext = cut, zip
		}
	}
	base, ok := strings.CutSuffix(base, ".sym")
	if !ok {
		return nil, nil, nil
	}
	for _, zip := range []string{ext, "", ".gz", ".zst"} {
		f, err := os.Open(base + ".vars" + zip)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		defer f.Close()
		return readVars(f, f.Name(), id)
	}
	return nil, nil, nil
}
