package symsframe

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/symtool/symtool/sframe"
)

// listing is a section as another tool prints it.
type listing struct {
	header  map[string]string // by the tool's own labels
	flags   []string
	funcs   []listedFunc
	message string // instead of the section, or after its last line
}

type listedFunc struct {
	pc, size uint64
	attr     string // objdump's letters
	mask     bool
	keyB     bool
	raw      map[string]string // llvm-readobj's fields
	rows     []listedRow
}

// listedRow is a row with rules as the tool prints them, or "".
type listedRow struct {
	start       uint64 // as printed: an address, or the offset in a block
	cfa, fp, ra string
	signed      bool
	undefined   bool
}

var (
	funcLine = regexp.MustCompile(`^    func idx \[(\d+)\]: pc = 0x([0-9a-f]+), size = (\d+) bytes(?:, attr = "(\w+)")?(, pauth = B key)?$`)
	// Columns may touch: a rule ends with its number.
	rowLine = regexp.MustCompile(`^    ([0-9a-f]{16})  (?:(RA undefined)|(` + ruleForm + `) *(` + ruleForm + `|u) *(` + ruleForm + `|[ufU])(\[s\])?) *$`)
)

const ruleForm = `\((?:sp|fp|r\d+)[+-]\d+\)|(?:sp|fp|c|r\d+)(?:\+-|[+-])\d+|r\d+`

// parseObjdump reads the output of `objdump --sframe`.
func parseObjdump(text string) (*listing, error) {
	t := &listing{header: map[string]string{}}
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		var f *listedFunc
		if n := len(t.funcs); n > 0 {
			f = &t.funcs[n-1]
		}
		switch {
		case isFurniture(line):
		case strings.HasPrefix(line, "    STARTPC") && strings.HasSuffix(trimmed, "RA"):
			f.mask = strings.Contains(line, "[m]")
		case funcLine.MatchString(line):
			t.funcs = append(t.funcs, newListedFunc(funcLine.FindStringSubmatch(line)))
		case rowLine.MatchString(line):
			f.rows = append(f.rows, newListedRow(rowLine.FindStringSubmatch(line)))
		case strings.HasPrefix(trimmed, "Flags: "):
			t.flags = appendFlag(nil, strings.TrimPrefix(trimmed, "Flags: "))
		case strings.HasPrefix(trimmed, "SFRAME_F_"):
			t.flags = appendFlag(t.flags, trimmed)
		case strings.HasPrefix(line, "    ") && strings.Contains(line, ": ") && len(t.funcs) == 0:
			key, value, _ := strings.Cut(trimmed, ": ")
			t.header[key] = value
		case trimmed == "exit 0":
		case isMessage(line):
			t.message += line + "\n"
		default:
			return nil, fmt.Errorf("line %d: %q", i+1, line)
		}
	}
	return t, nil
}

// isFurniture reports whether a line is only layout.
func isFurniture(line string) bool {
	return line == "" || strings.Contains(line, ":     file format ") || strings.HasPrefix(line, "Contents of the SFrame section") ||
		line == "  Header :" || line == "  Function Index :"
}

// isMessage reports whether a line is what a tool prints when it cannot go on; an
// assertion may follow the beginning of a heading.
func isMessage(line string) bool {
	for _, m := range []string{"objdump: ", "No .sframe section", "No further information", "llvm-readobj: ", "exit 134", "Aborted"} {
		if strings.Contains(line, m) {
			return true
		}
	}
	return false
}

func appendFlag(flags []string, text string) []string {
	if text = strings.TrimSuffix(text, ","); text != "NONE" {
		flags = append(flags, text)
	}
	return flags
}

func newListedFunc(m []string) listedFunc {
	return listedFunc{pc: number(m[2], 16), size: number(m[3], 10), attr: m[4], keyB: m[5] != ""}
}

func newListedRow(m []string) listedRow {
	return listedRow{start: number(m[1], 16), undefined: m[2] != "", cfa: m[3], fp: m[4], ra: m[5], signed: m[6] != ""}
}

