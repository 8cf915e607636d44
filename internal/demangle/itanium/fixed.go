package itanium

import "strings"

// fixed are the nodes with which every name begins: those whose text is always the same.
var fixed = newFixedNodes()

type fixedNodes struct {
	nodes    []node
	texts    [2][]string // by style and node
	expanded []string    // what LLVM writes for an abbreviation before a constructor or destructor; "" for other nodes
	lists    []ref

	builtin    [256]ref // by letter
	dBuiltin   [256]ref // by the letter after D
	fixedPoint [256][4]ref
	std        [256]ref // by the letter after S

	stdName, anonymous, auto, decltypeAuto, stringLiteral, blockLiteral, empty ref
	null, void, integer, char                                                  ref
}

// literalForm says how a literal of a builtin type is printed.
type literalForm = uint8

const (
	castLiteral  literalForm = iota // (char)97
	boolLiteral                     // true
	nullLiteral                     // decltype(nullptr)
	floatLiteral                    // (float)[3f800000]
	intLiteral                      // 1; the forms of literalSuffixes follow
)

var literalSuffixes = [...]string{"", "u", "l", "ul", "ll", "ull"}

var builtinNames = [256]string{
	'a': "signed char", 'b': "bool", 'c': "char", 'd': "double", 'e': "long double", 'f': "float",
	'g': "__float128", 'h': "unsigned char", 'i': "int", 'j': "unsigned int", 'l': "long",
	'm': "unsigned long", 'n': "__int128", 'o': "unsigned __int128", 's': "short", 't': "unsigned short",
	'v': "void", 'w': "wchar_t", 'x': "long long", 'y': "unsigned long long", 'z': "...",
}

var literalForms = [256]literalForm{
	'b': boolLiteral, 'd': floatLiteral, 'e': floatLiteral, 'f': floatLiteral, 'g': floatLiteral,
	'i': intLiteral, 'j': intLiteral + 1, 'l': intLiteral + 2, 'm': intLiteral + 3, 'x': intLiteral + 4, 'y': intLiteral + 5,
}

var dBuiltinNames = [256]string{
	'f': "decimal32", 'd': "decimal64", 'e': "decimal128", 'h': "half", 'u': "char8_t",
	's': "char16_t", 'i': "char32_t", 'n': "decltype(nullptr)", 'F': "std::bfloat16_t",
}

var dLiteralForms = [256]literalForm{'n': nullLiteral, 'h': floatLiteral}

// fixedPointSizes are the sizes of fixed-point types. The entry of i is empty.
var fixedPointSizes = [256]string{
	's': "short ", 't': "unsigned short ", 'i': "", 'j': "unsigned ", 'l': "long ", 'm': "unsigned long ",
}

// The forms of fixed-point types, and what is added for saturating ones.
const (
	fixedPointAccum = iota
	fixedPointFract
	fixedPointSat
)

func newFixedNodes() *fixedNodes {
	f := new(fixedNodes)
	f.add("", node{}) // 0 means no node
	for c := range 256 {
		if name := builtinNames[c]; name != "" {
			f.builtin[c] = f.add(name, node{kind: kBuiltin, op: literalForms[c]})
		}
		if name := dBuiltinNames[c]; name != "" {
			f.dBuiltin[c] = f.add(name, node{kind: kBuiltin, op: dLiteralForms[c]})
		}
		if size := fixedPointSizes[c]; size != "" || c == 'i' {
			for i, name := range []string{"_Accum", "_Fract"} {
				f.fixedPoint[c][i] = f.add(size+name, node{kind: kBuiltin})
				f.fixedPoint[c][i+fixedPointSat] = f.add("_Sat "+size+name, node{kind: kBuiltin})
			}
		}
	}
	f.texts[asLLVM][f.dBuiltin['n']] = "std::nullptr_t"
	f.null, f.void, f.integer, f.char = f.dBuiltin['n'], f.builtin['v'], f.builtin['i'], f.builtin['c']
	f.stdName = f.text("std")
	f.anonymous = f.text("(anonymous namespace)")
	f.auto = f.text("auto")
	f.decltypeAuto = f.text("decltype(auto)")
	f.stringLiteral = f.text("string literal")
	f.blockLiteral = f.text("'block-literal'")
	f.empty = f.text("")
	f.addStd()
	return f
}

func (f *fixedNodes) add(text string, n node) ref {
	f.nodes, f.expanded = append(f.nodes, n), append(f.expanded, "")
	for style := range f.texts {
		f.texts[style] = append(f.texts[style], text)
	}
	return ref(len(f.nodes) - 1)
}

func (f *fixedNodes) text(text string) ref { return f.add(text, node{kind: kText}) }

// addStd adds the expansions of the standard library's abbreviations (section 5.1.8), in full
// as c++filt prints them.
func (f *fixedNodes) addStd() {
	traits := f.template(f.scoped("char_traits"), f.char)
	f.std['t'] = f.stdName
	f.std['a'] = f.scoped("allocator")
	f.std['b'] = f.scoped("basic_string")
	f.std['s'] = f.template(f.scoped("basic_string"), f.char, traits, f.template(f.scoped("allocator"), f.char))
	f.std['i'] = f.template(f.scoped("basic_istream"), f.char, traits)
	f.std['o'] = f.template(f.scoped("basic_ostream"), f.char, traits)
	f.std['d'] = f.template(f.scoped("basic_iostream"), f.char, traits)
	for letter, name := range map[byte]string{'s': "std::string", 'i': "std::istream", 'o': "std::ostream", 'd': "std::iostream"} {
		r := f.std[letter]
		f.texts[asLLVM][r], f.expanded[r] = name, strings.ReplaceAll(f.texts[asFilt][r], "> >", ">>")
	}
	f.texts[asLLVM][traits] = strings.ReplaceAll(f.texts[asFilt][traits], "> >", ">>")
}

func (f *fixedNodes) scoped(name string) ref {
	return f.add("std::"+name, node{kind: kScoped, f: [4]ref{f.stdName, f.text(name)}})
}

func (f *fixedNodes) template(name ref, args ...ref) ref {
	text := f.texts[asFilt][name] + "<"
	for i, arg := range args {
		if i > 0 {
			text += ", "
		}
		text += f.texts[asFilt][arg]
	}
	if text[len(text)-1] == '>' {
		text += " "
	}
	start := ref(len(f.lists))
	f.lists = append(f.lists, args...)
	return f.add(text+">", node{kind: kTemplate, f: [4]ref{name, start, ref(len(args))}})
}
