// Package facts keeps what rules about symbol files need to know about other records: tables with
// a few bytes per record, and the state in which the current record is seen.
package facts

import (
	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/lint/internal/extent"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
)

// Facts is what is known about a file so far. It is updated with each record before rules see
// the record.
type Facts struct {
	HasModule bool
	OS, CPU   string // from MODULE
	DebugID   string
	Name      string
	Arch      *arch.Arch // nil if unknown

	Records int         // number of records read
	Last    symfmt.Kind // kind of the previous record; KindNone before the first

	Variables bool // there are records of variables

	Lines  int           // lines of text; set at the end
	Layout symfmt.Layout // layout of the text; set at the end
	Cut    error         // symfmt.Report.Cut; set at the end

	Func       Func        // last FUNC; its Size is 0 if there is none
	FuncName   []byte      // name of Func; overwritten by the next FUNC
	InFunc     bool        // the record belongs to Func
	FuncLost   bool        // the record belongs to a malformed FUNC
	funcOpen   bool        // Func is not in Functions yet
	Line       LineFaults  // faults of the record, if it is a line record
	Functions  Table[Func] // all FUNCs, in file order
	Publics    Table[Public]
	Blocks     Table[Block] // STACK CFI INITs in file order
	Files      IDs
	Origins    IDs
	Wins       Table[winBlock] // STACK WINs in file order
	Redeclared bool            // the record is a FILE or INLINE_ORIGIN with a number declared before
	Forms      inlineForms

	Nesting  Nesting      // nesting of Func's INLINEs
	spans    extent.Spans // code covered by Func's line records
	lineFrom symfmt.RVA   // start of Func's last line record
	lastFile uint32       // file of the last line record, plus 1
	CFI      Rows
	Programs programTable
	cover    lineCover
	Params   []FuncParam    // FUNCs with a parameter size
	Startup  []symfmt.Range // FUNCs and PUBLICs named like start-up code; PUBLICs have no size
}

// Func is a FUNC record. It takes 32 bytes.
type Func struct {
	RVA     symfmt.RVA
	Size    uint64
	Covered uint64 // bytes covered by lines, counting overlaps once
	Line    uint32 // line in the file
	Lines   uint32 // number of line records
}

// End returns the address after the last byte; it may wrap around.
func (f *Func) End() symfmt.RVA { return f.RVA + symfmt.RVA(f.Size) }

// Last returns the address of the last byte of a non-empty function.
func (f *Func) Last() symfmt.RVA { return f.RVA + symfmt.RVA(f.Size-1) }

// Holds reports whether the function contains a range.
func (f *Func) Holds(x symfmt.Range) bool {
	at := uint64(x.RVA - f.RVA)
	return x.RVA >= f.RVA && at <= f.Size && x.Size <= f.Size-at
}

// Public is a PUBLIC record.
type Public struct {
	RVA  symfmt.RVA
	Line uint32
}

// Block is a STACK CFI INIT record with its STACK CFI records. It takes 24 bytes.
type Block struct {
	RVA  symfmt.RVA
	Size uint64
	Line uint32
	Rows uint32
}

// IDs is a set of declared numbers that records which of them are used.
type IDs struct {
	ForwardUses []forwardUse // first uses of numbers not declared before; at most maxForward
	forward     map[uint32]bool

	declared, used Bitset
	far            map[uint32]bool // numbers too large for the bitsets; the value is true if used
	Count          int             // number of declared numbers
}

// maxDense is the limit of the numbers in the bitsets, which then take 8 MB.
const maxDense = 1 << 26

// declare adds a number, and reports whether it was there already.
func (s *IDs) declare(id uint32) (again bool) {
	if s.Has(id) {
		return true
	}
	s.Count++
	if id < maxDense {
		s.declared.Set(id)
		return false
	}
	if s.far == nil {
		s.far = map[uint32]bool{}
	}
	s.far[id] = false
	return false
}

// Has reports whether a number was declared.
func (s *IDs) Has(id uint32) bool {
	if id < maxDense {
		return s.declared.Has(id)
	}
	_, ok := s.far[id]
	return ok
}

// Use records that a number is used.
func (s *IDs) Use(id uint32) {
	if id < maxDense {
		s.used.Set(id)
	} else if s.Has(id) {
		s.far[id] = true
	}
}

// Used reports whether a number was used.
func (s *IDs) Used(id uint32) bool {
	if id < maxDense {
		return s.used.Has(id)
	}
	return s.far[id]
}

// Bitset is a set of small numbers.
type Bitset []uint64

// Has reports whether i is in the set.
func (b Bitset) Has(i uint32) bool { return int(i>>6) < len(b) && b[i>>6]>>(i&63)&1 != 0 }

// Set adds i.
func (b *Bitset) Set(i uint32) {
	for int(i>>6) >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[i>>6] |= 1 << (i & 63)
}

