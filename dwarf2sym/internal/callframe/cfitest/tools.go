package cfitest

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
)

// Readelf runs readelf for one section.
func Readelf(t *testing.T, a *arch.Arch, path, section string) []*ForeignFDE {
	return ReadelfText(a, oracle.Readelf(t, path, "-W", "-wFN"), section)
}

// ReadelfText reads readelf's output. Rows that it leaves out show up as rows that only we have.
func ReadelfText(a *arch.Arch, lines []string, section string) []*ForeignFDE {
	x := &foreign{a: a, by: map[string]*ForeignFDE{}}
	var header []string
	in := false
	for _, line := range lines {
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Contents of the "):
			in = f[3] == section
		case !in || len(f) < 2 || f[1] == "ZERO":
		case len(f) > 5 && f[3] == "FDE":
			x.head(f, "..")
		case len(f) > 3 && f[3] == "CIE":
			x.cie(f[0])
			x.ra(strings.TrimPrefix(f[len(f)-1], "ra="))
		case strings.HasPrefix(f[0], "DW_CFA_"): // "bad register: r-1", which clang writes for MIPS64
		case f[0] == "LOC":
			header = f
		default:
			row := Forms{}
			for i, cell := range cells(f[1:]) {
				if name := readelfName(a, header[i+1]); name != "" {
					row[name] = readelfForm(a, name, cell)
				}
			}
			x.row(Hex(f[0]), row)
		}
	}
	return x.done()
}

// cells replaces "r1 (rdx)" with "rdx".
func cells(f []string) (out []string) {
	for _, s := range f {
		if s[0] == '(' {
			out[len(out)-1] = strings.Trim(s, "()")
		} else {
			out = append(out, s)
		}
	}
	return out
}

// Hex parses a hexadecimal number that a tool printed.
func Hex(s string) uint64 {
	v, _ := strconv.ParseUint(s, 16, 64)
	return v
}

var rISCVFloat = regexp.MustCompile(`^f([ats])(\d+)$`)

var numbered = regexp.MustCompile(`^r(\d+)$`)

// readelfName translates a column's heading: readelf uses names for some CPUs and
// numbers for others. It returns "" for a register without a name.
func readelfName(a *arch.Arch, s string) string {
	switch s {
	case "CFA":
		return ".cfa"
	case "ra":
		return ".ra"
	}
	return readelfReg(a, s)
}

func readelfReg(a *arch.Arch, s string) string {
	s = strings.TrimPrefix(s, "%")
	for _, name := range []string{s, "$" + s} {
		if _, ok := a.RegNumber(name); ok && (a != arch.ARM && a != arch.MIPS && a != arch.MIPS64) {
			return name
		}
	}
	if m := rISCVFloat.FindStringSubmatch(s); m != nil && (a == arch.RISCV || a == arch.RISCV64) {
		n := Atoi(m[2])
		switch {
		case m[1] == "a":
			n += 10
		case m[1] == "s" && n < 2:
			n += 8
		case m[1] == "s":
			n += 16
		case n > 7:
			n += 20
		}
		return fmt.Sprintf("f%d", n)
	}
	if m := numbered.FindStringSubmatch(s); m != nil {
		name, _ := a.RegName(uint64(Atoi(m[1])))
		return name
	}
	return ""
}

func readelfForm(a *arch.Arch, name, cell string) string {
	switch {
	case cell == "u":
		return "?"
	case cell == "s":
		return "same"
	case cell == "exp", cell == "vexp":
		return "expr"
	case name == ".cfa":
		i := strings.LastIndexAny(cell, "+-")
		if i < 0 {
			return cell
		}
		return readelfReg(a, cell[:i]) + cell[i:]
	case strings.HasPrefix(cell, "c+"), strings.HasPrefix(cell, "c-"):
		return "[CFA" + cell[1:] + "]"
	case strings.HasPrefix(cell, "v+"), strings.HasPrefix(cell, "v-"):
		return "CFA" + cell[1:]
	case readelfReg(a, cell) == name:
		return "same"
	}
	return readelfReg(a, cell)
}

