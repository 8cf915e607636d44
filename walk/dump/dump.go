// Package dump defines Dump, the model of a process that crashed or was captured in a snapshot:
// threads with their registers, modules, memory, and the reason. Readers of minidumps and ELF cores
// produce a Dump; the walker and the writers consume it. The package knows no formats and no
// symbols.
//
// Addresses are those of the process. Unless documented otherwise, numbers and texts that a dump
// lacks are 0 and "".
package dump

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/damage"
)

// Dump is a crashed or captured process.
type Dump struct {
	Format string           // "minidump", "ELF core"
	Order  binary.ByteOrder // of words in memory
	Arch   *arch.Arch       // nil for an unknown CPU
	System System
	Time   time.Time // when the dump was written, as it says
	// Modified is when the dump's file was last changed, or zero without a file.
	Modified time.Time

	// Size is the size of the file in bytes, or 0 without a file. Limits on what is computed from the dump depend on
	// it. For a compressed file it is the unpacked size, but at most a multiple of the compressed size.
	Size int64

	Process Process
	// Tags are the bits of pointers that are not part of the address, in addition to Arch.AddressTag: pointer
	// authentication codes, and tags if the process has enabled them.
	Tags     uint64
	Threads  []Thread  // in the order of the dump
	Modules  []Module  // by address; none overlaps another (see SetModules)
	Unloaded []Module  // modules that were unloaded, by address
	Memory   Memory    // memory that the dump contains
	Maps     []Mapping // mappings of the process, by address
	Crash    *Crash    // nil for a snapshot of a process that did not crash

	// Main is the index in Modules of the program itself, or -1.
	Main int
	// Requester is the id of the thread that requested the dump, as recorded by Breakpad's
	// writer, if HasRequester is set. Writer is likewise the thread that wrote the dump.
	Requester, Writer       uint32
	HasRequester, HasWriter bool

	Auxv        []Aux
	Linker      *Linker
	Files       []File       // texts that the writer copied: "/proc/cpuinfo", ...
	Annotations []Annotation // Crashpad's
	Assertion   *Assertion
	Comment     string
	Kernel      *Kernel // nil unless the dump is of a Linux kernel

	// ReportID and ClientID are the GUIDs that Crashpad gave to the dump and to
	// the installation of the program, or "".
	ReportID, ClientID string

	Handles int // number of open handles in the dump, on Windows

	Parts    []Part           // streams or notes, in the order of the file
	Problems []damage.Problem // damage, and what it cost
}

// OS is an operating system.
type OS uint8

// The systems.
const (
	UnknownOS OS = iota
	Linux
	Android
	Windows
	MacOS
	IOS
	Solaris
	Fuchsia
	FreeBSD
)

var osNames = [...]string{"unknown", "Linux", "Android", "Windows", "macOS", "iOS", "Solaris", "Fuchsia", "FreeBSD"}

// String returns the system's name.
func (o OS) String() string { return osNames[o] }

// IsLinux reports whether the system uses the Linux kernel.
func (o OS) IsLinux() bool { return o == Linux || o == Android }

