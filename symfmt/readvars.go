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

// ReadVars reads the variables of a symbol file, or of a file that has them alone, and passes over all
// other records; the result is nil if there are none. Damaged records are left out. id is the id that
// MODULE must have; "" for any.
func ReadVars(r io.Reader, file, id string) (*vars.Info, error) {
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
		if rec.Kind != KindInfo || string(rec.Key) != "VAR" || b.vars == nil && !vars.IsStart(rec.Name) {
			continue
		}
		if err := b.addVars(rec); err != nil {
			return nil, err
		}
	}
	if b.vars == nil {
		return nil, nil
	}
	return b.vars.Finish(b.badVars)
}

// ReadVarsBeside reads the variables of the symbol file at a path, NAME.sym, from NAME.vars in the same
// folder; both may be compressed. The result is nil if there is no such file. id is as in ReadVars.
func ReadVarsBeside(path, id string) (*vars.Info, error) {
	base, ext := path, ""
	for _, zip := range []string{".gz", ".zst"} {
		if cut, ok := strings.CutSuffix(path, zip); ok {
			base, ext = cut, zip
		}
	}
	base, ok := strings.CutSuffix(base, ".sym")
	if !ok {
		return nil, nil
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
		return ReadVars(f, f.Name(), id)
	}
	return nil, nil
}
