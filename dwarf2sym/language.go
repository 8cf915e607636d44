package dwarf2sym

// scoped reports whether the language has named scopes that belong to the names
// of functions. Names in Go, Ada and C are complete as they are. Units made by dwz
// have no language.
func (u *fileUnit) scoped() bool {
	switch u.lang {
	case 0:
		return u.partial
	case langCPlus, langCPP03, langCPP11, langCPP14, langCPP17, langCPP20, langCPP23, langObjCPP,
		langRust, langDLang, langSwift, langZig, langPascal83:
		return true
	}
	return false
}

// flat reports whether no function can be below a type, so that types may be
// jumped over. Functions without code may not: what is nested in a GNU C
// function that was inlined everywhere has code of its own.
func (u *fileUnit) flat() bool {
	switch u.lang {
	case langC89, langC, langC99, langC11, langC17, langC23:
		return true
	}
	return false
}

// flatBehind is like flat, for a unit that another unit refers to; from is the result of
// that other unit's flat. It counts because units made by dwz have no language.
func (u *fileUnit) flatBehind(from bool) bool { return u.flat() || from && u.lang == 0 && u.partial }

// assembly reports whether the unit was written in assembly: several labels at
// one address are then one function's, not functions that were folded.
func (u *fileUnit) assembly() bool { return u.lang == langMipsAsm || u.lang == langAssembly }
