package symfmt

import (
	"bytes"
	"slices"
)

// parse parses the record in text, a line that is not blank. A record returned
// together with an error lacks only its name.
func (r *Reader) parse(text []byte) (*Record, *SyntaxError) {
	rec := &r.rec
	rec.text = text
	f := fields{text: text, quiet: r.quiet()}
	usable := false
	switch word := f.word("record"); string(word) {
	case "FUNC":
		rec.Kind = KindFunc
		usable = rec.parseFunc(&f)
	case "INLINE":
		rec.Kind = KindInline
		rec.parseInline(&f)
	case "INLINE_ORIGIN":
		rec.Kind = KindInlineOrigin
		usable = rec.parseNumbered(&f)
	case "FILE":
		rec.Kind = KindFile
		usable = rec.parseNumbered(&f)
	case "PUBLIC":
		rec.Kind = KindPublic
		usable = rec.parsePublic(&f)
	case "STACK":
		rec.parseStack(&f)
	case "INFO":
		rec.Kind = KindInfo
		rec.Key = f.word("key")
		rec.Name = f.rest()
	case "MODULE":
		rec.Kind = KindModule
		usable = rec.parseModule(&f)
	default:
		rec.parseLine(&f, word)
	}
	if !f.failed() {
		return rec, nil
	}
	err := r.syntaxError(&f)
	if usable {
		return rec, err
	}
	return nil, err
}

// syntaxError returns the failure of f as an error.
func (r *Reader) syntaxError(f *fields) *SyntaxError {
	return &SyntaxError{
		File: r.opts.File, Line: r.rec.line, Col: f.at + 1,
		Record: r.rec.Kind.String(), Msg: f.msg,
	}
}

// name reads the rest of the line as a name. It reports whether the record is
// usable, even without a name.
func (rec *Record) name(f *fields) bool {
	rec.Name = f.rest()
	if f.failed() {
		return false
	}
	if len(rec.Name) == 0 {
		f.fail("name is empty")
	}
	return true
}

// parseModule reads: MODULE os arch id name.
func (rec *Record) parseModule(f *fields) bool {
	rec.OS = f.word("operating system")
	rec.Arch = f.word("architecture")
	rec.DebugID = f.word("id")
	for _, c := range rec.DebugID {
		if hexDigit[c] == notHex {
			at := f.at
			rec.Name = f.rest()
			f.at = at
			f.fail("id %s: want hexadecimal digits", quoted(rec.DebugID))
			return true
		}
	}
	return rec.name(f)
}

// parseNumbered reads: FILE number name, or INLINE_ORIGIN number name.
func (rec *Record) parseNumbered(f *fields) bool {
	rec.ID = f.dec("number")
	return rec.name(f)
}

// parseFunc reads: FUNC [m] address size parameter_size name.
func (rec *Record) parseFunc(f *fields) bool {
	rec.Multiple = f.flag("m")
	rva := f.hex("address")
	rec.Size = f.hex("size")
	f.within(rva, rec.Size)
	rec.RVA = RVA(rva)
	rec.ParamSize = f.hex("parameter size")
	return rec.name(f)
}

// parsePublic reads: PUBLIC [m] address parameter_size name.
func (rec *Record) parsePublic(f *fields) bool {
	rec.Multiple = f.flag("m")
	rec.RVA = RVA(f.hex("address"))
	rec.ParamSize = f.hex("parameter size")
	return rec.name(f)
}

// parseInline reads: INLINE nest_level call_line call_file origin [address size]+.
// The old form has no call_file: then the number of fields is odd. Some writers
// give -1 for a call without a file.
func (rec *Record) parseInline(f *fields) {
	in := &rec.Inline
	in.Depth = f.dec("nest level")
	in.CallLine = f.dec("call line")
	left := countFields(f.text[f.next:])
	rec.OldForm = left%2 == 1
	in.CallFile, in.NoFile = 0, rec.OldForm
	if !rec.OldForm {
		if in.NoFile = f.flag("-1"); !in.NoFile {
			in.CallFile = FileID(f.dec("call file"))
		}
	}
	in.Origin = OriginID(f.dec("origin"))
	in.Ranges = slices.Grow(in.Ranges[:0], left/2)
	for !f.failed() && (f.more() || len(in.Ranges) == 0) {
		rva := f.hex("address")
		size := f.hex("size")
		f.within(rva, size)
		in.Ranges = append(in.Ranges, Range{RVA: RVA(rva), Size: size})
	}
}

