package symdiff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
)

// Outline is what is kept of a symbol file.
type Outline struct {
	Source *Source

	OS, CPU, ID, Name string // from MODULE
	Arch              *arch.Arch
	Infos             []symfmt.Info
	Files             *byNumber[string]       // names from FILE
	Records           [symfmt.KindCFI + 1]int // number by kind

	Funcs   []funcEntry   // in file order
	Publics []publicEntry // in file order
	Wins    []winEntry    // by address
	CFI     []cfiSpan     // by address; they do not overlap
	Rows    *rowTable     // of CFI

	Problems []symfmt.Problem // damage to the text
	Dropped  int              // number of problems not in Problems

	variables *variables // nil if they are not compared

	pieces   []orphanCode
	effort   effort          // spent on CFI
	winLooks effort          // spent on Wins
	originAt byNumber[int64] // offsets of INLINE_ORIGINs in the text
	old      bool            // INLINE records have the old form
}

// Options choose what is compared.
type Options struct {
	IgnoreAddresses bool // ignore functions that only moved
	IgnorePaths     bool // ignore folders of source files
	IgnoreGenerator bool // ignore INFO GENERATOR

	Topics Topic // what to compare; 0 means everything
	Jobs   int   // number of files read at a time; GOMAXPROCS if not positive

	// Tolerance is the number of percentage points by which the share of all code
	// with lines, or with call frame information, may fall, since added code may
	// have less of both than the rest. 0 means DefaultTolerance, and a negative
	// number means 0.
	Tolerance float64
}

// DefaultTolerance is in percentage points.
const DefaultTolerance = 0.1

// read returns the outline of a text. The error comes from reading it or from
// ctx, or says that nothing was usable; damage is among Problems. If callFiles
// is false, the files of calls are left out.
func read(ctx context.Context, s *Source, callFiles bool) (*Outline, error) {
	rd := symfmt.NewReader(nil, symfmt.ReadOptions{File: s.Name, Tolerant: true, Grouped: true})
	s.reset(rd, 0, s.size)
	b := outliner{
		o:           &Outline{Source: s, Files: &byNumber[string]{}},
		noCallFiles: !callFiles, rd: rd,
	}
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		rec, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		b.add(rec, rd.Extent())
	}
	return b.finish()
}

// outliner builds an Outline.
type outliner struct {
	o  *Outline
	rd *symfmt.Reader

	noCallFiles bool // ignore the files of calls

	files   byNumber[fileHash]
	origins byNumber[originHash]
	inFunc  bool
	body    body
	cfi     cfiReader
}

func (b *outliner) add(rec *symfmt.Record, at symfmt.Extent) {
	o := b.o
	o.Records[rec.Kind]++
	switch rec.Kind {
	case symfmt.KindLine:
		b.body.line(&rec.Line, b.file(rec.Line.File))
	case symfmt.KindInline:
		b.inline(rec)
	case symfmt.KindInlineOrigin:
		b.origin(rec, at.Start)
	case symfmt.KindModule:
		if o.OS == "" {
			o.OS, o.CPU, o.ID, o.Name = string(rec.OS), string(rec.Arch), string(rec.DebugID), string(rec.Name)
			o.Arch = arch.ByName(o.CPU)
		}
	case symfmt.KindInfo:
		if string(rec.Key) == vars.Key {
			return // readVariables reads them if they are compared
		}
		o.Infos = append(o.Infos, symfmt.Info{Key: string(rec.Key), Value: string(rec.Name)})
	case symfmt.KindFile:
		o.Files.add(rec.ID, func() string { return string(rec.Name) })
	case symfmt.KindFunc:
		b.openFunc(rec, at.Start)
	case symfmt.KindPublic:
		o.Publics = roomFor(o.Publics, at.Start, o.Source.size)
		o.Publics = append(o.Publics, publicEntry{
			RVA: rec.RVA, At: at.Start, End: at.End, Line: uint32(rec.Pos().Line), Name: hashBytes(rec.Name),
			ParamSize: narrow(rec.ParamSize), Multiple: rec.Multiple, Nameless: kindOfName(rec.Name),
		})
	case symfmt.KindStackWin:
		o.Wins = append(o.Wins, winEntry{RVA: rec.Win.RVA, Size: rec.Win.CodeSize, At: at.Start, End: at.End, Line: uint32(rec.Pos().Line), Contents: hashWin(rec)})
	case symfmt.KindCFIInit:
		b.cfi.fresh(o.Arch, o.Source.most)
		b.cfi.at, b.cfi.end = at.Start, o.Source.size
		b.cfi.init(rec)
	case symfmt.KindCFI:
		b.cfi.next(rec)
	}
}

// roomFor makes room for one more record, if there is none, by allocating as much as
// will be needed if the rest of the text, size bytes in all, is like the text up to
// at. append's growth leaves a fifth unused, and copies more often.
func roomFor[T any](s []T, at, size int64) []T {
	n := len(s)
	if n < cap(s) || n < 1024 || at <= 0 || size <= at {
		return s
	}
	more := float64(n) / float64(at) * float64(size-at)
	return slices.Grow(s, max(n/8, int(min(more*1.02, float64(4*n))))+1)
}

