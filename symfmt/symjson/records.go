package symjson

import (
	"bytes"
	"strconv"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

func (t *writer) info(in *symfmt.Info, i int) {
	t.begin(kindInfo, i, "key")
	t.value("key", in.Key)
	t.text("value", in.Value)
	t.end()
}

// variables writes the records of variables, whose text is compact enough to be written
// unchanged.
func (t *writer) variables(in *vars.Info) {
	n := 0
	var text []byte
	for piece := range in.Pieces() {
		text = in.Append(text[:0], piece)
		for line := range bytes.Lines(text) {
			record := bytes.TrimSuffix(bytes.TrimPrefix(line, []byte(vars.Prefix)), []byte("\n"))
			t.begin(kindVar, n, "record")
			t.value("record", string(record))
			t.end()
			n++
		}
	}
	t.endList(kindVar, n)
}

func (t *writer) file(f *symfmt.File, i int) {
	t.begin(kindFile, i, "number")
	t.buf = appendNumber(t.buf, uint64(f.ID))
	t.text("name", f.Name)
	t.end()
}

func (t *writer) origin(o *symfmt.InlineOrigin, i int) {
	t.begin(kindOrigin, i, "number")
	t.buf = appendNumber(t.buf, uint64(o.ID))
	if o.HasFile {
		t.key("file")
		t.buf = strconv.AppendInt(t.buf, o.File, 10)
	}
	t.text("name", o.Name)
	t.end()
}

func (t *writer) function(f *symfmt.Func, i int) {
	t.begin(kindFunc, i, "rva")
	t.buf = appendNumber(t.buf, uint64(f.RVA))
	t.number("size", f.Size)
	t.number("param_size", f.ParamSize)
	t.flag("multiple", f.Multiple)
	t.text("name", f.Name)
	if t.o.Names {
		t.names(f)
	}
	t.inlines(f)
	t.lines(f)
	t.end()
}

// names writes the names of the files and origins of a FUNC.
func (t *writer) names(f *symfmt.Func) {
	t.key("file_names")
	t.buf = append(t.buf, '{')
	n := 0
	name := func(id uint32, name string, declared bool) {
		if !declared {
			return
		}
		if n++; n > 1 {
			t.comma()
		}
		t.firstKey(strconv.FormatUint(uint64(id), 10))
		t.buf, _ = appendString(t.buf, name)
		t.passed()
	}
	f.Body.Refs(func(id symfmt.FileID) {
		s, ok := t.files[id]
		name(uint32(id), s, ok)
	}, func(symfmt.OriginID) {})
	t.buf = append(t.buf, '}')
	t.key("origin_names")
	t.buf = append(t.buf, '{')
	n = 0
	f.Body.Refs(func(symfmt.FileID) {}, func(id symfmt.OriginID) {
		s, ok := t.origins[id]
		name(uint32(id), s, ok)
	})
	t.buf = append(t.buf, '}')
}

// element begins element i of a list in a record.
func (t *writer) element(i int) {
	if i > 0 {
		t.buf = append(t.buf, ',')
	}
	t.newline(depthBody)
	t.passed()
}

// bodyKey appends the key of a list in a record.
func (t *writer) bodyKey(name string) {
	if t.buf = append(t.buf, ','); t.indent {
		t.newline(depthBody - 1)
	}
	t.firstKey(name)
	t.buf = append(t.buf, '[')
}

func (t *writer) inlines(f *symfmt.Func) {
	t.bodyKey("inlines")
	r := f.InlineReader()
	for i := 0; r.Next(); i++ {
		t.element(i)
		t.inline(&r.Inline)
	}
	t.buf = append(t.buf, ']')
}

func (t *writer) inline(in *symfmt.Inline) {
	t.buf = append(t.buf, '{')
	t.firstKey("depth")
	t.buf = strconv.AppendUint(t.buf, uint64(in.Depth), 10)
	t.number("origin", uint64(in.Origin))
	t.key("call_file")
	if in.NoFile {
		t.buf = append(t.buf, "null"...)
	} else {
		t.buf = strconv.AppendUint(t.buf, uint64(in.CallFile), 10)
	}
	t.number("call_line", uint64(in.CallLine))
	t.key("ranges")
	t.buf = append(t.buf, '[')
	for i, r := range in.Ranges {
		if i > 0 {
			t.comma()
		}
		t.buf = append(t.buf, '[')
		t.buf = appendNumber(t.buf, uint64(r.RVA))
		t.comma()
		t.buf = appendNumber(t.buf, r.Size)
		t.buf = append(t.buf, ']')
		t.passed()
	}
	t.buf = append(t.buf, "]}"...)
}

func (t *writer) lines(f *symfmt.Func) {
	t.bodyKey("lines")
	r := f.LineReader()
	for i := 0; r.Next(); i++ {
		t.element(i)
		l := &r.Line
		t.buf = append(t.buf, '[')
		t.buf = appendNumber(t.buf, uint64(l.RVA))
		t.comma()
		t.buf = appendNumber(t.buf, l.Size)
		t.comma()
		t.buf = strconv.AppendUint(t.buf, uint64(l.Num), 10)
		t.comma()
		t.buf = strconv.AppendUint(t.buf, uint64(l.File), 10)
		t.buf = append(t.buf, ']')
	}
	t.buf = append(t.buf, ']')
}

func (t *writer) public(p *symfmt.Public, i int) {
	t.begin(kindPublic, i, "rva")
	t.buf = appendNumber(t.buf, uint64(p.RVA))
	t.number("param_size", p.ParamSize)
	t.flag("multiple", p.Multiple)
	t.text("name", p.Name)
	t.end()
}

func (t *writer) win(w *symfmt.StackWin, i int) {
	t.begin(kindWin, i, "type")
	t.buf = appendNumber(t.buf, uint64(w.Type))
	t.number("rva", uint64(w.RVA))
	t.number("size", w.CodeSize)
	t.number("prologue_size", w.PrologueSize)
	t.number("epilogue_size", w.EpilogueSize)
	t.number("param_size", w.ParameterSize)
	t.number("saved_register_size", w.SavedRegisterSize)
	t.number("local_size", w.LocalSize)
	t.number("max_stack_size", w.MaxStackSize)
	if w.HasProgram {
		t.text("program", w.Program)
	}
	if !w.HasProgram || w.AllocatesBasePtr {
		t.flag("allocates_base_pointer", w.AllocatesBasePtr)
	}
	t.end()
}

func (t *writer) block(b *symfmt.CFIBlock, i int) {
	cfi := &t.m.CFI
	t.begin(kindCFI, i, "rva")
	t.buf = appendNumber(t.buf, uint64(b.RVA))
	t.number("size", b.Size)
	t.text("init", cfi.Rules.Text(b.Init))
	t.bodyKey("rows")
	n, marks := 0, b.Marks
	for _, row := range cfi.Rows[b.First : b.First+b.Count] {
		rules, valid := cfi.Rules.Text(row.Rules), false
		marked := row.Marks != marks
		if marks = row.Marks; marked && rules == "" {
			continue
		}
		t.element(n)
		n++
		t.buf = append(t.buf, '[')
		t.buf = appendNumber(t.buf, uint64(row.RVA))
		t.comma()
		if t.buf, valid = appendString(t.buf, rules); !valid {
			t.comma()
			t.buf = appendBase64(t.buf, rules)
		}
		t.buf = append(t.buf, ']')
	}
	t.buf = append(t.buf, ']')
	t.end()
}
