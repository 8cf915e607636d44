package dwarf2sym_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// grammar checks a symbol file against Breakpad's description of the format, section by
// section: the form of each record, and its relation to the records before it. It shares
// nothing with symfmt, and tolerates nothing.
type grammar struct {
	modules               int
	infos, files, origins map[string]bool
	funcs                 map[uint64]bool // where a FUNC starts
	publics               map[uint64]bool

	inFunc  bool
	fn      [2]uint64     // of the current FUNC
	parents [][][2]uint64 // ranges of the INLINE records around the next one, by level
	lineEnd uint64        // of the previous line record
	lines   bool          // the FUNC has line records

	inits  [][2]uint64
	cfiAt  uint64 // of the previous STACK CFI record
	cfiEnd uint64 // of the current STACK CFI INIT; 0 if there is none
}

// The kinds of fields. "Hexadecimal numbers have no 0x prefix, and use
// lower-case letters."
const (
	hexField     = `(0|[1-9a-f][0-9a-f]*)`
	decimalField = `(0|[1-9][0-9]*)`
	nameField    = `(\S|\S.*\S)` // may contain spaces, extends to the end of the line
)

// recordSyntax is the form of each record, without the lists that end some.
var recordSyntax = map[string]*regexp.Regexp{
	"MODULE":        regexp.MustCompile(`^MODULE (Linux|mac|windows) (x86|x86_64|ppc|ppc64|arm|arm64|mips|mips64|riscv|riscv64|s390x|unknown) ([0-9A-F]{33,40}) ` + nameField + `$`),
	"INFO":          regexp.MustCompile(`^INFO (?:(CODE_ID) (?:[0-9A-F]{2})+|(GENERATOR) \S+ \S+)$`),
	"FILE":          regexp.MustCompile(`^FILE ` + decimalField + ` ` + nameField + `$`),
	"INLINE_ORIGIN": regexp.MustCompile(`^INLINE_ORIGIN ` + decimalField + ` ` + nameField + `$`),
	"FUNC":          regexp.MustCompile(`^FUNC (?:m )?` + hexField + ` ` + hexField + ` ` + hexField + ` ` + nameField + `$`),
	"INLINE":        regexp.MustCompile(`^INLINE ` + decimalField + ` ` + decimalField + ` ` + decimalField + ` ` + decimalField + `((?: [0-9a-f]+ [0-9a-f]+)+)$`),
	"PUBLIC":        regexp.MustCompile(`^PUBLIC (?:m )?` + hexField + ` ` + hexField + ` ` + nameField + `$`),
	"STACK":         regexp.MustCompile(`^STACK CFI (?:INIT ` + hexField + ` )?` + hexField + `((?: \S+)+)$`),
	"line":          regexp.MustCompile(`^` + hexField + ` ` + hexField + ` ` + decimalField + ` ` + decimalField + `$`),
}

// controlCharacter matches characters that no record may contain.
var controlCharacter = regexp.MustCompile(`[\x00-\x1f\x7f]`)

// checkGrammar returns an error for the first bad record.
func checkGrammar(r io.Reader) error {
	g := &grammar{infos: map[string]bool{}, files: map[string]bool{}, origins: map[string]bool{}, funcs: map[uint64]bool{}, publics: map[uint64]bool{}}
	in := bufio.NewReaderSize(r, 1<<20)
	for n := 1; ; n++ {
		text, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) && text == "" {
			return g.end()
		}
		if err == nil {
			text = text[:len(text)-1]
			err = g.record(text)
		}
		if err != nil {
			return fmt.Errorf("line %d, %.200q: %w", n, text, err)
		}
	}
}

// end checks what is known only at the end of the file.
func (g *grammar) end() error {
	if g.modules == 0 {
		return errors.New("no MODULE record")
	}
	slices.SortFunc(g.inits, func(a, b [2]uint64) int { return int(min(1, max(-1, int64(a[0])-int64(b[0])))) })
	for i := 1; i < len(g.inits); i++ {
		if g.inits[i][0] < g.inits[i-1][1] {
			return fmt.Errorf("STACK CFI INIT %x lies in the one at %x", g.inits[i][0], g.inits[i-1][0])
		}
	}
	return nil
}

