package resolve

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/logs"
	"github.com/symtool/symtool/cmd/symtool/internal/suppliers"
	"github.com/symtool/symtool/internal/demangle"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk/dumpfile"
)

// filterLog replaces the places in a log. If it replaces none, it reports this as a finding.
func (r *addressResolver) filterLog(ctx context.Context, in io.Reader, out *cli.Stdout) error {
	var at resolve.Location
	f := &logs.Filter{
		Answer: func(dst []byte, p *logs.Place) ([]byte, bool) { return r.appendPlace(dst, p, &at) },
		Frames: func(p *logs.Place) ([]logs.Frame, bool) { return r.framesAt(p, &at) },
		Names:  func() []string { return r.symbols.Names(ctx) },
		Maps:   r.maps,
	}
	f.Markup = r.newMarkup(f, &at)
	if err := f.Run(ctx, in, out); err != nil {
		return err
	}
	if f.BadReport {
		r.status = max(r.status, cli.StatusInput)
		r.msgs.Printf("symtool: standard input: the first line is that of a crash report (.ips), but no whole JSON object with threads and images of at most %d MB follows", logs.MostReport>>20)
		return nil
	}
	if f.Replaced > 0 {
		return nil
	}
	r.status = max(r.status, cli.StatusFindings)
	if len(f.Missed) == 0 {
		r.msgs.Warnf("symtool: standard input: nothing was replaced: it has no NAME+0xADDR and none of the other forms")
		return nil
	}
	r.msgs.Warnf("symtool: standard input: nothing was replaced: no symbols for the addresses of %s", strings.Join(f.Missed, ", "))
	return nil
}

// appendPlace appends what is at a place in a log: "g at t.c:2, inlined by main at t.c:3". It reports whether that is
// known.
func (r *addressResolver) appendPlace(dst []byte, p *logs.Place, at *resolve.Location) ([]byte, bool) {
	rva, found := r.findPlace(p, at)
	if !found {
		return dst, false
	}
	return r.appendFrames(dst, at, rva), true
}

// framesAt returns the functions at a place in a log. It reports whether they are known.
func (r *addressResolver) framesAt(p *logs.Place, at *resolve.Location) (frames []logs.Frame, known bool) {
	rva, found := r.findPlace(p, at)
	if !found {
		return nil, false
	}
	for _, frame := range r.frames(at) {
		frames = append(frames, logs.Frame{Function: orUnknown(frame.Function), File: frame.File, Line: frame.Line, Offset: rva - uint64(at.Start)})
	}
	return frames, true
}

// findPlace looks up a place in a log, sets at, and returns the place's RVA. It reports whether something was found
// there.
func (r *addressResolver) findPlace(p *logs.Place, at *resolve.Location) (rva uint64, found bool) {
	r.names = appendModules(r.names[:0], p)
	for _, name := range r.names {
		module := suppliers.ParseModule(name)
		module.BuildID = p.Build
		if p.Gone && p.Build == "" {
			r.symbols.Gone(module)
			continue
		}
		symbols := r.symbols.Find(r.ctx, module)
		if symbols == nil {
			if p.Sure {
				r.symbols.Missing(module)
			}
			continue
		}
		rva, known := r.rvaOfPlace(symbols, p)
		if !known {
			continue
		}
		asked := rva
		if p.Caller && rva > 0 {
			asked--
		}
		found, err := nearest(r.ctx, symbols, asked, at)
		r.report(symbols, err)
		if found {
			return rva, true
		}
	}
	return 0, false
}

// appendModules appends the names of the modules that a place may be in, in the order in which to look them up. In
// names of modules the kernel writes "_" for "-".
func appendModules(names []string, p *logs.Place) []string {
	switch {
	case !p.Kernel:
		return append(names, p.Name)
	case p.Name == "":
		return append(names, "vmlinux", "")
	}
	return append(names, p.Name+".ko", strings.ReplaceAll(p.Name, "_", "-")+".ko")
}

func (r *addressResolver) appendFrames(b []byte, at *resolve.Location, rva uint64) []byte {
	for i, frame := range r.frames(at) {
		if i > 0 {
			b = append(b, ", inlined by "...)
		}
		b = appendBehind(appendFrame(b, &frame), at, rva)
	}
	return b
}