// LLVM runs llvm-dwarfdump.
func LLVM(t *testing.T, a *arch.Arch, path, section string) []*ForeignFDE {
	flag := "--eh-frame"
	if section == ".debug_frame" {
		flag = "--debug-frame"
	}
	out, err := exec.Command(testenv.Tool(t, "llvm-dwarfdump-22"), flag, path).Output()
	if err != nil {
		t.Fatalf("llvm-dwarfdump: %v", err)
	}
	x := &foreign{a: a, by: map[string]*ForeignFDE{}}
	cie, in := false, false
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		line := s.Text()
		f := strings.Fields(line)
		switch {
		case len(f) == 2 && f[1] == "contents:":
			in = f[0] == section
		case !in:
		case len(f) > 5 && f[3] == "FDE":
			cie = false
			x.head(f, "...")
		case len(f) > 3 && f[3] == "CIE":
			cie = true
			x.cie(f[0])
		case strings.HasPrefix(line, "  Return address column:"):
			x.ra(f[3])
		case cie && strings.HasPrefix(line, "  CFA="):
			x.row(0, lLVMForms(a, x.at.ra, strings.TrimSpace(line)))
		case !cie && strings.HasPrefix(line, "  0x"):
			addr, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
			x.row(Hex(addr[2:]), lLVMForms(a, x.at.ra, rest))
		}
	}
	return x.done()
}

// lLVMForms parses "CFA=RSP+8: RIP=[CFA-8], RBX=[CFA-16]", of which ra is the
// return address column.
func lLVMForms(a *arch.Arch, ra, s string) Forms {
	forms := Forms{}
	s = strings.TrimPrefix(s, "CFA=")
	cfa, rest, _ := strings.Cut(s, ": ")
	if strings.Contains(cfa, "DW_OP") {
		forms[".cfa"] = "expr"
		// Registers in expressions have no colon; rules follow the last one.
	} else {
		base, off := cfa, "+0"
		if i := strings.LastIndexAny(cfa, "+-"); i > 0 {
			base, off = cfa[:i], cfa[i:]
		}
		forms[".cfa"] = lLVMReg(a, base) + off
	}
	for _, rule := range splitLLVM(rest) {
		reg, text, _ := strings.Cut(rule, "=")
		name := lLVMReg(a, reg)
		switch name {
		case "":
			continue
		case ra:
			name = ".ra"
		}
		switch {
		case strings.Contains(text, "DW_OP"):
			text = "expr"
		case text == "[CFA]":
			text = "[CFA+0]"
		case text == "CFA":
			text = "CFA+0"
		case text == "unspecified":
			text = ""
		case text == "same", text == "undefined", strings.Contains(text, "CFA"):
		default:
			text = lLVMReg(a, text)
		}
		forms[name] = text
	}
	return forms
}

// splitLLVM splits at commas outside brackets.
func splitLLVM(s string) (out []string) {
	depth, start := 0, 0
	for i, c := range s {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
	}
	if start < len(s) {
		out = append(out, strings.TrimSpace(s[start:]))
	}
	return out
}

var lLVMNames = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`^(\w+)_64$`), "$1"}, // MIPS n64
	{regexp.MustCompile(`^d(\d+)_64$`), "f$1"},
	{regexp.MustCompile(`^w(\d+)$`), "x$1"}, // AArch64
	{regexp.MustCompile(`^wsp$`), "sp"},
	{regexp.MustCompile(`^[bd](\d+)$`), "v$1"},
	{regexp.MustCompile(`^r(\d+)[dl]$`), "r$1"}, // s390x
	{regexp.MustCompile(`^f(\d+)_?[dsfh]$`), "f$1"},
	{regexp.MustCompile(`^x(\d+)$`), "r$1"}, // PowerPC
	{regexp.MustCompile(`^lr8$`), "lr"},
	{regexp.MustCompile(`^vf(\d+)$`), "v$1"}, // a vector register, as half of a VSX one
}

// lLVMReg translates LLVM's name for a register.
func lLVMReg(a *arch.Arch, s string) string {
	s = strings.ToLower(s)
	tries := []string{s}
	for _, r := range lLVMNames {
		tries = append(tries, r.from.ReplaceAllString(s, r.to))
	}
	if a == arch.ARM && s == "zr" {
		return "pc" // number 15
	}
	if (a == arch.RISCV || a == arch.RISCV64) && s[0] == 'x' {
		name, _ := a.RegName(uint64(Atoi(s[1:])))
		return name
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(s, "reg")); err == nil {
		name, _ := a.RegName(uint64(n))
		return name
	}
	for _, try := range tries {
		for _, name := range []string{try, "$" + try} {
			if _, ok := a.RegNumber(name); ok {
				return name
			}
		}
	}
	return ""
}