func (b *outliner) openFunc(rec *symfmt.Record, at int64) {
	b.endFunc()
	b.inFunc = true
	b.o.Funcs = roomFor(b.o.Funcs, at, b.o.Source.size)
	b.o.Funcs = append(b.o.Funcs, funcEntry{
		RVA: rec.RVA, Size: rec.Size, At: at, Line: uint32(rec.Pos().Line), Name: hashBytes(rec.Name),
		ParamSize: narrow(rec.ParamSize), Multiple: rec.Multiple, Nameless: kindOfName(rec.Name),
	})
	b.body.begin(rec.RVA, rec.Size)
}

// endFunc closes the open FUNC.
func (b *outliner) endFunc() {
	if b.inFunc {
		f := &b.o.Funcs[len(b.o.Funcs)-1]
		text := b.rd.Ended(symfmt.KindFunc)
		f.Len = narrow(uint64(text.End - text.Start))
		b.body.end(f)
	}
	b.inFunc = false
}

// fileHash holds two hashes of a source file's name: without its folders, and with them.
type fileHash struct{ base, full hash }

// file returns the hash of a file's name, or of its number if it is not declared.
func (b *outliner) file(id symfmt.FileID) fileHash {
	if h, ok := b.files.get(uint32(id)); ok {
		return h
	}
	name, ok := b.o.Files.get(uint32(id))
	if !ok {
		h := hashNumber(uint64(id))
		return fileHash{h, h}
	}
	h := fileHash{hashString(text.Base(name)), hashString(name)}
	b.files.add(uint32(id), func() fileHash { return h })
	return h
}

func (b *outliner) inline(rec *symfmt.Record) {
	in := &rec.Inline
	b.o.old = b.o.old || rec.OldForm
	name := hashNumber(uint64(in.Origin))
	if origin, ok := b.origins.get(uint32(in.Origin)); ok {
		name = origin.name
		if rec.OldForm {
			name = origin.old
		}
	}
	var file fileHash
	if !in.NoFile && !b.noCallFiles {
		file = b.file(in.CallFile)
	}
	b.body.inline(in, file, name)
}

// originHash holds hashes of an INLINE_ORIGIN's name in the new and in the old form:
// only the first INLINE shows which form the file has.
type originHash struct{ name, old hash }

func (b *outliner) origin(rec *symfmt.Record, at int64) {
	b.o.originAt.add(rec.ID, func() int64 { return at })
	b.origins.add(rec.ID, func() originHash {
		h := originHash{name: hashBytes(rec.Name)}
		h.old = h.name
		if _, name, ok := rec.OldOrigin(); ok {
			h.old = hashBytes(name)
		}
		return h
	})
}

func (b *outliner) finish() (*Outline, error) {
	b.endFunc()
	o := b.o
	report := b.rd.Report()
	o.Problems, o.Dropped = report.Problems, report.Dropped
	if o.Source.damage != nil {
		o.Problems = append(o.Problems, symfmt.Problem{Lost: "the rest of the file", Err: o.Source.damage})
	}
	n := 0
	for _, count := range o.Records {
		n += count
	}
	if n == 0 && o.Source.damage != nil {
		return nil, o.Source.damage
	}
	if n == 0 {
		return nil, &symfmt.SyntaxError{File: o.Source.Name, Line: 1, Col: 1, Msg: "not a symbol file: no record in it, want MODULE first"}
	}
	b.cfi.fresh(o.Arch, o.Source.most)
	o.CFI, o.Rows = b.cfi.finish()
	slices.SortStableFunc(o.Wins, func(x, y winEntry) int { return cmp.Compare(x.RVA, y.RVA) })
	o.dropCopies()
	if o.Rows.full {
		o.Problems = append(o.Problems, symfmt.Problem{Lost: "STACK CFI", Err: fmt.Errorf("%s: more than %d different rules: the rest is not compared", o.Source.Name, o.Rows.most)})
	}
	return o, nil
}

func narrow(n uint64) uint32 { return uint32(min(n, 1<<32-1)) }

// byNumber holds values by the numbers of FILE or INLINE_ORIGIN records. Writers
// count from 0; other numbers go into a map.
type byNumber[T any] struct {
	dense []T
	have  []bool
	far   map[uint32]T
}

// add adds a value unless the number already has one: the first of two records
// counts.
func (b *byNumber[T]) add(id uint32, value func() T) {
	if _, ok := b.get(id); ok {
		return
	}
	if int(id) > 2*len(b.dense)+1024 {
		if b.far == nil {
			b.far = map[uint32]T{}
		}
		b.far[id] = value()
		return
	}
	for int(id) >= len(b.dense) {
		var none T
		b.dense, b.have = append(b.dense, none), append(b.have, false)
	}
	b.dense[id], b.have[id] = value(), true
}

func (b *byNumber[T]) get(id uint32) (value T, ok bool) {
	if int(id) < len(b.dense) && b.have[id] {
		return b.dense[id], true
	}
	value, ok = b.far[id]
	return value, ok
}

// each calls f for all values, those with low numbers first.
func (b *byNumber[T]) each(f func(id uint32, value T)) {
	for i, ok := range b.have {
		if ok {
			f(uint32(i), b.dense[i])
		}
	}
	for id, value := range b.far {
		f(id, value)
	}
}
