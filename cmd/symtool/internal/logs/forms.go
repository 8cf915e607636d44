package logs

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// form describes how some programs write code locations on a line.
type form struct {
	Form
	needs  marks                 // every line with a place has one of these
	also   []string              // texts that such a line also contains
	line   func() *regexp.Regexp // its named groups become the fields of a match
	counts Counting
	sure   bool // the name is certainly a module's

	// Text around the answer, which replaces the group "at".
	before, after string

	// locate completes the place that was read, and reports whether there is a place.
	locate func(f *Filter, p *Place, m *match) bool
}

// pattern returns a function that compiles an expression when a line may match it. Compiling all of them takes a tenth
// of a millisecond, which every command would pay for.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// perfLine matches an address in the output of perf script.
var perfLine = pattern(`^(?:.*:)?\s+(?P<addr>[0-9a-f]+) (?P<at>\[unknown\]|(?P<symbol>\S.*)\+0x(?P<offset>[0-9a-f]+)) \((?P<name>[^()]+)\)\s*$`)

// Form describes a form for documentation.
type Form struct {
	Text   string // with NAME and ADDR
	From   string // programs that print it
	Counts string // what ADDR counts from
}

// answerOpens and answerCloses enclose an answer that follows the text that it explains.
const answerOpens, answerCloses = " (", ")"

// forms lists the forms of lines in the order in which they are tried.
var forms = []*form{&kernelFault, &oldKernelFault, &kernelSymbol, &tombstone, &perfMapping, &perfFrame, &perfUnknown, &titledFrame, &symbolInFile, &symbolOfModule, &programCounter, &coredumpModule, &coredumpFrame, &imageFrame, &nodeFrame, &boostFrame, &pythonFrame}

