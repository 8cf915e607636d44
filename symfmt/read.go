package symfmt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
)

// Result is the result of reading a file. Formats other than Breakpad's text set only
// Report.Problems.
type Result struct {
	Module *Module
	Report
}

// Read reads the symbol file r, which may be compressed with gzip or zstd. The
// slices of the Module are in the order of the file.
//
// Unless opts.Tolerant is set, the first bad record ends the reading with a
// *SyntaxError. If it is set, a bad record costs only itself (a bad FUNC or
// STACK CFI INIT also the records that belong to it) and is a problem in the
// Report; the error then means that nothing was usable, or that r failed. The
// tolerant reader reports no problems if and only if the strict one accepts the
// file.
//
// Memory is bounded by the bytes of text read: no count or id in the text
// determines the size of an allocation.
func Read(ctx context.Context, r io.Reader, opts ReadOptions) (*Result, error) {
	opts.Grouped, opts.Outline = false, false
	b := builder{rd: NewReader(bin.ContextReader(ctx, r), opts), m: &Module{}}
	err := b.run()
	if err == nil {
		err = b.finish()
	}
	if err != nil {
		return nil, err
	}
	return &Result{b.m, b.rd.Report()}, nil
}

// builder assembles records into a Module.
type builder struct {
	rd    *Reader
	m     *Module
	names texts

	records  int  // number of good records
	noModule bool // the missing MODULE was reported

	inFunc bool // the last of m.Funcs is open
	body   BodyBuilder
	arena  Arena

	lastRow RVA

	files   references
	origins references
	forms   inlineForms

	vars    *vars.Parser // of INFO VAR; nil before the record that gives the version
	varLine int          // the line of the last INFO VAR

	programs map[string]string // programs of STACK WIN, which repeat often
	rules    []byte
}

func (b *builder) run() error {
	for {
		rec, err := b.rd.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			b.records++
			err = b.add(rec)
		}
		if err != nil {
			return err
		}
	}
}

// add adds one record to the module. Its error is what a strict reader returns.
func (b *builder) add(rec *Record) error {
	if rec.Kind != KindLine {
		if err := b.wantModule(rec); err != nil {
			return err
		}
	}
	if rec.Owner != OwnerRead {
		return b.rd.groups.orphan(b.rd, rec)
	}
	switch rec.Kind {
	case KindLine:
		return b.addLine(rec)
	case KindModule:
		return b.addModule(rec)
	case KindInfo:
		if string(rec.Key) == vars.Key && (b.vars != nil || vars.IsStart(rec.Name)) {
			return b.addVars(rec)
		}
		b.m.Infos = append(b.m.Infos, Info{b.names.keep(rec.Key), b.names.keep(rec.Name)})
	case KindFile:
		return b.addFile(rec)
	case KindInlineOrigin:
		return b.addOrigin(rec)
	case KindFunc:
		b.addFunc(rec)
	case KindInline:
		return b.addInline(rec)
	case KindPublic:
		b.m.Publics = append(b.m.Publics, Public{
			RVA: rec.RVA, ParamSize: rec.ParamSize, Name: b.names.keep(rec.Name), Multiple: rec.Multiple,
		})
	case KindStackWin:
		b.addWin(rec)
	case KindCFIInit:
		return b.addBlock(rec)
	case KindCFI:
		return b.addRow(rec)
	}
	return nil
}

// addVars adds a record of variables.
func (b *builder) addVars(rec *Record) error {
	if b.vars == nil {
		b.vars = &vars.Parser{}
	}
	b.varLine = rec.line
	if bad := b.vars.Add(rec.Name, rec.line); bad != nil {
		return b.badVars(bad)
	}
	return nil
}

// recordVars is the name of a variable record in errors.
const recordVars = "INFO VAR"

// badVars reports a record of variables that cannot be used.
func (b *builder) badVars(bad *vars.BadRecord) error {
	e := &SyntaxError{File: b.rd.opts.File, Line: bad.Line, Col: len(vars.Prefix) + bad.Off + 1, Record: recordVars, Msg: bad.Msg}
	if e.Line == 0 {
		e.Line, e.Col = b.varLine, 1
	}
	return b.rd.problem(e, "variables")
}

// wantModule reports, once, that MODULE is missing.
func (b *builder) wantModule(rec *Record) error {
	if rec.Kind == KindModule || b.m.OS != "" || b.noModule || b.rd.lost[KindModule] > 0 {
		return nil
	}
	b.noModule = true
	return b.bad(rec, 0, "", "no MODULE record before it")
}

func (b *builder) addModule(rec *Record) error {
	if b.m.OS != "" {
		return b.bad(rec, 0, "MODULE", "second MODULE record")
	}
	b.m.OS, b.m.Arch = string(rec.OS), string(rec.Arch)
	b.m.ID, b.m.Name = string(rec.DebugID), string(rec.Name)
	b.m.CFI.Rules.SetArch(arch.ByName(b.m.Arch))
	return nil
}

func (b *builder) addFile(rec *Record) error {
	if !b.files.declared.add(rec.ID) {
		return b.bad(rec, 1, "FILE", "number %d is already used by an earlier FILE", rec.ID)
	}
	b.m.Files = append(b.m.Files, File{ID: FileID(rec.ID), Name: b.names.keep(rec.Name)})
	return nil
}

func (b *builder) addOrigin(rec *Record) error {
	if !b.origins.declared.add(rec.ID) {
		return b.bad(rec, 1, "INLINE_ORIGIN", "number %d is already used by an earlier INLINE_ORIGIN", rec.ID)
	}
	b.forms.origin(rec, len(b.m.Origins))
	b.m.Origins = append(b.m.Origins, InlineOrigin{ID: OriginID(rec.ID), Name: b.names.keep(rec.Name)})
	return nil
}

