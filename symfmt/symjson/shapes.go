package symjson

import (
	"math"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
)

// shapes describes the records by kind. init fills it because the functions
// that read a FUNC's fields refer to shapes themselves.
var shapes [len(kindNames)]shape

func init() {
	shapes = [...]shape{
		kindModule: {
			fields:   []string{"format", "version", "os", "os_base64", "arch", "arch_base64", "id", "id_base64", "name", "name_base64"},
			required: bits(2, 4, 6, 8),
			read:     (*decoder).moduleField, done: (*decoder).moduleDone,
		},
		kindInfo: {
			fields:   []string{"key", "key_base64", "value", "value_base64"},
			required: bits(0, 2),
			read:     (*decoder).infoField, done: (*decoder).infoDone,
		},
		kindFile: {
			fields:   []string{"number", "name", "name_base64"},
			required: bits(0, 1),
			read:     (*decoder).numberedField, done: (*decoder).fileDone,
		},
		kindOrigin: {
			fields:   []string{"number", "name", "name_base64", "file"},
			required: bits(0, 1),
			read:     (*decoder).numberedField, done: (*decoder).originDone,
		},
		kindFunc: {
			fields:   []string{"rva", "size", "param_size", "multiple", "name", "name_base64", "file_names", "origin_names", "inlines", "lines"},
			required: bits(0, 1, 4),
			read:     (*decoder).funcField, done: (*decoder).funcDone,
		},
		kindPublic: {
			fields:   []string{"rva", "param_size", "multiple", "name", "name_base64"},
			required: bits(0, 3),
			read:     (*decoder).publicField, done: (*decoder).publicDone,
		},
		kindWin: {
			fields: []string{
				"type", "rva", "size", "prologue_size", "epilogue_size", "param_size", "saved_register_size",
				"local_size", "max_stack_size", "program", "program_base64", "allocates_base_pointer",
			},
			required: bits(0, 1, 2),
			read:     (*decoder).winField, done: (*decoder).winDone,
		},
		kindCFI: {
			fields:   []string{"rva", "size", "init", "init_base64", "rows"},
			required: bits(0, 1, 2),
			read:     (*decoder).cfiField, done: (*decoder).cfiDone,
		},
		kindVar: {
			fields:   []string{"record", "record_base64"},
			required: bits(0),
			read:     (*decoder).infoField, done: (*decoder).varDone,
		},
	}
}

func (d *decoder) moduleField(i int) error {
	switch {
	case i == 0:
		return d.format()
	case i == 1:
		return d.version()
	case i%2 == 0:
		return d.setText(i/2 - 1)
	}
	return d.setBytes(i/2 - 1)
}

func (d *decoder) moduleDone(uint32) error {
	m := d.m
	err := d.strings(&m.OS, &m.Arch, &m.ID, &m.Name)
	m.CFI.Rules.SetArch(arch.ByName(m.Arch))
	return err
}

func (d *decoder) infoField(i int) error {
	if i%2 == 0 {
		return d.setText(i / 2)
	}
	return d.setBytes(i / 2)
}

func (d *decoder) infoDone(uint32) error {
	var in symfmt.Info
	err := d.strings(&in.Key, &in.Value)
	if err == nil {
		d.m.Infos = append(d.m.Infos, in)
	}
	return err
}

// varDone reads a record of variables, which has the grammar of the text.
func (d *decoder) varDone(uint32) error {
	var text string
	if err := d.strings(&text); err != nil {
		return err
	}
	if bad := d.vars.Add([]byte(text), d.records); bad != nil {
		return d.fault(-1, "%s", bad.Msg)
	}
	return nil
}

// endVars completes the variables.
func (d *decoder) endVars() {
	d.m.Vars, _ = d.vars.Finish(func(bad *vars.BadRecord) error {
		d.problem(d.fault(-1, "record of variables: %s", bad.Msg), "variables")
		return nil
	})
}

func (d *decoder) numberedField(i int) (err error) {
	r := &d.rec
	switch i {
	case 0:
		r.number, err = d.number32()
	case 1:
		err = d.setText(0)
	case 2:
		err = d.setBytes(0)
	case 3:
		r.hasOld = true
		r.old, err = d.signed()
	}
	return err
}

func (d *decoder) fileDone(uint32) error {
	name, err := d.string(0)
	if err == nil {
		d.m.Files = append(d.m.Files, symfmt.File{ID: symfmt.FileID(d.rec.number), Name: name})
	}
	return err
}

func (d *decoder) originDone(uint32) error {
	r := &d.rec
	name, err := d.string(0)
	if err == nil {
		d.m.Origins = append(d.m.Origins, symfmt.InlineOrigin{
			ID: symfmt.OriginID(r.number), HasFile: r.hasOld, Name: name, File: r.old,
		})
	}
	return err
}

