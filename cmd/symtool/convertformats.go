package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/gsym"
	"github.com/symtool/symtool/symfmt/symcache"
	"github.com/symtool/symtool/symfmt/symelf"
	"github.com/symtool/symtool/symfmt/symjson"
	"github.com/symtool/symtool/symfmt/symlist"
)

// The rows of formats that have a package of their own: which of convert's flags go where.

// parse is a package's Read. dropped is called with what the file has and symbols have no place
// for.
type parse func(c *formatJob, in *input, r io.ReaderAt, size int64, dropped func(symfmt.Loss)) (*symfmt.Module, []bin.Problem, error)

// readWith is a row's read of a package's Read.
func readWith(parse parse) func(context.Context, *formatJob, *input, func(*symbols) error) error {
	return func(_ context.Context, c *formatJob, in *input, use func(*symbols) error) error {
		r, size, err := in.random()
		if err != nil {
			return err
		}
		var losses []symfmt.Loss
		m, problems, err := parse(c, in, r, size, func(l symfmt.Loss) { losses = append(losses, l) })
		if err != nil {
			return err
		}
		if err := c.lose(in.name, losses); err != nil {
			return err
		}
		return use(&symbols{module: m, problems: problems})
	}
}

// nameRecords are the records that most formats hold.
var nameRecords = []symfmt.Kind{symfmt.KindFunc, symfmt.KindPublic}

func gsymFormat() format {
	options := func(c *formatJob) gsym.Options {
		return gsym.Options{Version: c.gsymVersion, ByteOrder: c.byteOrder, Base: c.baseOr0(), Jobs: c.jobs}
	}
	losses := func(c *formatJob, m *symfmt.Module) []symfmt.Loss { return gsym.Losses(m, options(c)) }
	return format{
		name: "gsym", title: "a GSYM file", exts: []string{".gsym"}, match: gsym.Match, piped: true,
		read: readWith(func(c *formatJob, in *input, r io.ReaderAt, size int64, dropped func(symfmt.Loss)) (*symfmt.Module, []bin.Problem, error) {
			return gsym.Read(r, size, gsym.ReadOptions{File: in.name, Base: c.base, Dropped: dropped})
		}),
		losses: losses,
		holds:  nameRecords,
		advice: func(c *formatJob, m *symfmt.Module) string { return c.adviseBase(m, losses) },
		write: func(_ context.Context, c *formatJob, m *symfmt.Module, out io.Writer) error {
			return gsym.Write(out, m, options(c))
		},
		readFlags: []string{"base"}, writeFlags: []string{"base", "gsym-version", "byte-order"},
	}
}

func symcacheFormat() format {
	options := func(c *formatJob) symcache.Options {
		return symcache.Options{Version: uint32(c.symcacheVersion), Base: symfmt.RVA(c.baseOr0())}
	}
	return format{
		name: "symcache", title: "a symcache", exts: []string{".symcache"}, match: symcache.Match, piped: true,
		read: readWith(func(c *formatJob, in *input, r io.ReaderAt, size int64, dropped func(symfmt.Loss)) (*symfmt.Module, []bin.Problem, error) {
			return symcache.Read(r, size, symcache.ReadOptions{File: in.name, Base: symfmt.RVA(c.baseOr0()), Dropped: dropped})
		}),
		losses: func(c *formatJob, m *symfmt.Module) []symfmt.Loss { return symcache.Losses(m, options(c)) },
		holds:  nameRecords,
		advice: func(c *formatJob, m *symfmt.Module) string {
			if first, ok := symcache.FirstFar(m, options(c)); ok {
				return fmt.Sprintf("the first of those records is at %x: want --base there or a little before", uint64(first))
			}
			return ""
		},
		write: func(_ context.Context, c *formatJob, m *symfmt.Module, out io.Writer) error {
			return symcache.Write(out, m, options(c))
		},
		readFlags: []string{"base"}, writeFlags: []string{"base", "symcache-version"},
	}
}

