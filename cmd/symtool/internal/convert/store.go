package convert

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/formats"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt"
)

// stored is a file that goes into a store.
type stored struct {
	in *formats.Input

	// For ELF files.
	buildID   string
	code, dbg bool   // has code, has debug information
	debugFile string // debug file to dump together with the file
}

// runStore writes the inputs to a store. A file that cannot be written does not affect the others.
func (c *converter) runStore(ctx context.Context) error {
	if err := c.checkStore(); err != nil {
		return cli.Usagef("convert", "%v", err)
	}
	defer func() {
		if c.root != nil {
			c.root.Close()
		}
	}()
	items, err := c.storedFiles()
	if err != nil {
		return err
	}
	if c.layout == "breakpad" {
		items = pair(items)
	}
	for _, it := range items {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c.report(c.storeFile(ctx, it))
		it.in.Close()
	}
	return nil
}

// checkStore rejects flags that do not apply to any file in a store.
func (c *converter) checkStore() error {
	for _, flag := range c.given {
		read, write := formats.OnlyFor(flag)
		if len(read)+len(write) > 0 && !strings.Contains(strings.Join(read, " ")+" "+strings.Join(write, " "), "breakpad") && flag != "cfi" && flag != "debug-dir" {
			return fmt.Errorf("--%s is not for stores", flag)
		}
	}
	if c.compression != nil && !store.TakesSymbols(c.layout) {
		return fmt.Errorf("--%s is for symbol files, and layout %s is for ELF files", c.compression.Name, c.layout)
	}
	return nil
}

// report prints an error that affects only one file.
func (c *converter) report(err error) {
	var status *cli.StatusError
	if err == nil {
		return
	}
	if !errors.As(err, &status) {
		status = &cli.StatusError{Status: cli.StatusInput, Err: err}
	}
	c.Status = max(c.Status, status.Status)
	c.Msgs.Printf("symtool: %v", status)
}

// storedFiles returns the files named by operands. A folder stands for the files below it, in the
// order of their names. It may also contain other kinds of files.
func (c *converter) storedFiles() (items []*stored, err error) {
	for _, operand := range c.files {
		if !cli.IsFolder(operand) {
			c.report(c.addStored(&items, operand))
			continue
		}
		others, before := 0, len(items)
		err := filepath.WalkDir(operand, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				c.report(err)
				return nil
			}
			if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
				c.report(err)
				return nil
			}
			if err := c.addStored(&items, path); err != nil {
				others++
				if c.Verbose {
					c.Msgs.Printf("symtool: %v", err)
				}
			}
			return nil
		})
		if err != nil {
			return nil, cli.InputError(operand, err)
		}
		if len(items) == before {
			c.report(cli.InputError(operand, errors.New("no symbol file or ELF file in this folder")))
		}
		if others > 0 && !c.Quiet {
			c.Msgs.Warnf("symtool: %s: %s left alone: neither symbols nor ELF", operand, text.Count(others, "file"))
		}
	}
	return items, nil
}

// addStored adds a file if a store has a place for it.
func (c *converter) addStored(items *[]*stored, path string) error {
	in, err := formats.Open(path, c.from)
	if err != nil {
		return err
	}
	if in.Format.Read == nil {
		in.Close()
		return cli.InputError(in.Name, fmt.Errorf("%s has no place in a store", in.Format.Title))
	}
	it := &stored{in: in}
	if in.Format.Binary {
		if err := it.look(); err != nil {
			in.Close()
			return cli.InputError(in.Name, err)
		}
	}
	*items = append(*items, it)
	return nil
}

// look finds out which parts an ELF file has.
func (it *stored) look() error {
	f, err := objfile.Open(it.in.Path, object.DefaultLimits())
	if err != nil {
		return err
	}
	defer f.Close()
	it.buildID, it.dbg = hex.EncodeToString(f.BuildID()), f.HasDWARF()
	it.code = f.HasCode()
	return nil
}

// pair assigns debug files to executables without debug information. It returns the other files:
// debug files that were assigned are not dumped by themselves.
func pair(items []*stored) (left []*stored) {
	debug := map[string]*stored{}
	for _, it := range items {
		if it.buildID != "" && it.dbg && !it.code && debug[it.buildID] == nil {
			debug[it.buildID] = it
		}
	}
	used := map[*stored]bool{}
	for _, it := range items {
		if d := debug[it.buildID]; d != nil && it.code && !it.dbg {
			it.debugFile, used[d] = d.in.Path, true
		}
	}
	for _, it := range items {
		if !used[it] {
			left = append(left, it)
		}
	}
	return left
}

// storeFile writes the output for one file to the store.
func (c *converter) storeFile(ctx context.Context, it *stored) error {
	binary := it.in.Format.Binary
	switch {
	case binary && store.TakesELF(c.layout):
		return c.copyELF(ctx, it)
	case binary:
		return c.dumpAs(ctx, it, func(s *formats.Symbols) error { return c.storeSymbols(ctx, it.in.Name, s) })
	case store.TakesSymbols(c.layout):
		return c.readOne(ctx, it.in, func(s *formats.Symbols) error { return c.storeSymbols(ctx, it.in.Name, s) })
	}
	return c.readOne(ctx, it.in, func(s *formats.Symbols) error { return c.storeAsELF(ctx, it.in.Name, s) })
}

