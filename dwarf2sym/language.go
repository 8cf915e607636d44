package dwarf2sym

import "github.com/symtool/symtool/dwarf2sym/internal/dwarf"

// scoped reports whether the language has named scopes that belong to the names
// of functions. Names in Go, Ada and C are complete as they are. Units made by dwz
// have no language.
func (u *fileUnit) scoped() bool {
	switch u.Lang {
	case 0:
		return u.Partial
	case dwarf.LangCPlus, dwarf.LangCPP03, dwarf.LangCPP11, dwarf.LangCPP14, dwarf.LangCPP17, dwarf.LangCPP20, dwarf.LangCPP23, dwarf.LangObjCPP,
		dwarf.LangRust, dwarf.LangDLang, dwarf.LangSwift, dwarf.LangZig, dwarf.LangPascal83:
		return true
	}
	return false
}

// flat reports whether no function can be below a type, so that types may be
// jumped over. Functions without code may not: what is nested in a GNU C
// function that was inlined everywhere has code of its own.
func (u *fileUnit) flat() bool {
	switch u.Lang {
	case dwarf.LangC89, dwarf.LangC, dwarf.LangC99, dwarf.LangC11, dwarf.LangC17, dwarf.LangC23:
		return true
	}
	return false
}

// flatBehind is like flat, for a unit that another unit refers to; from is the result of
// that other unit's flat. It counts because units made by dwz have no language.
func (u *fileUnit) flatBehind(from bool) bool { return u.flat() || from && u.Lang == 0 && u.Partial }

// assembly reports whether the unit was written in assembly: several labels at
// one address are then one function's, not functions that were folded.
func (u *fileUnit) assembly() bool {
	return u.Lang == dwarf.LangMipsAsm || u.Lang == dwarf.LangAssembly
}