func (g *grammar) record(text string) error {
	if controlCharacter.MatchString(text) {
		return errors.New("control character")
	}
	kind, _, _ := strings.Cut(text, " ")
	check, ok := map[string]func([]string) error{
		"MODULE": g.module, "INFO": g.info, "FILE": g.file, "INLINE_ORIGIN": g.origin, "FUNC": g.function,
		"INLINE": g.inline, "PUBLIC": g.public, "STACK": g.stack,
	}[kind]
	if !ok {
		kind, check = "line", g.line
	}
	if g.modules == 0 && kind != "MODULE" {
		return errors.New("before the MODULE record")
	}
	fields := recordSyntax[kind].FindStringSubmatch(text)
	if fields == nil {
		return fmt.Errorf("not a %s record", kind)
	}
	return check(fields[1:])
}

func (g *grammar) module([]string) error {
	if g.modules++; g.modules > 1 {
		return errors.New("a second MODULE record")
	}
	return nil
}

// info checks a record that is not in the description, but that Breakpad's and Mozilla's
// dump_syms write after MODULE.
func (g *grammar) info(f []string) error {
	if len(g.files)+len(g.origins)+len(g.funcs) > 0 {
		return errors.New("not behind MODULE")
	}
	return declareOnce(g.infos, f[0]+f[1])
}

func (g *grammar) file(f []string) error   { return declareOnce(g.files, f[0]) }
func (g *grammar) origin(f []string) error { return declareOnce(g.origins, f[0]) }

func declareOnce(have map[string]bool, number string) error {
	if have[number] {
		return fmt.Errorf("%s is given twice", number)
	}
	have[number] = true
	return nil
}

// addrRange reads an address and a size in bytes, which is not 0.
func addrRange(addr, size string) ([2]uint64, error) {
	lo, err := strconv.ParseUint(addr, 16, 64)
	if err != nil {
		return [2]uint64{}, err
	}
	n, err := strconv.ParseUint(size, 16, 64)
	if err != nil {
		return [2]uint64{}, err
	}
	if n == 0 || lo+n < lo {
		return [2]uint64{}, fmt.Errorf("size %x at %x", n, lo)
	}
	return [2]uint64{lo, lo + n}, nil
}

func (g *grammar) function(f []string) (err error) {
	g.fn, err = addrRange(f[0], f[1])
	if err == nil && g.funcs[g.fn[0]] {
		err = errors.New("a second FUNC there")
	}
	g.inFunc, g.parents, g.lineEnd, g.lines = true, [][][2]uint64{{g.fn}}, 0, false
	g.funcs[g.fn[0]] = true
	return err
}

func (g *grammar) inline(f []string) error {
	level, err := strconv.Atoi(f[0])
	switch {
	case err != nil:
		return err
	case !g.inFunc:
		return errors.New("no FUNC before it")
	case level >= len(g.parents):
		return fmt.Errorf("no INLINE of level %d before it", level-1)
	case !g.files[f[2]]:
		return fmt.Errorf("FILE %s is not declared", f[2])
	case !g.origins[f[3]]:
		return fmt.Errorf("INLINE_ORIGIN %s is not declared", f[3])
	}
	var ranges [][2]uint64
	list := strings.Fields(f[4])
	for i := 0; i < len(list); i += 2 {
		r, err := addrRange(list[i], list[i+1])
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(g.parents[level], func(p [2]uint64) bool { return p[0] <= r[0] && r[1] <= p[1] }) {
			return fmt.Errorf("%x-%x lies outside of its parent", r[0], r[1])
		}
		ranges = append(ranges, r)
	}
	g.parents = append(g.parents[:level+1], ranges)
	return nil
}

