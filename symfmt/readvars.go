package symfmt

import (
	"fmt"
	"io"
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