func (b *builder) addFunc(rec *Record) {
	b.endFunc()
	b.inFunc = true
	b.body.Reset(rec.RVA)
	b.m.Funcs = append(b.m.Funcs, Func{
		RVA: rec.RVA, Size: rec.Size, ParamSize: rec.ParamSize,
		Name: b.names.keep(rec.Name), Multiple: rec.Multiple,
	})
}

// endFunc closes the open FUNC.
func (b *builder) endFunc() {
	if b.inFunc {
		b.m.Funcs[len(b.m.Funcs)-1].Body = b.body.Finish(&b.arena)
		b.inFunc = false
	}
}

func (b *builder) addLine(rec *Record) error {
	b.body.AddLine(rec.Line)
	if id := uint32(rec.Line.File); !b.files.known(id) {
		return b.undeclaredFile(rec, id, 3)
	}
	return nil
}

func (b *builder) addInline(rec *Record) error {
	in := &rec.Inline
	b.body.AddInline(in)
	if err := b.forms.inline(b, rec); err != nil {
		return err
	}
	field := 4
	if rec.OldForm {
		field = 3
	}
	if id := uint32(in.Origin); !b.origins.known(id) {
		b.origins.note(rec, field, id)
	}
	if id := uint32(in.CallFile); !in.NoFile && !b.files.known(id) {
		return b.undeclaredFile(rec, id, 3)
	}
	return nil
}

// undeclaredFile makes a strict reader stop at the first use of a file that no
// "prior FILE record" (specification, "Line records") declares.
func (b *builder) undeclaredFile(rec *Record, id uint32, field int) error {
	if !b.rd.opts.Tolerant {
		return b.bad(rec, field, "", "file %d is not declared", id)
	}
	b.files.note(rec, field, id)
	return nil
}

func (b *builder) addWin(rec *Record) {
	win := rec.Win
	if win.HasProgram {
		program, ok := b.programs[string(rec.Name)]
		if !ok {
			program = string(rec.Name)
			if b.programs == nil {
				b.programs = make(map[string]string)
			}
			b.programs[program] = program
		}
		win.Program = program
	}
	b.m.Wins = append(b.m.Wins, win)
}

func (b *builder) addBlock(rec *Record) error {
	b.lastRow = rec.RVA
	cfi := &b.m.CFI
	if len(cfi.Rows) >= math.MaxUint32 {
		return rec.errorf(0, "more than %d STACK CFI records before it", uint32(math.MaxUint32))
	}
	cfi.Blocks = append(cfi.Blocks, CFIBlock{
		RVA: rec.RVA, Size: rec.Size, Init: b.intern(rec.Name), First: uint32(len(cfi.Rows)),
	})
	return nil
}

func (b *builder) addRow(rec *Record) error {
	cfi := &b.m.CFI
	block := &cfi.Blocks[len(cfi.Blocks)-1]
	if rec.RVA < block.RVA || uint64(rec.RVA-block.RVA) >= block.Size {
		return b.bad(rec, 2, "STACK CFI", "address %x is outside its STACK CFI INIT, %x bytes from %x",
			rec.RVA, block.Size, block.RVA)
	}
	if len(cfi.Rows) >= math.MaxUint32 {
		return rec.errorf(0, "more than %d of them before it", uint32(math.MaxUint32))
	}
	last := b.lastRow
	b.lastRow = rec.RVA
	cfi.Rows = append(cfi.Rows, CFIRow{RVA: rec.RVA, Rules: b.intern(rec.Name)})
	block.Count++
	if rec.RVA <= last {
		return b.bad(rec, 2, "", "address %x is not above the previous record's, %x", rec.RVA, last)
	}
	return nil
}

// intern interns rules with one space between words.
func (b *builder) intern(rules []byte) RuleID {
	b.rules = b.rules[:0]
	for i := 0; i < len(rules); i++ {
		if isBlank(rules[i]) {
			i = skipBlanks(rules, i) - 1
			b.rules = append(b.rules, ' ')
			continue
		}
		b.rules = append(b.rules, rules[i])
	}
	return b.m.CFI.Rules.Parse(b.rules)
}

// finish closes what is open and does the checks that need the whole file.
func (b *builder) finish() error {
	b.endFunc()
	b.m.Digest = b.rd.report.Digest
	if b.records == 0 {
		return &SyntaxError{
			File: b.rd.opts.File, Line: 1, Col: 1,
			Msg: fmt.Sprintf("not a symbol file: no record in %d lines, want MODULE first", b.rd.report.Lines),
		}
	}
	if b.vars != nil {
		variables, err := b.vars.Finish(b.badVars)
		if err != nil {
			return err
		}
		b.m.Vars = variables
	}
	if err := b.forms.resolve(b); err != nil {
		return err
	}
	if err := b.files.report(b.rd, "file", false); err != nil {
		return err
	}
	if err := b.origins.report(b.rd, "origin", true); err != nil {
		return err
	}
	b.sortProblems()
	return nil
}

// sortProblems sorts the problems found at the end of the file by line.
func (b *builder) sortProblems() {
	place := func(p Problem) Pos {
		var syntax *SyntaxError
		if errors.As(p.Err, &syntax) {
			return Pos{syntax.Line, syntax.Col}
		}
		return Pos{Line: math.MaxInt}
	}
	slices.SortStableFunc(b.rd.report.Problems, func(x, y Problem) int {
		return comparePos(place(x), place(y))
	})
}

// bad reports a fault of rec at field number field.
func (b *builder) bad(rec *Record, field int, lost, format string, args ...any) error {
	if b.rd.quiet() {
		b.rd.report.Dropped++
		return nil
	}
	return b.rd.problem(rec.errorf(field, format, args...), lost)
}