func (g *grammar) line(f []string) error {
	r, err := addrRange(f[0], f[1])
	switch {
	case err != nil:
		return err
	case !g.inFunc:
		return errors.New("no FUNC before it")
	case !g.files[f[3]]:
		return fmt.Errorf("FILE %s is not declared", f[3])
	case r[0] < g.fn[0] || r[1] > g.fn[1]:
		return fmt.Errorf("outside of FUNC %x-%x", g.fn[0], g.fn[1])
	case g.lines && r[0] < g.lineEnd:
		return fmt.Errorf("the line record before it ends at %x", g.lineEnd)
	}
	g.lineEnd, g.lines = r[1], true
	_, err = strconv.ParseUint(f[2], 10, 32)
	return err
}

func (g *grammar) public(f []string) error {
	addr, err := strconv.ParseUint(f[0], 16, 64)
	if err == nil && g.publics[addr] {
		err = errors.New("a second PUBLIC there, without m")
	}
	g.publics[addr] = true
	return err
}

// stack checks a STACK CFI record. fields are INIT's address or "", then INIT's size or
// the record's address, then the rules.
func (g *grammar) stack(f []string) error {
	rules, err := cfiRules(strings.Fields(f[2]))
	if err != nil {
		return err
	}
	if f[0] != "" {
		r, err := addrRange(f[0], f[1])
		if err != nil {
			return err
		}
		g.inits = append(g.inits, r)
		g.cfiAt, g.cfiEnd = r[0], r[1]
		if !rules[".cfa"] || !rules[".ra"] {
			return errors.New("no rule for .cfa, or none for .ra")
		}
		return nil
	}
	addr, err := strconv.ParseUint(f[1], 16, 64)
	if err != nil {
		return err
	}
	if addr <= g.cfiAt || addr >= g.cfiEnd {
		return fmt.Errorf("want an address after %x, and before the end of INIT, %x", g.cfiAt, g.cfiEnd)
	}
	g.cfiAt = addr
	return nil
}

var (
	cfiRegister = regexp.MustCompile(`^([.]cfa|[.]ra|[$]?[a-z][a-z0-9_]*):$`)
	cfiOperand  = regexp.MustCompile(`^([.]cfa|[$]?[a-z][a-z0-9_]*|-?[0-9]+)$`)
)

// cfiRules checks the rules of a STACK CFI record. It returns the set of registers with
// rules.
func cfiRules(tokens []string) (map[string]bool, error) {
	have := map[string]bool{}
	for len(tokens) > 0 {
		if !cfiRegister.MatchString(tokens[0]) {
			return nil, fmt.Errorf("%q is not a register and a colon", tokens[0])
		}
		name := strings.TrimSuffix(tokens[0], ":")
		if have[name] {
			return nil, fmt.Errorf("two rules for %s", name)
		}
		have[name] = true
		tokens = tokens[1:]
		n := slices.IndexFunc(tokens, func(s string) bool { return strings.HasSuffix(s, ":") })
		if n < 0 {
			n = len(tokens)
		}
		if err := postfix(tokens[:n], name == ".cfa"); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		tokens = tokens[n:]
	}
	return have, nil
}

// postfix checks an expression by counting its operands.
func postfix(tokens []string, ofCFA bool) error {
	if slices.Equal(tokens, []string{".undef"}) && !ofCFA {
		return nil
	}
	depth := 0
	for _, token := range tokens {
		takes := 0
		switch {
		case len(token) == 1 && strings.Contains("+-*/%@", token):
			takes = 2
		case token == "^":
			takes = 1
		case !cfiOperand.MatchString(token):
			return fmt.Errorf("%q is neither operand nor operator", token)
		case ofCFA && token == ".cfa":
			return errors.New("defined by itself")
		}
		if depth < takes {
			return fmt.Errorf("%q takes %d, has %d", token, takes, depth)
		}
		depth += 1 - takes
	}
	if depth != 1 {
		return fmt.Errorf("%d values, want 1", depth)
	}
	return nil
}