// See updates the facts with a record.
func (f *Facts) See(r *symfmt.Record) {
	f.Records++
	f.own(r)
	switch r.Kind {
	case symfmt.KindLine:
		switch {
		case f.InFunc:
			f.seeLine(r)
			f.cover.add(r.Line.RVA, r.Line.Size)
		case f.FuncLost:
			f.Line = 0
		default:
			f.Line = orphanLine(&r.Line)
		}
		return
	case symfmt.KindInline:
		f.seeInline(r)
		return
	case symfmt.KindInlineOrigin:
		f.Redeclared = f.Origins.declare(r.ID)
		f.Forms.origin(r)
		return
	}
	f.closeFunc()
	switch r.Kind {
	case symfmt.KindInfo:
		f.Variables = f.Variables || IsVariable(r)
	case symfmt.KindModule:
		if !f.HasModule {
			f.HasModule, f.OS, f.CPU, f.DebugID, f.Name = true, string(r.OS), string(r.Arch), string(r.DebugID), string(r.Name)
			f.Arch = arch.ByName(f.CPU)
		}
	case symfmt.KindFile:
		f.Redeclared = f.Files.declare(r.ID)
	case symfmt.KindFunc:
		f.openFunc(r)
	case symfmt.KindPublic:
		f.Publics.Add(Public{r.RVA, uint32(r.Pos().Line)})
		f.noteStartup(r, 0)
	case symfmt.KindCFIInit:
		f.Blocks.Add(Block{RVA: r.RVA, Size: r.Size, Line: uint32(r.Pos().Line)})
		f.CFI.see(f, r)
	case symfmt.KindCFI:
		if r.Owner == symfmt.OwnerRead {
			f.Blocks.At(f.Blocks.Len()-1).Rows++
		}
		f.CFI.see(f, r)
	case symfmt.KindStackWin:
		f.Programs.see(f, r)
	}
}

// Index returns the index of a FUNC or PUBLIC record that has just been seen. (A FUNC enters the
// table only when it ends.)
func (f *Facts) Index(r *symfmt.Record) int {
	if r.Kind == symfmt.KindFunc {
		return f.Functions.Len()
	}
	return f.Publics.Len() - 1
}

// IsVariable reports whether a record is about variables.
func IsVariable(r *symfmt.Record) bool {
	return r.Kind == symfmt.KindInfo && string(r.Key) == vars.Key
}

// own determines whether a record belongs to Func. Other readers allow only INLINE_ORIGINs
// between a FUNC and its records.
func (f *Facts) own(r *symfmt.Record) {
	f.InFunc, f.FuncLost = false, false
	if (r.Kind == symfmt.KindLine || r.Kind == symfmt.KindInline) && !r.Apart {
		f.InFunc, f.FuncLost = r.Owner == symfmt.OwnerRead, r.Owner == symfmt.OwnerLost
	}
}

func (f *Facts) openFunc(r *symfmt.Record) {
	f.Func = Func{RVA: r.RVA, Size: r.Size, Line: uint32(r.Pos().Line)}
	f.FuncName = append(f.FuncName[:0], r.Name...)
	f.InFunc, f.funcOpen = true, true
	f.spans.Reset()
	f.Nesting.begin()
	f.cover.begin(&f.Func)
	f.noteStartup(r, r.Size)
	if r.ParamSize > 0 {
		f.Params = append(f.Params, FuncParam{r.RVA, r.ParamSize})
	}
}

// maxStartups is the maximum number of start-up functions that are kept: a module has a dozen.
const maxStartups = 64

func (f *Facts) noteStartup(r *symfmt.Record, size uint64) {
	if execcode.StartupName(r.Name) && len(f.Startup) < maxStartups {
		f.Startup = append(f.Startup, symfmt.Range{RVA: r.RVA, Size: size})
	}
}

// seeInline processes an INLINE.
func (f *Facts) seeInline(r *symfmt.Record) {
	in := &r.Inline
	f.Forms.inline(r)
	if !f.InFunc {
		return
	}
	origin := 4
	if r.OldForm {
		origin = 3
	} else if !in.NoFile {
		f.Files.use(r, 3, uint32(in.CallFile))
	}
	f.Origins.use(r, origin, uint32(in.Origin))
	f.Nesting.see(r, &f.Func)
}

// closeFunc adds the function that has ended to the table.
func (f *Facts) closeFunc() {
	if f.funcOpen {
		f.Func.Covered = f.cover.end()
		f.Nesting.end()
		f.Functions.Add(f.Func)
	}
	f.funcOpen = false
}

// End completes the facts when the file has been read.
func (f *Facts) End() {
	f.closeFunc()
	f.CFI.finish(f, f.Blocks.Len()-1)
}

// AddressField returns the number of the address field of a FUNC or PUBLIC, counted as in
// symfmt.Record.FieldPos. The number depends on whether the record has the word "m".
func AddressField(r *symfmt.Record) int {
	if r.Multiple {
		return 2
	}
	return 1
}

// NameField returns the number of the field where a record's name begins, or 0 for records
// without a name.
func NameField(r *symfmt.Record) int {
	switch r.Kind {
	case symfmt.KindFile, symfmt.KindInlineOrigin:
		return 2
	case symfmt.KindModule:
		return 4
	case symfmt.KindFunc:
		return AddressField(r) + 3
	case symfmt.KindPublic:
		return AddressField(r) + 2
	}
	return 0
}
