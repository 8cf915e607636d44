package symfmt

import (
	"bytes"
	"slices"
)

// Equal reports whether m and o have the same records in the same order,
// however bodies are packed and rules numbered.
func (m *Module) Equal(o *Module) bool {
	return m.OS == o.OS && m.Arch == o.Arch && m.ID == o.ID && m.Name == o.Name &&
		slices.Equal(m.Infos, o.Infos) &&
		slices.Equal(m.Files, o.Files) &&
		slices.Equal(m.Origins, o.Origins) &&
		slices.EqualFunc(m.Funcs, o.Funcs, func(a, b Func) bool { return a.equal(&b) }) &&
		slices.Equal(m.Publics, o.Publics) &&
		slices.Equal(m.Wins, o.Wins) &&
		m.CFI.equal(&o.CFI) && m.Vars.Equal(o.Vars)
}

// equal reports whether f and o are the same record with the same INLINE and
// line records.
func (f *Func) equal(o *Func) bool {
	if f.RVA != o.RVA || f.Size != o.Size || f.ParamSize != o.ParamSize || f.Name != o.Name || f.Multiple != o.Multiple {
		return false
	}
	return bytes.Equal(f.Body.data, o.Body.data) || f.equalInlines(o) && f.equalLines(o)
}

func (f *Func) equalInlines(o *Func) bool {
	a, b := f.InlineReader(), o.InlineReader()
	for a.Next() {
		if !b.Next() || !a.Inline.equal(&b.Inline) {
			return false
		}
	}
	return !b.Next()
}

func (f *Func) equalLines(o *Func) bool {
	a, b := f.LineReader(), o.LineReader()
	for a.Next() {
		if !b.Next() || a.Line != b.Line {
			return false
		}
	}
	return !b.Next()
}

// equal reports whether in and o are the same record.
func (in *Inline) equal(o *Inline) bool {
	return in.Depth == o.Depth && in.CallLine == o.CallLine && in.NoFile == o.NoFile &&
		(in.NoFile || in.CallFile == o.CallFile) && in.Origin == o.Origin && slices.Equal(in.Ranges, o.Ranges)
}

func (t *CFITable) equal(o *CFITable) bool {
	return slices.EqualFunc(t.Blocks, o.Blocks, func(a, b CFIBlock) bool { return t.sameBlock(&a, o, &b) })
}