var (
	// The kernel's message about a signal: an offset in the file, and the address range of the mapping.
	kernelFault = form{
		Form:  Form{"`... in NAME[ADDR,BASE+SIZE]`", "Linux, about a signal", "the start of the file"},
		needs: page, also: []string{" in "}, line: pattern(` in (?P<name>[^\[\]]+)(?P<at>)\[(?P<addr>[0-9a-f]+),[0-9a-f]+\+[0-9a-f]+\]`),
		counts: FromFile, sure: true, before: "(", after: ")",
	}

	// The same from older kernels: the address, and the mapping with the code.
	oldKernelFault = form{
		Form:  Form{"`ip ADDR sp ... in NAME[BASE+SIZE]`", "older Linux, about a signal", "the process; BASE is where its code begins"},
		needs: page, also: []string{" ip"}, line: pattern(` ip[ :](?P<addr>[0-9a-f]+) .* in (?P<name>[^\[\]]+)(?P<at>)\[(?P<base>[0-9a-f]+)\+[0-9a-f]+\]`),
		counts: FromCode, sure: true, before: "(", after: ")", locate: afterBase,
	}

	kernelSymbol = form{
		Form:  Form{"`SYMBOL+0xADDR/0xSIZE`, with or without ` [MODULE]` after it", "the kernel, in an oops, a warning or a stack", "SYMBOL, in `vmlinux` or MODULE`.ko`"},
		needs: offsetAndSize, line: pattern(`(?P<at>(?P<symbol>[\w.$]+)\+0x(?P<addr>[0-9a-f]+)/0x(?P<size>[0-9a-f]+))(?: \[(?P<name>[\w-]+)(?: (?P<build>[0-9a-f]+))?\])?`),
		counts: AfterSymbol, locate: inKernel,
	}

	tombstone = form{
		Form:  Form{"`#00 pc ADDR  NAME (SYMBOL+N)`, with or without ` (BuildId: DIGITS)`", "Android: tombstones, logcat", "where the linker put the file"},
		needs: frameNumber, also: []string{" pc "}, line: pattern(`#\d+ +pc (?P<addr>[0-9a-f]+) +(?P<name>[^ (\r\n][^(\r\n]*[^ (\r\n])(?: \(deleted\))?(?: \(offset 0x[0-9a-f]+\))?(?P<at>(?: \(.+\+\d+\))?)(?: \(BuildId: (?P<build>[0-9a-fA-F]+)\))?\s*$`),
		counts: FromLink, sure: true, before: answerOpens, after: answerCloses, locate: inPackage,
	}

	perfMapping = form{
		Form:  Form{"`PERF_RECORD_MMAP2 ...`", "`perf script --show-mmap-events`", "nothing: says where NAME is in the lines below"},
		needs: bracketed, also: []string{"PERF_RECORD_MMAP"}, line: pattern(`PERF_RECORD_MMAP2? -?\d+/-?\d+: \[0x(?P<base>[0-9a-f]+)\(0x(?P<size>[0-9a-f]+)\) @ (?:0x)?(?P<addr>[0-9a-f]+)(?: <(?P<build>[0-9a-f]+)>|[^\]]*)\]: \S+ (?P<name>[^\r\n]+)`),
		locate: (*Filter).addPerf,
	}

	perfFrame = form{
		Form:  Form{"`ADDR SYMBOL+0xN (NAME)`", "`perf script`", "the start of the file or, if its mapping is in the log, the process; N from SYMBOL"},
		needs: offsetAndFile, line: perfLine,
		sure: true, locate: (*Filter).inPerf,
	}

	perfUnknown = form{
		Form:  Form{"`ADDR [unknown] (NAME)`", "the same", "the same"},
		needs: unknown, also: []string{"[unknown] ("}, line: perfLine, sure: true, locate: (*Filter).inPerf,
	}

	symbolInFile = form{
		Form:  Form{"`NAME(SYMBOL+0xADDR)`", "the C library's `backtrace_symbols`", "SYMBOL"},
		needs: offsetInBrackets, line: pattern(`(?P<name>[^\s()]+)\((?P<at>(?P<symbol>[^\s()+]+)\+0x(?P<addr>[0-9a-f]+))\)`),
		counts: AfterSymbol,
	}

	// A program that shows its state in argv[0], such as postgres.
	titledFrame = form{
		Form:  Form{"`NAME: TITLE(SYMBOL+0xADDR)`, with or without SYMBOL", "`backtrace_symbols` where NAME sets its title: PostgreSQL", "SYMBOL, else where the linker put the file"},
		needs: bracketed, also: []string{": ", "+0x", ")"}, line: pattern(`^\s*(?P<name>[\w.-]+): (?:.* )?(?P<word>[^\s()/]*)\((?P<at>(?P<symbol>[^\s()+]*)\+0x(?P<addr>[0-9a-f]+))\) ?\[0x`),
		counts: FromLink, locate: inTitled,
	}

	symbolOfModule = form{
		Form:  Form{"`NAME!SYMBOL+0xADDR`", "debuggers, crash reports", "SYMBOL"},
		needs: hexNumber, also: []string{"!"}, line: pattern(`(?P<name>[^\s!()\[\]]+)!(?P<at>(?P<symbol>[^\s!+]+) ?\+ ?0x(?P<addr>[0-9a-f]+))`),
		counts: AfterSymbol,
	}

	programCounter = form{
		Form:  Form{"`pc=0xADDR`", "Go, about a signal", "0, in the only program, which is linked to a fixed address"},
		needs: counter, line: pattern(`(?:pc|PC)=0x(?P<addr>[0-9a-f]+)(?P<at>)`),
		counts: Absolute, before: answerOpens, after: answerCloses,
	}

	nodeFrame = form{
		Form:  Form{"`N: 0xADDR SYMBOL [NAME]`", "Node, about an abort", "0, in a program that is linked to a fixed address"},
		needs: numbered, line: pattern(`^\s*\d+: 0x(?P<addr>[0-9a-f]+) (?P<at>(?:\S.*)?\S|) ?\[(?P<name>[^\[\]]+)\]\s*$`),
		counts: Absolute,
	}

	boostFrame = form{
		Form:  Form{"`N# 0xADDR in NAME`", "boost::stacktrace", "the same"},
		needs: numbered, line: pattern(`^\s*\d+# 0x(?P<addr>[0-9a-fA-F]+)(?P<at>) in (?P<name>\S.*?)\s*$`),
		counts: Absolute, before: answerOpens, after: answerCloses,
	}

	pythonFrame = form{
		Form:  Form{"`Binary file \"NAME\", at SYMBOL+0xADDR`, with or without SYMBOL", "Python 3.14 and later, about a fatal error", "SYMBOL, else where the linker put the file"},
		needs: bracketed, also: []string{"Binary file \""}, line: pattern(`Binary file "(?P<name>[^"]+)", at (?P<at>(?P<symbol>[^\s+]*)\+0x(?P<addr>[0-9a-f]+)) \[0x`),
		counts: FromLink, sure: true, locate: inBinaryFile,
	}

	// rawAddress matches any address in a process whose modules are known.
	rawAddress = form{
		Form: Form{"any address of 5 digits and more", "with `--maps` or `--core`: anything", "the process"},
		line: pattern(`\b(?:0x)?(?P<addr>[0-9a-fA-F]{5,16})\b(?P<at>)`),
		sure: true, before: answerOpens, after: answerCloses, locate: (*Filter).inMaps,
	}
)

