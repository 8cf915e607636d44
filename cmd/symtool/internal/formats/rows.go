package formats

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/filekind"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/gsym"
	"github.com/symtool/symtool/symfmt/symcache"
	"github.com/symtool/symtool/symfmt/symelf"
	"github.com/symtool/symtool/symfmt/symjson"
	"github.com/symtool/symtool/symfmt/symlist"
)

// The rows of formats that have packages of their own: how convert's flags map to their options.

// parse is the signature of these packages' Read. It calls dropped with everything in the file that
// symbols cannot hold.
type parse func(ctx context.Context, c *Job, in *Input, r io.ReaderAt, size int64, dropped func(symfmt.Loss)) (*symfmt.Result, error)

// readWith returns a row's Read that calls a package's Read.
func readWith(parse parse) func(context.Context, *Job, *Input, func(*Symbols) error) error {
	return func(ctx context.Context, c *Job, in *Input, use func(*Symbols) error) error {
		r, size, err := in.random()
		if err != nil {
			return err
		}
		var losses []symfmt.Loss
		result, err := parse(ctx, c, in, r, size, func(l symfmt.Loss) { losses = append(losses, l) })
		if err != nil {
			return err
		}
		if err := c.Lose(in.Name, losses); err != nil {
			return err
		}
		return use(&Symbols{Module: result.Module, Problems: result.Problems})
	}
}

// nameRecords are the records that most formats hold.
var nameRecords = []symfmt.Kind{symfmt.KindFunc, symfmt.KindPublic}

func gsymFormat() Format {
	options := func(c *Job) gsym.Options {
		return gsym.Options{Version: c.GsymVersion, ByteOrder: c.ByteOrder, Base: c.baseOr0(), Jobs: c.Jobs}
	}
	losses := func(c *Job, m *symfmt.Module) []symfmt.Loss { return gsym.Losses(m, options(c)) }
	return Format{
		Kind: filekind.GSYM, Name: "gsym", Exts: []string{".gsym"}, piped: true,
		Read: readWith(func(ctx context.Context, c *Job, in *Input, r io.ReaderAt, size int64, dropped func(symfmt.Loss)) (*symfmt.Result, error) {
			return gsym.Read(ctx, r, size, gsym.ReadOptions{File: in.Name, Base: c.Base, Dropped: dropped})
		}),
		Losses: losses,
		Holds:  nameRecords,
		Advice: func(c *Job, m *symfmt.Module) string { return c.adviseBase(m, losses) },
		Write: func(_ context.Context, c *Job, m *symfmt.Module, out io.Writer) error {
			return gsym.Write(out, m, options(c))
		},
		ReadFlags: []string{"base"}, WriteFlags: []string{"base", "gsym-version", "byte-order"},
	}
}

func symcacheFormat() Format {
	options := func(c *Job) symcache.Options {
		return symcache.Options{Version: uint32(c.SymcacheVersion), Base: symfmt.RVA(c.baseOr0())}
	}
	return Format{
		Kind: filekind.SymCache, Name: "symcache", Exts: []string{".symcache"}, piped: true,
		Read: readWith(func(ctx context.Context, c *Job, in *Input, r io.ReaderAt, size int64, dropped func(symfmt.Loss)) (*symfmt.Result, error) {
			return symcache.Read(ctx, r, size, symcache.ReadOptions{File: in.Name, Base: symfmt.RVA(c.baseOr0()), Dropped: dropped})
		}),
		Losses: func(c *Job, m *symfmt.Module) []symfmt.Loss { return symcache.Losses(m, options(c)) },
		Holds:  nameRecords,
		Advice: func(c *Job, m *symfmt.Module) string {
			if first, ok := symcache.FirstFar(m, options(c)); ok {
				return fmt.Sprintf("the first of those records is at %x: want --base there or a little before", uint64(first))
			}
			return ""
		},
		Write: func(_ context.Context, c *Job, m *symfmt.Module, out io.Writer) error {
			return symcache.Write(out, m, options(c))
		},
		ReadFlags: []string{"base"}, WriteFlags: []string{"base", "symcache-version"},
	}
}

// listFormat returns the row of one of the two formats that list symbols.
func listFormat(name string, kind filekind.Kind, ext string, of symlist.Format) Format {
	options := func(c *Job) symlist.Options { return symlist.Options{Format: of, Base: c.baseOr0()} }
	losses := func(c *Job, m *symfmt.Module) []symfmt.Loss { return symlist.Losses(m, options(c)) }
	return Format{
		Kind: kind, Name: name, Exts: []string{ext}, Text: true, Packed: true,
		Read: readWith(func(ctx context.Context, c *Job, in *Input, r io.ReaderAt, size int64, _ func(symfmt.Loss)) (*symfmt.Result, error) {
			module := symfmt.Module{Name: strings.TrimSuffix(filepath.Base(in.Name), ext)}
			return symlist.Read(ctx, r, size, symlist.ReadOptions{Format: of, File: in.Name, Base: c.baseOr0(), Module: module})
		}),
		Losses: losses,
		Holds:  nameRecords,
		Advice: func(c *Job, m *symfmt.Module) string { return c.adviseBase(m, losses) },
		Write: func(_ context.Context, c *Job, m *symfmt.Module, out io.Writer) error {
			return symlist.Write(out, m, options(c))
		},
		ReadFlags: []string{"base"}, WriteFlags: []string{"base"},
	}
}

