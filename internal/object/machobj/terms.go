package machobj

import "github.com/symtool/symtool/internal/object"

func (f *File) terms() object.Terms {
	t := object.Terms{
		Tables: [2]string{object.Symtab: "LC_SYMTAB", object.Dynamic: "exports"},
		Unwind: []string{"__unwind_info", "__eh_frame", "__debug_frame"},

		ID:         "a UUID",
		Debug:      "compile with -g and run dsymutil on the linked file before the objects are removed; name the dSYM",
		Identify:   "link without -no_uuid",
		UnwindMake: "in assembly, write .cfi directives; compilers write __unwind_info for all functions",
		UnwindKeep: "dump the binary with its dSYM: a dSYM alone has neither __unwind_info nor __eh_frame",
	}
	if f.fileType == typeDSYM {
		t.UnwindAlone = "it is in the program or library; dump that, with the dSYM beside it"
	}
	return t
}
