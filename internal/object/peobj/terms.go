package peobj

import (
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// terms are the terms for CPUs that have .pdata.
var terms = object.Terms{
	Tables:     [2]string{object.Symtab: "COFF symbols", object.Dynamic: "exports"},
	Unwind:     []string{".pdata", ".xdata", ".eh_frame", ".debug_frame"},
	UnwindLead: "the section that the exception directory leads to",

	ID:         "an id",
	Debug:      "link with a PDB: link.exe /DEBUG, lld-link -debug, clang -gcodeview; DWARF of MinGW: compile with -g, and dump before stripping",
	Identify:   "link with a CodeView record, which has the id of the PDB: link.exe /DEBUG, lld-link -debug; MinGW: ld --build-id",
	UnwindMake: "in assembly, write .seh_proc and .seh_endproc, or PROC FRAME of MASM; compilers write .pdata for all but leaf functions, but clang -ffreestanding needs -funwind-tables",
	UnwindKeep: "keep .pdata and .xdata when linking and stripping",
}

func (f *File) terms() object.Terms {
	t := terms
	if f.arch() == arch.X86 { // has no .pdata
		t.Unwind = []string{".eh_frame", ".debug_frame"}
		t.UnwindMake = "MinGW: compile with -fasynchronous-unwind-tables"
		t.UnwindKeep = "MinGW: keep .eh_frame when linking and stripping"
		t.UnwindElse = "the PDB has it, as STACK WIN"
	}
	return t
}

// title returns the kind of the file in words.
func (f *File) title() string {
	if f.dll {
		return "DLL"
	}
	return "executable"
}

// pdb returns the name of the file's PDB, or "". MinGW's CodeView entry has only an id.
func (f *File) pdb() string {
	if f.codeView == nil {
		return ""
	}
	return baseName(f.codeView.path)
}
