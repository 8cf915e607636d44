package formats

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/symsframe"
)

// readRules reads only the unwind rules, from .eh_frame, .debug_frame or .sframe.
func readRules(ctx context.Context, c *Job, in *Input, use func(*Symbols) error) error {
	f, err := openLinked(in.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	cpu := f.Arch
	if _, ok := symsframe.ABIOf(cpu, binary.ByteOrder(f.Order)); cpu == nil || !ok {
		name := f.CPU
		if cpu != nil {
			name = cpu.Name
		}
		return fmt.Errorf("SFrame does not support %s", name)
	}
	s := rulesOf(cpu, in, Image{Base: f.Base, Order: f.Order})
	section, err := symsframe.Open(f)
	if err == nil {
		s.Image.Section = section.Addr
	}
	if c.Source != dwarf2sym.CFISFrame {
		frames, err := dwarf2sym.Read(ctx, f, dwarf2sym.Options{CFIOnly: true, CFI: dwarf2sym.CFIDWARF, Name: in.Name})
		if err != nil {
			return err
		}
		s.Problems = frames.Problems
		if len(frames.Module.CFI.Blocks) > 0 {
			s.Module.CFI = frames.Module.CFI
			return use(s)
		}
	}
	switch {
	case c.Source == dwarf2sym.CFIDWARF:
		return errors.New("no rules in .eh_frame and .debug_frame")
	case errors.Is(err, symsframe.ErrNone) && c.Source == dwarf2sym.CFIAuto:
		return fmt.Errorf("no rules in .eh_frame and .debug_frame, and %w", err)
	case err != nil:
		return err
	}
	return s.addSection(section, use)
}

// rulesOf returns symbols for an input, still without records.
func rulesOf(cpu *arch.Arch, in *Input, image Image) *Symbols {
	m := &symfmt.Module{OS: "Linux", Arch: cpu.Name, ID: noID, Name: filepath.Base(in.Name)}
	return &Symbols{Module: m, Image: image}
}

// noID is the id of a module without an id.
const noID = "000000000000000000000000000000000"

// addSection adds the rules of a section, and passes the symbols to use.
func (s *Symbols) addSection(section *sframe.Section, use func(*Symbols) error) error {
	for i := range section.Headers {
		if abi, first := section.Headers[i].ABI, section.Headers[0].ABI; abi != first {
			return fmt.Errorf("%s: %s, want %s", section.Name, abi, first)
		}
	}
	_, problems := symsframe.AppendCFI(&s.Module.CFI, section, symsframe.ToOptions{Base: s.Image.Base})
	s.Problems = append(s.Problems, append(section.Problems, problems...)...)
	return use(s)
}

// openLinked opens a linked binary. It rejects object files, whose functions have no addresses
// yet.
func openLinked(path string) (*object.File, error) {
	f, err := objfile.Open(path, object.DefaultLimits())
	if err == nil && f.Kind == object.Relocatable {
		f.Close()
		err = errors.New("a relocatable file: its functions have no addresses until it is linked")
	}
	return f, err
}

// readSFrame reads a bare section as a module with only STACK CFI. Addresses count from 0, where
// shared libraries begin.
func readSFrame(_ context.Context, c *Job, in *Input, use func(*Symbols) error) error {
	data, err := os.ReadFile(in.Path)
	if err != nil {
		return err
	}
	image := Image{}
	if c.Address != nil {
		image.Section = *c.Address
	}
	section, err := sframe.Decode(data, sframe.Options{Addr: image.Section})
	if err != nil {
		return err
	}
	abi := section.Headers[0].ABI
	cpu := symsframe.CPU(abi)
	if cpu == nil {
		return fmt.Errorf("%s: symbol files have no name for its CPU", abi)
	}
	image.Order = abi.Order()
	return rulesOf(cpu, in, image).addSection(section, use)
}

// sframeLosses returns the loss of all records other than STACK CFI. writeSFrame reports, function
// by function, which STACK CFI records SFrame cannot express.
func sframeLosses(_ *Job, m *symfmt.Module) []symfmt.Loss {
	return m.LossOf("an SFrame section holds only unwind information", symfmt.KindInfo, symfmt.KindFile, symfmt.KindInlineOrigin,
		symfmt.KindFunc, symfmt.KindInline, symfmt.KindLine, symfmt.KindPublic, symfmt.KindStackWin)
}

// sframeWriter writes one section.
type sframeWriter struct {
	*Job
	abi   sframe.ABI
	funcs []sframe.Func // at the binary's addresses
	lost  []bin.Problem // rules that SFrame cannot express
}

// writeSFrame writes the section or, with --add, the binary with the section.
func writeSFrame(ctx context.Context, c *Job, m *symfmt.Module, out io.Writer) error {
	w := sframeWriter{Job: c}
	if err := w.take(m); err != nil {
		return err
	}
	if c.Binary != "" {
		return w.add(ctx, out)
	}
	addr := c.Image.Section
	if c.Address != nil {
		addr = *c.Address
	}
	data, err := w.encode(addr)
	if err == nil {
		_, err = out.Write(data)
	}
	return err
}

// take adds the STACK CFI of a module. If nothing is known about its binary, addresses count from
// the load base of the binary of --add, or without one from 0, where shared libraries begin.
func (w *sframeWriter) take(m *symfmt.Module) error {
	if len(m.CFI.Blocks) == 0 {
		return cli.InputError(w.Name, errors.New("no STACK CFI"))
	}
	image := w.Image
	if image.Order == nil && w.Binary != "" {
		f, err := openLinked(w.Binary)
		if err != nil {
			return cli.InputError(w.Binary, err)
		}
		defer f.Close()
		image = Image{Base: f.Base, Order: f.Order}
	}
	orders := []binary.ByteOrder{binary.LittleEndian, binary.BigEndian}
	if image.Order != nil {
		orders = []binary.ByteOrder{image.Order}
	}
	for _, order := range orders {
		if abi, ok := symsframe.ABIOf(arch.ByName(m.Arch), order); ok {
			w.abi = abi
			w.funcs, w.lost = symsframe.FromCFI(&m.CFI, abi, image.Base)
			return nil
		}
	}
	return cli.InputError(w.Name, fmt.Errorf("SFrame does not support %s", m.Arch))
}

// encode returns the section for the address addr, and reports what SFrame could not express.
func (w *sframeWriter) encode(addr uint64) ([]byte, error) {
	data, problems, err := sframe.Encode(w.funcs, sframe.Target{Version: w.Version, ABI: w.abi, Addr: addr})
	if err != nil {
		return nil, err
	}
	w.lost = append(w.lost, problems...)
	section, err := sframe.Decode(data, sframe.Options{Addr: addr})
	if err != nil {
		return nil, err
	}
	w.ReportProblems(w.Name, w.lost, cli.StatusFindings)
	if len(section.FDEs) == 0 {
		return nil, &cli.StatusError{Status: cli.StatusInput, Err: errors.New("nothing is written: none of its functions fits an SFrame section")}
	}
	if err := w.Strictly(w.lost); err != nil {
		return nil, err
	}
	if w.Verbose {
		w.Msgs.Printf("symtool: %s: %s, %d left out", w.Name, text.Count(len(w.funcs), "function"), len(w.lost))
	}
	return data, nil
}

// add writes a copy of the binary with the section added. It reads objcopy's output again to check
// that the section is at addr, the address it was encoded for.
func (w *sframeWriter) add(ctx context.Context, out io.Writer) error {
	old, err := w.openBinary()
	if err != nil {
		return cli.InputError(w.Binary, err)
	}
	addr, change := uint64(0), "--add-section"
	if old != nil {
		addr, change = old.Addr, "--update-section"
	}
	data, err := w.encode(addr)
	if err != nil {
		return err
	}
	if old != nil && uint64(len(data)) > uint64(old.Size()) {
		return cli.InputError(w.Binary, fmt.Errorf("its .sframe has %d bytes, the new one %d: remove the old one first (objcopy --remove-section .sframe)",
			old.Size(), len(data)))
	}
	if err := w.addTo(ctx, out, change, data, addr); err != nil {
		return writeFailure{err}
	}
	return nil
}

// addTo writes a copy of the binary with the section at addr.
func (w *sframeWriter) addTo(ctx context.Context, out io.Writer, change string, data []byte, addr uint64) error {
	dir, err := os.MkdirTemp("", "symtool-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	made, err := runObjcopy(ctx, dir, change, data, w.Binary)
	if err != nil {
		return err
	}
	if err := checkAdded(made, addr, data); err != nil {
		return err
	}
	return CopyFile(out, made)
}

// openBinary checks that the binary of --add fits the section. It returns the binary's own .sframe
// section, if any.
func (w *sframeWriter) openBinary() (*object.Section, error) {
	f, err := openLinked(w.Binary)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	abi, ok := symsframe.ABIOf(f.Arch, binary.ByteOrder(f.Order))
	if !ok || abi != w.abi {
		return nil, fmt.Errorf("a binary of %v, %v; the section is of %s", f.CPU, f.Order, w.abi)
	}
	return f.Section(".sframe"), nil
}

// objcopies are the programs that can change sections, in order of preference; the first may not
// support the binary's CPU.
var objcopies = []string{"objcopy", "llvm-objcopy"}

// runObjcopy returns the path of a copy of the binary in dir.
func runObjcopy(ctx context.Context, dir, change string, section []byte, binary string) (string, error) {
	content, made := filepath.Join(dir, "sframe"), filepath.Join(dir, "binary")
	if err := os.WriteFile(content, section, 0o600); err != nil {
		return "", err
	}
	failed := fmt.Errorf("neither %s was found: write the section with --output, then run objcopy %s .sframe=SECTION %s OUTPUT on a machine that has it",
		strings.Join(objcopies, " nor "), change, binary)
	for _, name := range objcopies {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		var said bytes.Buffer
		run := exec.CommandContext(ctx, path, change, ".sframe="+content, binary, made)
		run.Stderr = &said
		if err = run.Run(); err == nil {
			return made, nil
		}
		failed = fmt.Errorf("%s: %s: %w: %s", binary, name, err, strings.TrimSpace(said.String()))
	}
	return "", failed
}

// checkAdded reads a binary's section again and checks that it is at addr and contains want.
func checkAdded(path string, addr uint64, want []byte) error {
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		return err
	}
	defer f.Close()
	s := f.Section(".sframe")
	if s == nil {
		return errors.New("objcopy left the section out")
	}
	data, err := s.Data()
	switch {
	case err != nil:
		return err
	case s.Addr != addr:
		return fmt.Errorf("objcopy put the section at %#x, want %#x", s.Addr, addr)
	case !bytes.Equal(data, want):
		return errors.New("objcopy changed the section")
	}
	return nil
}

// CopyFile writes the contents of a file to out.
func CopyFile(out io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(out, f)
	return err
}