func (d *decoder) publicField(i int) (err error) {
	p := &d.rec.public
	switch i {
	case 0:
		err = d.rva(&p.RVA)
	case 1:
		p.ParamSize, err = d.number()
	case 2:
		p.Multiple, err = d.flag()
	case 3:
		err = d.setText(0)
	case 4:
		err = d.setBytes(0)
	}
	return err
}

func (d *decoder) publicDone(uint32) (err error) {
	p := &d.rec.public
	if p.Name, err = d.string(0); err == nil {
		d.m.Publics = append(d.m.Publics, *p)
	}
	return err
}

func (d *decoder) rva(to *symfmt.RVA) error {
	v, err := d.number()
	*to = symfmt.RVA(v)
	return err
}

func (d *decoder) winField(i int) (err error) {
	w := &d.rec.win
	switch i {
	case 0:
		w.Type, err = d.number32()
	case 1:
		err = d.rva(&w.RVA)
	case 2:
		w.CodeSize, err = d.number()
	case 3:
		w.PrologueSize, err = d.number()
	case 4:
		w.EpilogueSize, err = d.number()
	case 5:
		w.ParameterSize, err = d.number()
	case 6:
		w.SavedRegisterSize, err = d.number()
	case 7:
		w.LocalSize, err = d.number()
	case 8:
		w.MaxStackSize, err = d.number()
	case 9:
		w.HasProgram = true
		err = d.setText(0)
	case 10:
		err = d.setBytes(0)
	case 11:
		w.AllocatesBasePtr, err = d.flag()
	}
	return err
}

func (d *decoder) winDone(seen uint32) error {
	w := &d.rec.win
	if d.rec.texts[0].raw && !w.HasProgram {
		return d.fault(-1, `"program_base64" without "program"`)
	}
	if w.HasProgram {
		program, err := d.string(0)
		if err != nil {
			return err
		}
		w.Program = d.same(program)
	}
	d.m.Wins = append(d.m.Wins, *w)
	return nil
}

// same returns s, or an equal string seen before.
func (d *decoder) same(s string) string {
	if before, ok := d.names[s]; ok {
		return before
	}
	if d.names == nil {
		d.names = make(map[string]string)
	}
	d.names[s] = s
	return s
}

func (d *decoder) cfiField(i int) (err error) {
	b := &d.rec.block
	switch i {
	case 0:
		err = d.rva(&b.RVA)
	case 1:
		b.Size, err = d.number()
	case 2:
		err = d.setText(0)
	case 3:
		err = d.setBytes(0)
	case 4:
		b.First = uint32(len(d.m.CFI.Rows))
		err = d.list("STACK CFI record", d.row)
	}
	return err
}

func (d *decoder) cfiDone(uint32) error {
	cfi := &d.m.CFI
	b := &d.rec.block
	init, err := d.string(0)
	if err != nil {
		return err
	}
	b.Init = cfi.Rules.Parse([]byte(init))
	if b.Count = uint32(len(cfi.Rows)) - b.First; d.rec.block.Count == 0 {
		b.First = uint32(len(cfi.Rows))
	}
	cfi.Blocks = append(cfi.Blocks, *b)
	return nil
}

const wantRow = "[rva, rules]"

// row reads a row of a block: [rva, rules] or [rva, rules, rules in base64].
func (d *decoder) row() error {
	if d.dec.PeekKind() != '[' {
		return d.wrong(wantRow)
	}
	v, err := d.dec.ReadValue()
	if err != nil {
		return err
	}
	var parts [3][]byte
	e := elementsOf(v)
	n := 0
	for p := e.next(); p != nil; p = e.next() {
		if n == len(parts) {
			return d.fault(-1, "found more than %d elements, want %s", n, wantRow)
		}
		parts[n] = p
		n++
	}
	if n < 2 {
		return d.fault(-1, "found %d elements, want %s", n, wantRow)
	}
	rva, err := d.numberOf(parts[0], 0)
	if err != nil {
		return err
	}
	for i, p := range parts[1:n] {
		if p[0] != '"' {
			return d.fault(i+1, "found %s, want a string", describe(p))
		}
	}
	rules := d.unquote(parts[1])
	if n == 3 {
		like := append([]byte{}, rules...)
		if rules, err = d.unbase64(2, d.unquote(parts[2]), like); err != nil {
			return err
		}
	}
	cfi := &d.m.CFI
	if len(cfi.Rows) >= math.MaxUint32 {
		return d.fault(-1, "more than %d rows", uint32(math.MaxUint32))
	}
	cfi.Rows = append(cfi.Rows, symfmt.CFIRow{RVA: symfmt.RVA(rva), Rules: cfi.Rules.Parse(rules)})
	return nil
}
