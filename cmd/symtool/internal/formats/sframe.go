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
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/symsframe"
)

// readELF takes the rules of .eh_frame, .debug_frame or .sframe.
func readELF(ctx context.Context, c *Job, in *Input) (*Unwinding, error) {
	f, err := openLinked(in.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cpu := f.Arch
	abi, ok := symsframe.ABIOf(cpu, binary.ByteOrder(f.Order))
	if cpu == nil || !ok {
		name := f.CPU
		if cpu != nil {
			name = cpu.Name
		}
		return nil, fmt.Errorf("SFrame is not for %s", name)
	}
	u := &Unwinding{abi: abi}
	section, err := symsframe.Open(f)
	if err == nil {
		u.addr = section.Addr
	}
	if c.Source != dwarf2sym.CFISFrame {
		frames, err := dwarf2sym.ReadCFI(ctx, f, nil)
		if err != nil {
			return nil, err
		}
		u.Damage = frames.Problems
		if len(frames.Table.Blocks) > 0 {
			u.Funcs, u.Lost = symsframe.FromCFI(&frames.Table, abi, f.Base)
			return u, nil
		}
	}
	switch {
	case c.Source == dwarf2sym.CFIDWARF:
		return nil, errors.New("no rules in .eh_frame and .debug_frame")
	case errors.Is(err, symsframe.ErrNone) && c.Source == dwarf2sym.CFIAuto:
		return nil, fmt.Errorf("no rules in .eh_frame and .debug_frame, and %w", err)
	case err != nil:
		return nil, err
	}
	return u, u.takeSection(section)
}

// openLinked refuses objects, whose functions have no addresses yet.
func openLinked(path string) (*object.File, error) {
	f, err := objfile.Open(path, object.DefaultLimits())
	if err == nil && f.Kind == object.Relocatable {
		f.Close()
		err = errors.New("a relocatable file: its functions have no addresses before it is linked")
	}
	return f, err
}

// takeSection takes the functions of a section.
func (u *Unwinding) takeSection(s *sframe.Section) error {
	for i := range s.Headers {
		if abi := s.Headers[i].ABI; abi != u.abi {
			return fmt.Errorf("%s: %s, want %s", s.Name, abi, u.abi)
		}
	}
	funcs, problems := s.Funcs()
	u.Funcs, u.Damage = funcs, append(u.Damage, append(s.Problems, problems...)...)
	return nil
}

// readSFrameSection takes a section by itself.
func readSFrameSection(_ context.Context, c *Job, in *Input) (*Unwinding, error) {
	section, addr, err := c.decodeSection(in)
	if err != nil {
		return nil, err
	}
	u := &Unwinding{addr: addr, abi: section.Headers[0].ABI}
	return u, u.takeSection(section)
}

// decodeSection decodes a section by itself, and returns the address that it is for.
func (c *Job) decodeSection(in *Input) (section *sframe.Section, addr uint64, err error) {
	data, err := os.ReadFile(in.Path)
	if err != nil {
		return nil, 0, err
	}
	if c.Address != nil {
		addr = *c.Address
	}
	section, err = sframe.Decode(data, sframe.Options{Addr: addr})
	return section, addr, err
}

// readSFrameSymbols reads a section by itself as a module with STACK CFI only. Its
// addresses count from 0, where shared libraries begin.
func readSFrameSymbols(_ context.Context, c *Job, in *Input, use func(*Symbols) error) error {
	section, _, err := c.decodeSection(in)
	if err != nil {
		return err
	}
	cpu := symsframe.CPU(section.Headers[0].ABI)
	if cpu == nil {
		return fmt.Errorf("%s: no CPU that symbol files have a name for", section.Headers[0].ABI)
	}
	m := &symfmt.Module{OS: "Linux", Arch: cpu.Name, ID: noID, Name: filepath.Base(in.Name)}
	_, problems := symsframe.AppendCFI(&m.CFI, section, symsframe.ToOptions{})
	return use(&Symbols{Module: m, Problems: append(section.Problems, problems...)})
}

// noID is the id of a module without an id.
const noID = "000000000000000000000000000000000"

// FramesOf takes the STACK CFI of symbols. Its addresses count from the load base of
// the binary of --add; without one, from 0, where shared libraries begin.
func (c *Job) FramesOf(s *Symbols) (*Unwinding, error) {
	m := s.Module
	if len(m.CFI.Blocks) == 0 {
		return nil, errors.New("no STACK CFI")
	}
	cpu, base := arch.ByName(m.Arch), uint64(0)
	orders := []binary.ByteOrder{binary.LittleEndian, binary.BigEndian}
	if c.Binary != "" {
		f, err := openLinked(c.Binary)
		if err != nil {
			return nil, cli.InputError(c.Binary, err)
		}
		defer f.Close()
		base, orders = f.Base, []binary.ByteOrder{f.Order}
	}
	u := &Unwinding{Damage: s.Problems}
	u.Left = m.LossOf("an SFrame section has unwind information only", symfmt.KindInfo, symfmt.KindFile, symfmt.KindInlineOrigin,
		symfmt.KindFunc, symfmt.KindInline, symfmt.KindLine, symfmt.KindPublic, symfmt.KindStackWin)
	for _, order := range orders {
		if abi, ok := symsframe.ABIOf(cpu, order); ok {
			u.abi = abi
			u.Funcs, u.Lost = symsframe.FromCFI(&m.CFI, abi, base)
			return u, nil
		}
	}
	return nil, fmt.Errorf("SFrame is not for %s", m.Arch)
}

// writeSFrame writes the section, or with --add the binary with it.
func writeSFrame(ctx context.Context, c *Job, u *Unwinding, out io.Writer) error {
	if c.Binary != "" {
		return c.add(ctx, u, out)
	}
	addr := u.addr
	if c.Address != nil {
		addr = *c.Address
	}
	data, err := c.encode(u, addr)
	if err == nil {
		err = c.Strictly(u.Lost)
	}
	if err == nil {
		_, err = out.Write(data)
	}
	return err
}

func (c *Job) encode(u *Unwinding, addr uint64) ([]byte, error) {
	data, problems, err := sframe.Encode(u.Funcs, sframe.Target{Version: c.Version, ABI: u.abi, Addr: addr})
	if err != nil {
		return nil, err
	}
	u.Lost = append(u.Lost, problems...)
	section, err := sframe.Decode(data, sframe.Options{Addr: addr})
	if err == nil && len(section.FDEs) == 0 {
		c.ReportProblems(u.Name, u.Lost, cli.StatusFindings)
		err = &cli.StatusError{Status: cli.StatusInput, Err: errors.New("nothing is written: none of its functions has a place in an SFrame section")}
	}
	return data, err
}

// add writes a copy of the binary with the section in it. The output of objcopy is read again: the
// section has to be where it was written for.
func (c *Job) add(ctx context.Context, u *Unwinding, out io.Writer) error {
	old, err := c.openBinary(u)
	if err != nil {
		return cli.InputError(c.Binary, err)
	}
	addr, change := uint64(0), "--add-section"
	if old != nil {
		addr, change = old.Addr, "--update-section"
	}
	data, err := c.encode(u, addr)
	if err == nil {
		err = c.Strictly(u.Lost)
	}
	if err != nil {
		return err
	}
	if old != nil && uint64(len(data)) > uint64(old.Size()) {
		return cli.InputError(c.Binary, fmt.Errorf("its .sframe has %d bytes, the new one %d: take the old one away first (objcopy --remove-section .sframe)",
			old.Size(), len(data)))
	}
	dir, err := os.MkdirTemp("", "symtool-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	made, err := runObjcopy(ctx, dir, change, data, c.Binary)
	if err != nil {
		return err
	}
	if err := checkAdded(made, addr, data); err != nil {
		return err
	}
	return CopyFile(out, made)
}

// openBinary checks that the binary of --add fits the section, and returns its own, if any.
func (c *Job) openBinary(u *Unwinding) (*object.Section, error) {
	f, err := openLinked(c.Binary)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	abi, ok := symsframe.ABIOf(f.Arch, binary.ByteOrder(f.Order))
	if !ok || abi != u.abi {
		return nil, fmt.Errorf("a binary of %v, %v; the section is of %s", f.CPU, f.Order, u.abi)
	}
	return f.Section(".sframe"), nil
}

// objcopies are the programs that change sections; the first may not support the binary's CPU.
var objcopies = []string{"objcopy", "llvm-objcopy"}

// runObjcopy returns the path of a copy of the binary in dir.
func runObjcopy(ctx context.Context, dir, change string, section []byte, binary string) (string, error) {
	content, made := filepath.Join(dir, "sframe"), filepath.Join(dir, "binary")
	if err := os.WriteFile(content, section, 0o600); err != nil {
		return "", err
	}
	failed := fmt.Errorf("neither %s is here: write the section with --output, then run objcopy %s .sframe=SECTION %s OUTPUT where it is",
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

// checkAdded reads the section of a binary again.
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