// Forms lists the forms of the places that a Filter replaces.
func Forms() []Form {
	all := []Form{
		{"`NAME+0xADDR`, `NAME + 0xADDR`", "symtool; systemd-coredump; Java", "the start of the module"},
		{"`(NAME+0xADDR)`, with or without ` (BuildId: DIGITS)` after it", "sanitizers", "where the linker put the file"},
		{"`NAME(+0xADDR)`", "the C library's `backtrace_symbols`", "the same"},
		{"`NAME() [0xADDR]`, `NAME[0xADDR]`", "the same, in a program that is linked to a fixed address", "0"},
	}
	all = append(all, Form{"`{{{pc:ADDR}}}`, `{{{bt:N:ADDR}}}` and others", "programs with LLVM's symbolizer markup", "the process; `{{{module:...}}}` and `{{{mmap:...}}}` say where modules are"})
	for _, form := range append(forms, &rawAddress) {
		all = append(all, form.Form)
	}
	return all
}

// mayBeIn reports whether a line has everything that each line with such a place has. found are the marks in the line.
func (f *form) mayBeIn(line []byte, found marks) bool {
	if found&f.needs == 0 {
		return false
	}
	for _, text := range f.also {
		if !bytes.Contains(line, []byte(text)) {
			return false
		}
	}
	return true
}

// match is a match of a form on a line.
type match struct {
	form *form
	line []byte
	at   []int // start and end of each group
}

// text returns the text that a group matched, or "".
func (m *match) text(group string) string {
	i := m.form.line().SubexpIndex(group)
	if i < 0 || m.at[2*i] < 0 {
		return ""
	}
	return string(m.line[m.at[2*i]:m.at[2*i+1]])
}

// number returns the hexadecimal number in a group, or 0 if the group matched nothing. It reports false for a number
// that does not fit in 64 bits.
func (m *match) number(group string) (uint64, bool) {
	digits := m.text(group)
	if digits == "" {
		return 0, true
	}
	v, err := strconv.ParseUint(digits, 16, 64)
	return v, err == nil
}

// place sets the filter's place from a match, and reports whether there is a place.
func (m *match) place(f *Filter) (ok bool) {
	p := &f.place
	*p = Place{
		Name: m.text("name"), Symbol: m.text("symbol"), Build: strings.ToLower(m.text("build")), Counts: m.form.counts,
		before: m.form.before, after: m.form.after,
	}
	p.Sure = m.form.sure && !strings.HasPrefix(p.Name, "[") && !strings.HasPrefix(p.Name, "<") // [vdso], <anonymous:...>
	if p.Addr, ok = m.number("addr"); !ok {
		return false
	}
	if p.Size, ok = m.number("size"); !ok {
		return false
	}
	if i := m.form.line().SubexpIndex("at"); i >= 0 {
		p.start, p.end = m.at[2*i], m.at[2*i+1]
	}
	return m.form.locate == nil || m.form.locate(f, p, m)
}

// mostPlaces is the maximum number of places on a line.
const mostPlaces = 256

// match appends a line with its places replaced, or nothing if none of them is known.
func (f *Filter) match(dst, line []byte, form *form) []byte {
	start, done := len(dst), 0
	for _, at := range form.line().FindAllSubmatchIndex(line, mostPlaces) {
		m := match{form, line, at}
		if !m.place(f) {
			continue
		}
		var found bool
		if dst, found = f.answer(dst, line[done:f.place.start]); found {
			done = f.place.end
		}
	}
	if len(dst) == start {
		return dst
	}
	return append(dst, line[done:]...)
}

// afterBase makes an address relative to the group "base".
func afterBase(_ *Filter, p *Place, m *match) bool {
	base, ok := m.number("base")
	p.Addr -= base
	return ok
}

func inKernel(_ *Filter, p *Place, _ *match) bool {
	p.Kernel = true
	return true
}

// inPackage reduces the name to a library's in an Android package: base.apk!libapp.so.
func inPackage(_ *Filter, p *Place, _ *match) bool {
	p.Name = p.Name[strings.LastIndexByte(p.Name, '!')+1:]
	return true
}

// inTitled finds the module of a line that begins with the module's name, unless the name of another module precedes
// the bracket.
func inTitled(f *Filter, p *Place, m *match) bool {
	return f.knows(p.Name) && !f.knows(m.text("word")) && inBinaryFile(f, p, m)
}

func inBinaryFile(_ *Filter, p *Place, _ *match) bool {
	if p.Symbol != "" {
		p.Counts = AfterSymbol
	}
	return true
}