// number reads a number that an expression above has matched.
func number(text string, base int) uint64 {
	v, err := strconv.ParseUint(text, base, 64)
	if err != nil {
		panic(err)
	}
	return v
}

// rule reads a sum or a place as objdump writes them.
func rule(text string, abi sframe.ABI) sframe.Rule {
	r := sframe.Rule{Kind: sframe.Value}
	if strings.HasPrefix(text, "(") {
		r.Kind, text = sframe.Memory, text[1:len(text)-1]
	}
	name, offset := text, ""
	if i := strings.IndexAny(text, "+-"); i >= 0 {
		name, offset = text[:i], strings.Replace(text[i:], "+-", "-", 1)
	}
	if offset != "" {
		v, err := strconv.ParseInt(offset, 10, 64)
		if err != nil {
			panic(err)
		}
		r.Offset = v
	}
	switch name {
	case "c":
		r.Kind, r.Reg = sframe.Memory, sframe.CFA
	case "sp":
		r.Reg = abi.SP()
	case "fp":
		r.Reg = abi.FP()
	default:
		r.Reg = sframe.Reg(number(name[1:], 10))
	}
	return r
}

// parseReadobj reads the output of `llvm-readobj --sframe`: lines of "key: value"
// in nested braces and brackets.
func parseReadobj(text string) (*listing, error) {
	t := &listing{header: map[string]string{}}
	var f *listedFunc
	var r *listedRow
	_, text, _ = strings.Cut(text, "\nLoadName: <Not found>\n")
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		key, value, ok := strings.Cut(trimmed, ": ")
		switch {
		case isMessage(line):
			t.message += line + "\n"
		case strings.HasPrefix(trimmed, "FuncDescEntry"):
			t.funcs = append(t.funcs, listedFunc{raw: map[string]string{}})
			f, r = &t.funcs[len(t.funcs)-1], nil
		case strings.HasPrefix(trimmed, "Frame Row Entry"):
			f.rows = append(f.rows, listedRow{})
			r = &f.rows[len(f.rows)-1]
		case r != nil && ok:
			if err := r.set(key, value); err != nil {
				return nil, fmt.Errorf("line %d: %v", i+1, err)
			}
		case f != nil && ok:
			f.raw[key] = value
		case strings.HasPrefix(trimmed, "FDE") && strings.HasSuffix(trimmed, ")"):
			t.flags = append(t.flags, strings.Fields(trimmed)[0])
		case ok:
			t.header[key] = value
		}
	}
	return t, t.finishReadobj()
}

// set sets a field of a row in llvm-readobj's output.
func (r *listedRow) set(key, value string) (err error) {
	switch key {
	case "Start Address":
		r.start, err = strconv.ParseUint(value, 0, 64)
	case "Return Address Signed":
		r.signed = value == "Yes"
	case "Base Register":
		r.cfa = strings.ToLower(value[:2])
	case "CFA Offset":
		r.cfa += "+" + value
	case "RA Offset":
		r.ra = signedPlace(value)
	case "FP Offset":
		r.fp = signedPlace(value)
	case "Offset Size":
	default:
		err = fmt.Errorf("unknown field %q of a row", key)
	}
	return err
}

// signedPlace returns an offset from the CFA as objdump writes it.
func signedPlace(offset string) string {
	if strings.HasPrefix(offset, "-") {
		return "c" + offset
	}
	return "c+" + offset
}

// finishReadobj derives what objdump also prints from the fields of functions.
func (t *listing) finishReadobj() (err error) {
	for i := range t.funcs {
		f := &t.funcs[i]
		pc := f.raw["PC"]
		if pc == "" {
			pc = f.raw["Start Address"]
		}
		if f.pc, err = strconv.ParseUint(pc, 0, 64); err == nil {
			f.size, err = strconv.ParseUint(f.raw["Size"], 0, 64)
		}
		if err != nil {
			return fmt.Errorf("function %d: %v", i, err)
		}
		f.mask = strings.HasPrefix(f.raw["FDE Type"], "PCMask")
		f.keyB = strings.HasPrefix(f.raw["PAuth Key"], "B")
	}
	return nil
}