// countFields counts the fields of text.
func countFields(text []byte) int {
	n := 0
	for i := skipBlanks(text, 0); i < len(text); i = skipBlanks(text, i) {
		for i < len(text) && !isBlank(text[i]) {
			i++
		}
		n++
	}
	return n
}

// parseLine reads: address size line filenum.
func (rec *Record) parseLine(f *fields, word []byte) {
	rec.Kind = KindLine
	for _, c := range word {
		if hexDigit[c] == notHex {
			rec.Kind = KindNone
			f.fail("unknown record %s", quoted(word))
			return
		}
	}
	f.next = 0
	rva := f.hex("address")
	size := f.hex("size")
	f.within(rva, size)
	num := f.dec("line")
	id := f.dec("file")
	f.end("file")
	rec.Line = Line{RVA: RVA(rva), Size: size, Num: num, File: FileID(id)}
}

// parseStack reads a record whose first word is STACK.
func (rec *Record) parseStack(f *fields) {
	switch {
	case f.flag("WIN"):
		rec.Kind = KindStackWin
		rec.parseWin(f)
	case f.flag("CFI"):
		rec.Kind = KindCFI
		rec.parseCFI(f)
	default:
		rec.Kind = KindNone
		f.fail("unknown record STACK %s: want WIN or CFI", quoted(f.peek()))
	}
}

// parseCFI reads: STACK CFI address rules, or STACK CFI INIT address size rules.
func (rec *Record) parseCFI(f *fields) {
	if f.flag("INIT") {
		rec.Kind = KindCFIInit
	}
	rva := f.hex("address")
	rec.RVA = RVA(rva)
	if rec.Kind == KindCFIInit {
		rec.Size = f.hex("size")
		f.within(rva, rec.Size)
	}
	rec.Name = f.rest()
	if f.failed() {
		return
	}
	register := 0
	for register < len(rec.Name) && !isBlank(rec.Name[register]) {
		register++
	}
	if register == 0 {
		f.fail("rules are missing")
	} else if register == 1 || rec.Name[register-1] != ':' {
		f.fail("rule %s: want a register and a colon first", quoted(rec.Name))
	} else if i := controlAt(rec.Name); i >= 0 {
		f.at += i
		f.fail("rules with a control character: %s", quoted(rec.Name[i:]))
	}
}

// controlAt returns the index of a control character other than a tab in text. It
// is a fault in rules: this reader does not treat it as a blank, but others may.
func controlAt(text []byte) int {
	for i, c := range text {
		if c < 0x20 && c != '\t' {
			return i
		}
		if c >= 0x7f {
			return bytes.IndexFunc(text, func(r rune) bool { return r != '\t' && isControl(r) })
		}
	}
	return -1
}

// parseWin reads: STACK WIN type rva code_size prologue_size epilogue_size
// parameter_size saved_register_size local_size max_stack_size
// has_program_string program_string_OR_allocates_base_pointer.
func (rec *Record) parseWin(f *fields) {
	kind := f.hex("type")
	if kind > maxID {
		f.fail("type %x is over 32 bits", kind)
	}
	rva := f.hex("address")
	size := f.hex("code size")
	f.within(rva, size)
	rec.Win = StackWin{
		Type:              uint32(kind),
		RVA:               RVA(rva),
		CodeSize:          size,
		PrologueSize:      f.hex("prologue size"),
		EpilogueSize:      f.hex("epilogue size"),
		ParameterSize:     f.hex("parameter size"),
		SavedRegisterSize: f.hex("saved register size"),
		LocalSize:         f.hex("local size"),
		MaxStackSize:      f.hex("maximum stack size"),
		HasProgram:        f.hex("program flag") != 0,
	}
	rec.Name = nil
	if !rec.Win.HasProgram {
		rec.Win.AllocatesBasePtr = f.hex("base pointer flag") != 0
		f.end("base pointer flag")
	} else if rec.Name = f.rest(); len(rec.Name) == 0 {
		f.fail("program is missing")
	}
}
