package dwarf2sym

import (
	"fmt"

	"github.com/symtool/symtool/dwarf2sym/internal/callframe"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/pdb"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// Options control what Read reads and returns.
type Options struct {
	Jobs      int  // number of workers; GOMAXPROCS if not positive
	NoInlines bool // leave out INLINE and INLINE_ORIGIN
	NoCFI     bool // leave out STACK CFI
	CFIOnly   bool // only MODULE, INFO and STACK CFI
	CFI       CFISource
	// NoFuncs makes a Lookup read no debug information except call frame information: functions are known only by
	// their symbols.
	NoFuncs bool

	// Name, ID and OS replace the file's own fields of MODULE. Without Name, the name is DT_SONAME or the name of the
	// file.
	Name, ID, OS string

	// FileName is the file's name if its path does not contain it, as in a store by build-id.
	FileName string

	// PrefixMap replaces prefixes of FILE names; the last matching entry applies,
	// as with GCC's -ffile-prefix-map.
	PrefixMap []srcmap.Prefix
	// Mapping, if non-nil, replaces whole FILE names, after PrefixMap.
	Mapping *srcmap.Mapping

	// Debug is the separate debug file, if any. Supplement is the file into which dwz moved what several debug files
	// share (DWARF 5, 7.3.6), if the debug information links to one. ReadFile searches for those that are nil.
	Debug, Supplement symfmt.Binary
	// PDB is the PDB of a Windows binary, if any. It replaces the functions, lines and public symbols of the binary.
	// ReadFile searches for it if nil.
	PDB *pdb.File

	// DebugDirs are the folders that ReadFile searches; nil means DefaultDebugDir. Files named by a link are also
	// searched for beside the linking file.
	DebugDirs []string

	// Spill keeps the inlines and lines of a large file in a temporary file until Result.Close.
	Spill bool

	// DwoDirs are folders with .dwo files, or with the objects from which a Mach-O file was linked, in addition to
	// those recorded in the file.
	DwoDirs []string
	// AnyObjectTime accepts objects that were changed after the file was linked.
	AnyObjectTime bool
	// Package is the path of a .dwp file; empty means the file's path followed by .dwp.
	Package string

	// Hermetic means that no other files are read than Package and those below DwoDirs and DebugDirs.
	Hermetic bool

	// Opened, if non-nil, is called with the path of each additional file opened
	// here, including rejected ones. It may be called concurrently, in any order.
	Opened func(path string)

	// Vars selects the parameters and local variables to put into Module.Vars. The zero value leaves
	// it nil.
	Vars VarOptions

	Demangle  bool   // demangle names; otherwise they are as in the file
	LateNames bool   // keep names as in the file until the Module is written with Result.Names
	Generator string // value of INFO GENERATOR; empty for no record

	// Progress, if non-nil, is called with the number of bytes of .debug_info
	// done, and their total. It may be called concurrently.
	Progress func(done, total int64)
}

// limits returns the limits for additional files.
func (o *Options) limits() object.Limits {
	limits := object.DefaultLimits()
	limits.Opened = o.Opened
	return limits
}

// funcs returns the options for the readers of functions.
func (o *Options) funcs() *funcs.Options {
	return &funcs.Options{NoInlines: o.NoInlines, Demangle: o.Demangle, PrefixMap: o.PrefixMap, Mapping: o.Mapping}
}

// CFISource selects the source of STACK CFI.
type CFISource uint8

// The sources of STACK CFI.
const (
	// CFIAuto means DWARF, or SFrame if DWARF describes no code. Functions of ELF files for x86-64, arm64 and 64-bit RISC-V
	// that have no rules get them from their instructions.
	CFIAuto CFISource = iota
	// CFIDWARF means .eh_frame, .debug_frame and .ARM.exidx.
	CFIDWARF
	// CFISFrame means .sframe: rules for CFA, return address and frame pointer only.
	CFISFrame
)

// sources returns the sources that may be read.
func (s CFISource) sources() callframe.Sources {
	return callframe.Sources{DWARF: s != CFISFrame, SFrame: s != CFIDWARF, Code: s == CFIAuto}
}

// Result holds the symbols of a file, and describes what was lost.
type Result struct {
	Module *symfmt.Module

	NoDebugInfo bool             // neither file has .debug_info
	ORC         bool             // there is .orc_unwind, the Linux kernel's unwind information, which is not supported
	Problems    []symfmt.Problem // in order of sections and offsets
	Tried       []symfmt.Tried   // from ReadFile: each place searched in vain for a debug file that was needed
	Mapped      []srcmap.File    // files whose content Options.Mapping put into the name of a FILE, by path
	Stats       Stats
	Extents     symfmt.Extents

	Others        []string // other files that were read: the supplementary file, packages, .dwo files
	LostObjects   int      // number of objects from which a Mach-O file was linked that are missing, or were changed since
	Newer         []string // objects changed after the file was written, which does not record when it was linked
	PackageUnused bool     // Options.Package was given, but no unit is split

	FileName    string // the file's name, if MODULE has a DT_SONAME that differs
	NameGuessed bool   // MODULE has the name of a debug file; the binary most likely has another name

	spill *object.Scratch // nil without Options.Spill
	late  *lateNaming     // nil without Options.LateNames
}

// Doubt returns why lines of the file at path may be wrong, or "" if there is no reason to think so.
func (r *Result) Doubt(path string) string {
	if len(r.Newer) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: has lines of %s changed after it was written, such as %s: they are wrong if that was compiled again",
		path, text.Count(len(r.Newer), "object"), r.Newer[0])
}

// Close removes the temporary file of Options.Spill. The Module must not be used
// afterwards.
func (r *Result) Close() error {
	if r.spill == nil {
		return nil
	}
	return r.spill.Close()
}

// Drop releases the memory of what Options.Spill put into a temporary file; it is read again on demand. Drop may be
// used as symfmt.WriteOptions.Passed.
func (r *Result) Drop() {
	if r.spill != nil {
		r.spill.Drop()
	}
}
