package varread

import (
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt/vars"
)

// languages maps the languages of units to letters. Others, such as assembly, have none.
var languages = map[uint64]vars.Language{
	dw.LangAda83:    vars.Ada,
	dw.LangC89:      vars.C,
	dw.LangC:        vars.C,
	dw.LangC99:      vars.C,
	dw.LangC11:      vars.C,
	dw.LangC17:      vars.C,
	dw.LangC23:      vars.C,
	dw.LangCPlus:    vars.CPlusPlus,
	dw.LangCPP03:    vars.CPlusPlus,
	dw.LangCPP11:    vars.CPlusPlus,
	dw.LangCPP14:    vars.CPlusPlus,
	dw.LangCPP17:    vars.CPlusPlus,
	dw.LangCPP20:    vars.CPlusPlus,
	dw.LangCPP23:    vars.CPlusPlus,
	dw.LangObjCPP:   vars.CPlusPlus,
	dw.LangDLang:    vars.D,
	dw.LangGo:       vars.Go,
	dw.LangPascal83: vars.Pascal,
	dw.LangRust:     vars.Rust,
	dw.LangSwift:    vars.Swift,
	dw.LangZig:      vars.Zig,

	// DW_LANG_Fortran77, 90, 95, 03, 08 and 18, and DW_LANG_Ada95.
	0x07: vars.Fortran, 0x08: vars.Fortran, 0x0e: vars.Fortran, 0x22: vars.Fortran, 0x23: vars.Fortran, 0x2d: vars.Fortran,
	0x0d: vars.Ada,
}