// frames returns the functions at a place, without inlined calls if --no-inlines is given.
func (r *addressResolver) frames(at *resolve.Location) []resolve.Frame {
	if r.noInline {
		return withoutInlines(at.Frames)
	}
	return at.Frames
}

// rvaOfPlace returns the RVA of a place in a log.
func (r *addressResolver) rvaOfPlace(symbols resolve.Symbols, p *logs.Place) (rva uint64, known bool) {
	switch p.Counts {
	case logs.FromStart:
		return p.Addr, true
	case logs.FromFile, logs.FromCode:
		if rva, known = rvaOfOffset(symbols, p); known {
			return rva, known
		}
		if p.Symbol != "" {
			return rvaAfterSymbol(symbols, p.Symbol, p.After, 0)
		}
		if _, ok := symbols.(resolve.MappedSymbols); !ok {
			r.hint(symbols, "left as it is: the log has offsets in the file, and only the binary says where they are in memory: use --binaries")
		}
		return 0, false
	case logs.AfterSymbol:
		return rvaAfterSymbol(symbols, p.Symbol, p.Addr, p.Size)
	}
	fromStart, linked := readings(symbols, p.Addr)
	base, baseKnown := symbols.Base()
	switch {
	case linked:
		return p.Addr - base, true
	case p.Counts == logs.Absolute:
		return 0, false
	case !fromStart && !baseKnown:
		r.hint(symbols, "%s+0x%x is past its code, whose records end at %x: if the file is linked to a fixed address, --binaries finds it out", p.Name, p.Addr, uint64(symbols.Last(r.ctx)))
	}
	return p.Addr, true
}

// rvaOfOffset returns the RVA of a byte of the file. It needs the symbols of a binary.
func rvaOfOffset(symbols resolve.Symbols, p *logs.Place) (rva uint64, known bool) {
	mapped, ok := symbols.(resolve.MappedSymbols)
	if !ok {
		return 0, false
	}
	offset := p.Addr
	if p.Counts == logs.FromCode {
		code, ok := mapped.CodeOffset()
		if !ok {
			return 0, false
		}
		offset += code
	}
	at, known := mapped.AtOffset(offset)
	return uint64(at), known
}

// rvaAfterSymbol returns the RVA at a distance from a symbol. size is 0 if the log does not give the symbol's size. If
// several symbols have the name, only one of them may contain the place. A caller's address may be at the symbol's
// end. The kernel's size of a symbol extends to the next symbol, so it is at least the function's size.
func rvaAfterSymbol(symbols resolve.Symbols, symbol string, after, size uint64) (rva uint64, known bool) {
	named, ok := symbols.(resolve.NamedSymbols)
	if !ok {
		return 0, false
	}
	all := named.Named(symbol)
	if plain, err := demangle.Append(nil, symbol); all == nil && err == nil {
		all = named.Named(string(plain)) // as in symbol files
	}
	var start symfmt.RVA
	for _, c := range all {
		if c.Size > 0 && after > c.Size || size > 0 && (c.Size > size || after >= size) || known && c.Start == start {
			continue
		}
		if known {
			return 0, false
		}
		start, known = c.Start, true
	}
	return uint64(start) + after, known
}

// readMaps reads where modules are in memory, from the file that a flag names.
func (r *addressResolver) readMaps(ctx context.Context) (err error) {
	switch {
	case r.mapsFile != "":
		r.maps, err = mapsOf(r.mapsFile)
	case r.coreFile != "":
		r.maps, err = modulesInCore(ctx, r.coreFile)
	}
	return err
}

func mapsOf(path string) (*logs.Maps, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Unwrap(err))
	}
	defer in.Close()
	m, err := logs.ReadMaps(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func modulesInCore(ctx context.Context, path string) (*logs.Maps, error) {
	f, err := dumpfile.Open(ctx, path, dumpfile.Options{})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &logs.Maps{}
	for i := range f.Dump.Modules {
		one := &f.Dump.Modules[i]
		name := one.Path
		if len(one.BuildID) == 0 && one.DebugID != "" {
			name = cmp.Or(one.DebugFile, one.Path) + "/" + one.DebugID
		}
		m.Add(strings.Clone(name), hex.EncodeToString(one.BuildID), one.Addr, one.Addr+one.Size)
	}
	m.Sort()
	return m, nil
}