// listFormat is one of the two lists of symbols.
func listFormat(name, title, ext string, of symlist.Format, match func([]byte) bool) format {
	options := func(c *formatJob) symlist.Options { return symlist.Options{Format: of, Base: c.baseOr0()} }
	losses := func(c *formatJob, m *symfmt.Module) []symfmt.Loss { return symlist.Losses(m, options(c)) }
	return format{
		name: name, title: title, exts: []string{ext}, match: match, text: true, packed: true,
		read: readWith(func(c *formatJob, in *input, r io.ReaderAt, size int64, _ func(symfmt.Loss)) (*symfmt.Module, []bin.Problem, error) {
			module := symfmt.Module{Name: strings.TrimSuffix(filepath.Base(in.name), ext)}
			return symlist.Read(r, size, symlist.ReadOptions{Format: of, File: in.name, Base: c.baseOr0(), Module: module})
		}),
		losses: losses,
		holds:  nameRecords,
		advice: func(c *formatJob, m *symfmt.Module) string { return c.adviseBase(m, losses) },
		write: func(_ context.Context, c *formatJob, m *symfmt.Module, out io.Writer) error {
			return symlist.Write(out, m, options(c))
		},
		readFlags: []string{"base"}, writeFlags: []string{"base"},
	}
}

// elfFormat is read by the dumper.
func elfFormat() format {
	options := func(c *formatJob) symelf.Options {
		o := symelf.Options{Base: c.baseOr0()}
		switch c.byteOrder {
		case binary.LittleEndian:
			o.Order = symelf.Little
		case binary.BigEndian:
			o.Order = symelf.Big
		}
		return o
	}
	losses := func(c *formatJob, m *symfmt.Module) []symfmt.Loss { return symelf.Losses(m, options(c)) }
	return format{
		name: "elf", title: "an ELF file", exts: []string{".elf", ".so", ".debug", ".ko"},
		match: func(head []byte) bool { return bytes.HasPrefix(head, []byte("\x7fELF")) },
		read:  readELFSymbols, frames: readELF,
		losses: losses,
		holds:  []symfmt.Kind{symfmt.KindFunc, symfmt.KindPublic, symfmt.KindCFIInit},
		advice: func(c *formatJob, m *symfmt.Module) string { return c.adviseBase(m, losses) },
		write: func(_ context.Context, c *formatJob, m *symfmt.Module, out io.Writer) error {
			return symelf.Write(out, m, options(c))
		},
		readFlags: []string{"cfi", "debug-dir"}, writeFlags: []string{"base", "byte-order"},
	}
}

// jsonFormat is one of the two forms of JSON, which are loss-free.
func jsonFormat(name, title string, lines bool, match func([]byte) bool, flags ...string) format {
	return format{
		name: name, title: title, exts: []string{"." + name}, match: match, text: true, packed: true,
		read: readWith(func(_ *formatJob, in *input, r io.ReaderAt, size int64, _ func(symfmt.Loss)) (*symfmt.Module, []bin.Problem, error) {
			return symjson.Read(r, size, symjson.ReadOptions{File: in.name})
		}),
		write: func(_ context.Context, c *formatJob, m *symfmt.Module, out io.Writer) error {
			return symjson.Write(out, m, symjson.Options{Lines: lines, Indent: c.jsonIndent, Names: c.jsonNames})
		},
		writeFlags: flags,
	}
}

// adviseBase is the advice for records that --base would give an address. losses are those of a
// format.
func (c *formatJob) adviseBase(m *symfmt.Module, losses func(*formatJob, *symfmt.Module) []symfmt.Loss) string {
	without := formatJob{formatOptions: c.formatOptions}
	without.base = nil
	if c.base == nil || m.Kept(losses(c, m), nameRecords...) == m.Kept(losses(&without, m), nameRecords...) {
		return ""
	}
	return fmt.Sprintf("--base %x is too high for them", *c.base)
}

// baseOr0 is --base, or 0.
func (c *formatJob) baseOr0() uint64 {
	if c.base == nil {
		return 0
	}
	return *c.base
}

// byteOrders are the values of --byte-order.
var byteOrders = map[string]binary.ByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian}

// inputWriter separates a failure to write from a module that a format cannot hold.
type inputWriter struct {
	w   io.Writer
	err error
}

func (t *inputWriter) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	if err != nil {
		t.err = err
	}
	return n, err
}

// judge classifies the error of a writer of symbols.
func (t *inputWriter) judge(name, format string, err error) error {
	if err == nil || t.err != nil {
		return err
	}
	return inputError(name, fmt.Errorf("is not written as %s: %w", format, err))
}
