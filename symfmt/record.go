package symfmt

// Kind is the kind of a Record.
type Kind uint8

// The kinds of record in a symbol file, in canonical order. KindNone is an
// unrecognised line.
const (
	KindNone Kind = iota
	KindModule
	KindInfo
	KindFile
	KindInlineOrigin
	KindFunc
	KindInline
	KindLine
	KindPublic
	KindStackWin
	KindCFIInit
	KindCFI
)

var kindNames = [...]string{
	"", "MODULE", "INFO", "FILE", "INLINE_ORIGIN", "FUNC", "INLINE", "line record",
	"PUBLIC", "STACK WIN", "STACK CFI INIT", "STACK CFI",
}

// String returns the record's keyword in the text, or "line record", as those have none.
func (k Kind) String() string { return kindNames[k] }

// lost returns what a bad record of this kind costs, in words.
func (k Kind) lost() string {
	if k == KindNone {
		return "line"
	}
	return k.String()
}

// Record is a record read by a Reader. Its slices point into the Reader's
// buffer: they, and the Record, are valid until the next record is read. Only
// the fields that apply to its Kind are meaningful; the others hold leftovers.
type Record struct {
	Kind Kind

	Owner Owner // of a line record, INLINE or STACK CFI
	Apart bool  // line record, INLINE: records other than these and INLINE_ORIGIN stand between it and the FUNC

	Multiple  bool   // FUNC, PUBLIC: "m"
	OldForm   bool   // INLINE: without a call file
	ID        uint32 // FILE, INLINE_ORIGIN: number
	RVA       RVA    // FUNC, PUBLIC, STACK CFI INIT, STACK CFI
	Size      uint64 // FUNC, STACK CFI INIT: bytes
	ParamSize uint64 // FUNC, PUBLIC: bytes

	// Name is the rest of the line, without blanks around it: the name of a
	// MODULE, FILE, FUNC or PUBLIC, the value of an INFO, the program of a
	// STACK WIN, the rules of a STACK CFI. For INLINE_ORIGIN it is
	// everything after the number: see OldOrigin.
	Name []byte

	OS, Arch, DebugID []byte   // MODULE
	Key               []byte   // INFO
	Line              Line     // line record
	Inline            Inline   // INLINE
	Win               StackWin // STACK WIN; its Program is Name

	file string
	line int
	text []byte
}

// OldOrigin parses an INLINE_ORIGIN in the old form, in which the number of a
// FILE, or -1, stands between the number and the name. Only the file's INLINE
// records show which form it has: the rest "7 of 9" is a name in a new file,
// and file 7 and the name "of 9" in an old one.
func (r *Record) OldOrigin() (file int64, name []byte, ok bool) {
	return oldOrigin(r.Name)
}

func oldOrigin[T []byte | string](rest T) (file int64, name T, ok bool) {
	i := 0
	if len(rest) >= 2 && rest[0] == '-' && rest[1] == '1' {
		file, i = -1, 2
	} else {
		for ; i < len(rest) && '0' <= rest[i] && rest[i] <= '9'; i++ {
			file = file*10 + int64(rest[i]-'0')
			if file > maxID {
				return 0, name, false
			}
		}
	}
	if i == 0 || i < len(rest) && !isBlank(rest[i]) {
		return 0, name, false
	}
	for i < len(rest) && isBlank(rest[i]) {
		i++
	}
	return file, rest[i:], true
}

// maxID is the highest number of a FILE or INLINE_ORIGIN, and the highest line
// number. The specification sets no limit; compilers and Breakpad's own dumpers
// use 32 bits.
const maxID = 1<<32 - 1