// elfFormat returns the row of ELF files, which are read by dumping them.
func elfFormat() Format {
	options := func(c *Job) symelf.Options {
		o := symelf.Options{Base: c.baseOr0()}
		switch c.ByteOrder {
		case binary.LittleEndian:
			o.Order = symelf.Little
		case binary.BigEndian:
			o.Order = symelf.Big
		}
		return o
	}
	losses := func(c *Job, m *symfmt.Module) []symfmt.Loss { return symelf.Losses(m, options(c)) }
	return Format{
		Kind: filekind.ELF, Name: "elf", Exts: []string{".elf", ".so", ".debug", ".ko"}, Binary: true,
		Read:   readBinary,
		Losses: losses,
		Holds:  []symfmt.Kind{symfmt.KindFunc, symfmt.KindPublic, symfmt.KindCFIInit},
		Advice: func(c *Job, m *symfmt.Module) string { return c.adviseBase(m, losses) },
		Write: func(_ context.Context, c *Job, m *symfmt.Module, out io.Writer) error {
			return symelf.Write(out, m, options(c))
		},
		ReadFlags: []string{"cfi", "debug-dir"}, WriteFlags: []string{"base", "byte-order"},
	}
}

// dumpedFormat returns the row of Mach-O files, PE files or PDBs, which are read by dumping them
// and never written.
func dumpedFormat(name string, kind filekind.Kind, exts []string, read func(context.Context, *Job, *Input, func(*Symbols) error) error, flags ...string) Format {
	return Format{Kind: kind, Name: name, Exts: exts, Binary: true, named: true, Read: read, ReadFlags: flags}
}

// jsonFormat returns the row of one of the two forms of JSON, which lose nothing.
func jsonFormat(name string, kind filekind.Kind, lines bool, flags ...string) Format {
	return Format{
		Kind: kind, Name: name, Exts: []string{"." + name}, Text: true, Packed: true,
		Read: readWith(func(ctx context.Context, _ *Job, in *Input, r io.ReaderAt, size int64, _ func(symfmt.Loss)) (*symfmt.Result, error) {
			return symjson.Read(ctx, r, size, symjson.ReadOptions{File: in.Name})
		}),
		Write: func(_ context.Context, c *Job, m *symfmt.Module, out io.Writer) error {
			return symjson.Write(out, m, symjson.Options{Lines: lines, Indent: c.JSONIndent, Names: c.JSONNames})
		},
		WriteFlags: flags,
	}
}

// adviseBase returns advice if another --base would give addresses to more records, or "". losses
// returns a format's losses.
func (c *Job) adviseBase(m *symfmt.Module, losses func(*Job, *symfmt.Module) []symfmt.Loss) string {
	without := Job{Options: c.Options}
	without.Base = nil
	if c.Base == nil || m.Kept(losses(c, m), nameRecords...) == m.Kept(losses(&without, m), nameRecords...) {
		return ""
	}
	return fmt.Sprintf("--base %x is too high for them", *c.Base)
}

// baseOr0 returns --base, or 0.
func (c *Job) baseOr0() uint64 {
	if c.Base == nil {
		return 0
	}
	return *c.Base
}

// ByteOrders are the values of --byte-order.
var ByteOrders = []cli.Word[binary.ByteOrder]{{Text: "little", Means: binary.LittleEndian}, {Text: "big", Means: binary.BigEndian}}

// InputWriter distinguishes a failure to write from an error about a module that a format cannot
// hold.
type InputWriter struct {
	W   io.Writer
	err error
}

func (t *InputWriter) Write(p []byte) (int, error) {
	n, err := t.W.Write(p)
	if err != nil {
		t.err = err
	}
	return n, err
}

// writeFailure is an error of the underlying writer.
type writeFailure struct{ error }

// Judge classifies the error of a writer of symbols.
func (t *InputWriter) Judge(name, format string, err error) error {
	var known *cli.StatusError
	var failed writeFailure
	switch {
	case err == nil, t.err != nil, errors.As(err, &known):
		return err
	case errors.As(err, &failed):
		return failed.error
	}
	return cli.InputError(name, fmt.Errorf("is not written as %s: %w", format, err))
}