// storeName matches the names of files in stores whose paths do not contain the name of the
// module.
var storeName = regexp.MustCompile(`(^|/)(executable|debuginfo|\.build-id/[0-9a-f]{2}/[0-9a-f]+(\.debug)?)$`)

// dumpAs dumps a binary. In a store ordered by build-id, the build-id is the binary's only name.
func (c *converter) dumpAs(ctx context.Context, it *stored, use func(*formats.Symbols) error) error {
	name := ""
	if storeName.MatchString(filepath.ToSlash(it.in.Path)) && it.buildID != "" {
		name = it.buildID
	}
	return c.DumpPair(ctx, it.in.Path, it.debugFile, name, use)
}

// storeSymbols writes a symbol file into the store.
func (c *converter) storeSymbols(ctx context.Context, name string, s *formats.Symbols) error {
	m := s.Module
	if m.Name == "" || slices.ContainsFunc(s.Problems, ofModule) {
		return cli.InputError(name, errors.New("no complete MODULE record: its place in a store is unknown"))
	}
	place := m.Name // the name in requests; the MODULE record that is written has U+FFFD instead of bytes that are not UTF-8
	if err := c.changeSome(name, m); err != nil {
		return err
	}
	if c.edit.name != "" {
		place = m.Name
	}
	if err := c.reportLosses(name, c.to, m); err != nil {
		return err
	}
	c.Passed = s.Passed
	f := &store.File{Contents: store.Symbols, OS: m.OS, Name: place, ID: m.ID, BuildID: codeID(m), Ext: ".sym"}
	if c.compression != nil {
		f.Ext += c.compression.Ext
	}
	return c.place(name, f, func(out io.Writer) error { return c.writeSymbols(ctx, c.to, name, m, out) })
}

// ofModule reports whether a problem is in the MODULE record.
func ofModule(p bin.Problem) bool {
	var syntax *symfmt.SyntaxError
	return errors.As(p.Err, &syntax) && syntax.Record == symfmt.KindModule.String()
}

// codeID returns the build-id of a module, or "" if it is unknown.
func codeID(m *symfmt.Module) string {
	for _, in := range m.Infos {
		if id := in.CodeID(); id != "" {
			return id
		}
	}
	return ""
}

// storeAsELF writes symbols as ELF to a store whose layout has no place for symbol files.
func (c *converter) storeAsELF(ctx context.Context, name string, s *formats.Symbols) error {
	to := formats.Named("elf")
	m := s.Module
	if err := c.changeSome(name, m); err != nil {
		return err
	}
	if err := c.reportLosses(name, to, m); err != nil {
		return err
	}
	f := &store.File{Contents: store.DebugInfo, BuildID: codeID(m)}
	return c.place(name, f, func(out io.Writer) error { return c.writeSymbols(ctx, to, name, m, out) })
}

// copyELF copies a file to the store unchanged. It copies it to both places if the file has code
// and debug information.
func (c *converter) copyELF(ctx context.Context, it *stored) error {
	var contents []store.Contents
	if it.code {
		contents = append(contents, store.Executable)
	}
	if it.dbg || !it.code {
		contents = append(contents, store.DebugInfo)
	}
	for _, what := range contents {
		err := c.place(it.in.Name, &store.File{Contents: what, BuildID: it.buildID}, func(out io.Writer) error {
			return formats.CopyFile(cli.ContextWriter{Ctx: ctx, W: out}, it.in.Path)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// place writes a file to its place in the store, unless it is already there.
func (c *converter) place(name string, f *store.File, write func(io.Writer) error) error {
	place, err := store.PathIn(c.layout, f)
	if err != nil {
		return cli.InputError(name, err)
	}
	if err := c.openStore(); err != nil {
		return err
	}
	path := filepath.Join(c.store, place)
	out, err := c.root.Begin()
	if err != nil {
		return cli.OutputError(c.store, err)
	}
	defer out.Abort()
	if err := write(out); err != nil {
		var known *cli.StatusError
		if errors.As(err, &known) {
			return err
		}
		return cli.OutputError(path, err)
	}
	outcome, existing, err := out.Publish(place)
	if err != nil {
		return cli.OutputError(path, err)
	}
	switch outcome {
	case store.Differs:
		return cli.OtherContents(filepath.Join(c.store, existing), name)
	case store.Same:
		c.placed(name, filepath.Join(c.store, existing), "already exists as")
	default:
		c.placed(name, path, "written to")
	}
	return nil
}

// openStore opens the store when the first file is written to it.
func (c *converter) openStore() (err error) {
	if c.root == nil {
		c.root, err = cli.CreateStore(c.store, false)
	}
	return err
}

func (c *converter) placed(name, path, how string) {
	if c.Verbose {
		c.Msgs.Printf("symtool: %s: %s %s", name, how, path)
	}
}
