// Package elfcore reads and writes Linux cores: ELF files of type ET_CORE whose PT_NOTE
// segments describe threads and modules, and whose PT_LOAD segments hold memory. Use Read and
// Write.
//
// Cores are written by the kernel (fs/binfmt_elf.c), by gdb's gcore, or by QEMU for the process it
// emulates. Notes are defined in the kernel's include/uapi/linux/elf.h: NT_PRSTATUS, one for each
// thread and followed by the thread's other notes, NT_PRPSINFO, NT_SIGINFO, NT_AUXV, NT_FILE. The
// thread that crashed comes first.
//
// The kernel leaves out unmodified file contents, which includes all code: Read takes them
// from the binaries named in Options.
//
// # Where we differ
//
//   - from gdb: threads have the registers that their NT_PRSTATUS holds, even if it is too short
//     for all (TestShortStatus); a core is read without its program, and modules come from NT_FILE
//     and the memory, so that the vdso is one of them (TestModules);
//   - from Breakpad, which merges mappings of a file by their neighbourhood: a
//     module is where its program headers say, with its .bss, and a file that
//     is mapped again is another module only if its code is loaded there
//     (TestMappedAgain).
package elfcore

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/regset"
)

// Options say where to find code that a core lacks. With the zero value, only the core is read.
type Options struct {
	// Binaries are files, or folders in which binaries are found by build-id (.build-id/ab/cdef...),
	// by their path in the process, by name, or by the name under which the dynamic linker opened
	// them. Unused entries are reported as problems.
	Binaries []string
	// Spare means that folders may serve other dumps, too, so that an unused one is not a problem.
	Spare bool
	// AtPaths means that binaries are also looked for at their paths in the process. A binary without a build-id must
	// agree with what the core has of it, and must not have changed since Written: dump.Module.ByPath says what was
	// compared.
	AtPaths bool
	// NoCode means that only the ids of modules are taken from binaries, and not the code that the core lacks.
	NoCode bool
	// Written is when the core was written; the zero value means now.
	Written time.Time
	// ReadFile maps or reads a binary. The result becomes part of the Dump's memory and must remain
	// valid as long as the Dump is used. nil means os.ReadFile.
	ReadFile func(path string) ([]byte, error)
	// Tried, if non-nil, is called with each file that was examined and rejected, and the
	// reason.
	Tried func(path, why string)
}

// Sniff reports whether a file that begins with these bytes is a core.
func Sniff(head []byte) bool {
	if len(head) < elf.EI_NIDENT+2 || string(head[:4]) != elf.ELFMAG {
		return false
	}
	kind := binary.LittleEndian.Uint16(head[elf.EI_NIDENT:])
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		kind = binary.BigEndian.Uint16(head[elf.EI_NIDENT:])
	}
	return elf.Type(kind) == elf.ET_CORE
}

// Format is the name of the format in dump.Dump.
const Format = "ELF core"

// Read reads the core in data; path is used in messages. The Dump's memory refers to data. If the file is not a core,
// the error is a *damage.Error. Other damage is reported in Dump.Problems.
func Read(data []byte, path string, o Options) (*dump.Dump, error) {
	r, err := newReader(data, path, o)
	if err != nil {
		return nil, err
	}
	r.readNotes()
	return r.finish(r.segmentMemory()), nil
}

// newReader reads the headers of the core in data.
func newReader(data []byte, path string, o Options) (*reader, error) {
	lim := object.DefaultLimits()
	lim.Core = true
	f, err := elfobj.NewFile(bytes.NewReader(data), int64(len(data)), path, lim)
	if err != nil {
		return nil, err
	}
	if f.Type != elf.ET_CORE {
		return nil, &damage.Error{File: path, Offset: 16, Msg: fmt.Sprintf("not a core dump: an ELF file of type %v", f.Type)}
	}
	r := &reader{data: data, f: f, o: o, word: 8}
	if f.Class == elf.ELFCLASS32 {
		r.word = 4
	}
	r.d = &dump.Dump{Format: Format, Order: f.Order, Main: -1}
	if cpu := arch.ByELF(f.Machine, f.Class); cpu != nil && cpu.Class == f.Class {
		r.d.Arch = cpu // cores of x32 and ILP32 have their own layouts
	}
	r.d.System = dump.System{OS: dump.Linux, CPU: f.Machine.String()}
	if r.d.Arch != nil {
		r.d.System.CPU = r.d.Arch.Name
	} else {
		r.problem("all registers", 18, "the layout of the registers of %v (%v) is not known", f.Machine, f.Class)
	}
	return r, nil
}

// finish returns the Dump of a process whose notes were read, with its memory.
func (r *reader) finish(memory []dump.Region) *dump.Dump {
	if r.kernel != nil {
		r.nameCPUs()
		memory = r.kernelStacks(memory)
		r.readKernel(memory)
	}
	r.loads = memory
	r.readMaps()
	r.findCrash()
	r.readArguments()
	r.readLinker()
	r.findModules()
	r.addText()
	r.findStacks()
	if r.rest != nil {
		if err := r.d.ApplyRest(r.rest.desc); err != nil {
			r.problem("what symtool stored in a note of the core", r.rest.offset, "its note: %v", err)
		}
	}
	r.d.Problems = append(r.f.Damaged, r.d.Problems...)
	return r.d
}

// reader holds the state of reading a core.
type reader struct {
	data []byte
	f    *elfobj.File
	d    *dump.Dump
	o    Options
	word int // size of an address in bytes

	files    []fileMap // from NT_FILE, by address
	signals  []signal  // one for each thread
	times    []cpuTime
	rest     *note    // symtool's own note
	xstates  []xstate // NT_X86_XSTATE of all threads
	xsave    regset.XSaveReader
	kernel   kernelInfo // nil for the core of a process
	log      *kernelLog // nil unless the kernel's memory was read
	loads    []dump.Region
	segments []dump.Mapping // the PT_LOAD segments, by address
	places   []*place       // the entries of Options.Binaries
	chosen   bool           // missing memory was not considered worth keeping
}

func (r *reader) order() binary.ByteOrder { return r.f.Order }

// problem reports damage; offset is from the start of the file.
func (r *reader) problem(lost string, offset uint64, format string, args ...any) {
	r.d.Problems = append(r.d.Problems, damage.Problem{Lost: lost,
		Err: &damage.Error{File: r.f.Path, Offset: offset, Msg: fmt.Sprintf(format, args...)}})
}

// aux returns the value of an entry of the auxiliary vector.
func (r *reader) aux(key uint64) (uint64, bool) {
	for _, a := range r.d.Auxv {
		if a.Key == key {
			return a.Value, true
		}
	}
	return 0, false
}

// Entries of the auxiliary vector (Linux, include/uapi/linux/auxvec.h).
const (
	atNull        = 0
	atPHdr        = 3
	atEntry       = 9
	atRandom      = 25
	atExecFn      = 31
	atSysinfoEHdr = 33
)
