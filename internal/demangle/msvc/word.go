package msvc

import "cmp"

// table is the index of a table in llvmWords.
type table uint8

const (
	tableOperators     table = iota // after ?
	tableMoreOperators              // after ?_
	tableLateOperators              // after ?__
	tableTypes
	tableMoreTypes // after _
	tableNames     // the codes are our own
)

// llvmWords are the words for codes, as LLVM prints them.
var llvmWords = [...]['Z' + 1]string{
	tableOperators: {
		'2': "operator new", '3': "operator delete", '4': "operator=", '5': "operator>>", '6': "operator<<",
		'7': "operator!", '8': "operator==", '9': "operator!=", 'A': "operator[]", 'C': "operator->",
		'D': "operator*", 'E': "operator++", 'F': "operator--", 'G': "operator-", 'H': "operator+",
		'I': "operator&", 'J': "operator->*", 'K': "operator/", 'L': "operator%", 'M': "operator<",
		'N': "operator<=", 'O': "operator>", 'P': "operator>=", 'Q': "operator,", 'R': "operator()",
		'S': "operator~", 'T': "operator^", 'U': "operator|", 'V': "operator&&", 'W': "operator||",
		'X': "operator*=", 'Y': "operator+=", 'Z': "operator-=",
	},
	tableMoreOperators: {
		'0': "operator/=", '1': "operator%=", '2': "operator>>=", '3': "operator<<=", '4': "operator&=",
		'5': "operator|=", '6': "operator^=", 'D': "`vbase dtor'", 'E': "`vector deleting dtor'",
		'F': "`default ctor closure'", 'G': "`scalar deleting dtor'", 'H': "`vector ctor iterator'",
		'I': "`vector dtor iterator'", 'J': "`vector vbase ctor iterator'", 'K': "`virtual displacement map'",
		'L': "`eh vector ctor iterator'", 'M': "`eh vector dtor iterator'", 'N': "`eh vector vbase ctor iterator'",
		'O': "`copy ctor closure'", 'T': "`local vftable ctor closure'", 'U': "operator new[]",
		'V': "operator delete[]",
	},
	tableLateOperators: {
		'A': "`managed vector ctor iterator'", 'B': "`managed vector dtor iterator'",
		'C': "`EH vector copy ctor iterator'", 'D': "`EH vector vbase copy ctor iterator'",
		'G': "`vector copy ctor iterator'", 'H': "`vector vbase copy constructor iterator'",
		'I': "`managed vector vbase copy constructor iterator'", 'L': "operator co_await", 'M': "operator<=>",
	},
	tableTypes: {
		'C': "signed char", 'D': "char", 'E': "unsigned char", 'F': "short", 'G': "unsigned short", 'H': "int",
		'I': "unsigned int", 'J': "long", 'K': "unsigned long", 'M': "float", 'N': "double", 'O': "long double",
		'X': "void",
	},
	tableMoreTypes: {
		'J': "__int64", 'K': "unsigned __int64", 'L': "__int128", 'M': "unsigned __int128", 'N': "bool", 'P': "auto", 'Q': "char8_t", 'S': "char16_t",
		'T': "decltype(auto)", 'U': "char32_t", 'W': "wchar_t",
	},
	tableNames: {
		'A': "`anonymous namespace'", 'T': "std::nullptr_t", '7': "`vftable'", '8': "`vbtable'", 'S': "`local vftable'",
		'0': "`RTTI Type Descriptor'", 'N': "`RTTI Type Descriptor Name'", '2': "`RTTI Base Class Array'",
		'3': "`RTTI Class Hierarchy Descriptor'", '4': "`RTTI Complete Object Locator'",
	},
}

// conventions are the words for calling conventions. Some have two codes, the second for exported
// functions. Conventions that are not listed have no word.
var conventions = [...]string{
	'A': "__cdecl", 'B': "__cdecl", 'C': "__pascal", 'D': "__pascal", 'E': "__thiscall", 'F': "__thiscall",
	'G': "__stdcall", 'H': "__stdcall", 'I': "__fastcall", 'J': "__fastcall", 'M': "__clrcall", 'N': "__clrcall",
	'O': "__eabi", 'P': "__eabi", 'Q': "__vectorcall", 'S': "__attribute__((__swiftcall__)) ",
	'W': "__attribute__((__swiftasynccall__)) ",
}

// recordWords are llvmWords in the form of records.
var recordWords = func() (words [len(llvmWords)]['Z' + 1]string) {
	for i := range words {
		for c, word := range llvmWords[i] {
			words[i][c] = cmp.Or(plainWords[word], word)
		}
	}
	return words
}()

// plainWords maps LLVM's words to Microsoft's, and types to the form of FUNC records.
var plainWords = map[string]string{
	"`anonymous namespace'": "(anonymous namespace)", "__int64": "long long", "unsigned __int64": "unsigned long long",
	"`vbase dtor'": "`vbase destructor'", "`vector deleting dtor'": "`vector deleting destructor'",
	"`default ctor closure'": "`default constructor closure'", "`scalar deleting dtor'": "`scalar deleting destructor'",
	"`vector ctor iterator'": "`vector constructor iterator'", "`vector dtor iterator'": "`vector destructor iterator'",
	"`vector vbase ctor iterator'":         "`vector vbase constructor iterator'",
	"`eh vector ctor iterator'":            "`eh vector constructor iterator'",
	"`eh vector dtor iterator'":            "`eh vector destructor iterator'",
	"`eh vector vbase ctor iterator'":      "`eh vector vbase constructor iterator'",
	"`copy ctor closure'":                  "`copy constructor closure'",
	"`local vftable ctor closure'":         "`local vftable constructor closure'",
	"`managed vector ctor iterator'":       "`managed vector constructor iterator'",
	"`managed vector dtor iterator'":       "`managed vector destructor iterator'",
	"`EH vector copy ctor iterator'":       "`EH vector copy constructor iterator'",
	"`EH vector vbase copy ctor iterator'": "`EH vector vbase copy constructor iterator'",
	"`vector copy ctor iterator'":          "`vector copy constructor iterator'",
}