// Base returns the last element of a path of this system.
func (o OS) Base(path string) string {
	separators := "/"
	if o == Windows || o == UnknownOS {
		separators = `/\`
	}
	return path[strings.LastIndexAny(path, separators)+1:]
}

// CPU returns the name of the CPU in MODULE records (x86_64), or the dump's own name if its
// registers are unknown.
func (d *Dump) CPU() string {
	if d.Arch != nil {
		return d.Arch.Name
	}
	return d.System.CPU
}

// System is the machine and its operating system.
type System struct {
	OS      OS
	Version string // "5.1.2600", "10.13.3"
	Build   string // further part of the version: "Service Pack 2", or uname's output
	CPU     string // as named by the dump's format: amd64 in minidumps. Cores have numbers; for them it is Arch's name or EM_...
	Model   string // vendor, family, model, stepping: "GenuineIntel family 6 model 13 stepping 8"
	Detail  string // further information about the system from the dump's writer, as text
	CPUs    int
	GPU     *GPU // nil if unknown
}

// GPU is the graphics processor, as OpenGL describes it.
type GPU struct{ Version, Vendor, Renderer string }

// Process identifies the process.
type Process struct {
	ID      uint32
	HasID   bool
	Parent  uint32
	UID     uint32
	GID     uint32
	Name    string   // as the system shortens it, without folders
	Args    []string // command line
	Env     []string // "NAME=value"
	Started time.Time
	User    time.Duration // processor time in user mode
	Kernel  time.Duration
}

// Thread is a thread.
type Thread struct {
	ID      uint32
	Name    string
	Context *Context // nil if the dump lacks it, or it cannot be read
	Stack   Range    // part of its stack that is in the dump; size 0 if none
	TEB     uint64   // on Windows, its environment block; elsewhere the thread pointer, if no register has it
	Signal  int      // on Linux, the signal that stopped it, from a core
	Suspend uint32   // suspend count
	Prio    uint32   // priority, with Class
	Class   uint32
}

// Range is [Addr, Addr+Size).
type Range struct{ Addr, Size uint64 }

// Contains reports whether an address is in the range.
func (r Range) Contains(addr uint64) bool { return addr-r.Addr < r.Size }

// Module is a program or a library in memory.
type Module struct {
	Range
	Listed    uint64 // size in the dump's list of modules, if it differs from Size, which the dump itself shows; otherwise 0
	Path      string // of the file, as the process saw it
	Deleted   bool   // the file was deleted or replaced while it was mapped; ELF cores and processes only
	DebugFile string // name of its debug information without folders: of the PDB, or DT_SONAME if known, or the last element of Path
	DebugPath string // the PDB with folders, as in the module's record; or ""
	DebugID   string // Breakpad's debug id, as in MODULE records; "" if unknown
	CodeID    string // build-id, or time and size, in lower-case hexadecimal; "" if unknown
	BuildID   []byte // ELF
	Version   string // of the file: "5.1.2600.2180"
	Product   string // version of the product that the file belongs to
	Time      uint32 // PE: time stamp
	Checksum  uint32
	Bias      uint64 // difference between an address in memory and the same address in the file; ELF cores only
	// ByPath describes the file at the module's path, if the dump does not contain the module's id and the file was
	// not given explicitly. If the module got its id from the file, ByPath says what was compared with memory;
	// without a DebugID, it says why the file was not accepted.
	ByPath string
}

// ListedSize returns the size of a module according to the dump's list, as other programs print it.
func (m *Module) ListedSize() uint64 {
	if m.Listed != 0 {
		return m.Listed
	}
	return m.Size
}

// Mapping is a part of the address space.
type Mapping struct {
	Range
	Read, Write, Exec, Shared bool
	Unknown                   bool   // the dump does not say what the mapping can be used for
	Offset                    uint64 // in the file
	Device                    string // "fd:01"
	Inode                     uint64
	Path                      string

	// From MEMORY_BASIC_INFORMATION, on Windows.
	State, Type, Protect uint32
	AllocBase            uint64
	AllocProtect         uint32
}

// Aux is an entry of the auxiliary vector.
type Aux struct{ Key, Value uint64 }

// Linker is what the dynamic linker of a Unix system publishes for debuggers: its r_debug and the
// list of link maps, in the linker's order.
type Linker struct {
	Version uint32
	Break   uint64 // r_brk: address of the function called when the list changes
	Base    uint64 // r_ldbase: address of the linker itself
	Dynamic uint64 // address of the program's dynamic section
	Section []byte // its contents
	Maps    []LinkMap
}

// LinkMap is a program or library as the dynamic linker knows it.
type LinkMap struct {
	Addr    uint64 // difference between an address in memory and in the file
	Name    string // "" for the program itself
	Dynamic uint64 // address of its dynamic section
}

// Kernel is what the memory of a Linux kernel shows about its panic. If something is unknown, another field says what
// the dump lacks.
type Kernel struct {
	PanicCPU   int      // index in Threads, or -1
	CPUMissing string   `json:",omitempty"`
	Log        []string `json:",omitempty"` // the last lines, as dmesg prints them
	LogMissing string   `json:",omitempty"`
}

// File is a text that the dump's writer copied.
type File struct {
	Name string
	Data []byte
}

// Annotation is a key and value set by the program's crash reporter, or a value
// without a key.
type Annotation struct {
	Module     string // path of the module that set it; "" for the process
	Key, Value string
}

// Assertion is a failed check of Microsoft's C library.
type Assertion struct {
	Expression, Function, File string
	Line, Type                 uint32
}

// Part is a stream or a note of the file.
type Part struct {
	Type   uint32
	Name   string // "MD_THREAD_LIST_STREAM", "NT_PRSTATUS"; "" for an unknown one
	Offset uint64
	Size   uint64
}
