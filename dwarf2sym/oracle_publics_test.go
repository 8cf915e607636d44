package dwarf2sym_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// If a binary has no debug information, symtool resolve answers with PUBLICs, as
// llvm-symbolizer does with ELF symbols. They are compared at each symbol of code, and at
// the last byte before the next. Rules say where the two may differ.
func TestOraclePublics(t *testing.T) {
	testenv.Oracle(t)
	symtool := symtoolBinary(t)
	files := []string{testenv.File(t, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++6")}
	for _, c := range fixtures(t) {
		// llvm does not read the section that holds the symbols of minidebug.elf.
		if _, object := isObject(t, c.file); notCompared[c.name] == noDebugInfo && !object && c.name != "minidebug" {
			files = append(files, c.file)
		}
	}
	sum := &publics{counts: map[string]int{}}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			p := resolvePublics(t, symtool, file)
			t.Logf("%d addresses, %d agree, by rules %v", p.addresses, p.agree, p.counts)
			sum.add(p)
		})
	}
	t.Logf("%d binaries: %d addresses from 4 sources, %d agree", len(files), sum.addresses, sum.agree)
	for _, r := range publicRules {
		t.Logf("rule %s, %d addresses: %s", r.name, sum.counts[r.name], r.why)
	}
	if sum.addresses < large/2 || sum.agree < sum.addresses/2 {
		t.Errorf("%d of %d addresses agree", sum.agree, sum.addresses)
	}
}

// publics counts the answers.
type publics struct {
	addresses, agree int
	counts           map[string]int
}

func (p *publics) add(q *publics) {
	p.addresses += q.addresses
	p.agree += q.agree
	for rule, n := range q.counts {
		p.counts[rule] += n
	}
}

// publicAnswer is an address where symtool and llvm-symbolizer disagree.
type publicAnswer struct {
	c            *comparison
	addr         uint64
	start        uint64 // of the PUBLIC, as an address
	ours, theirs string // names; "" if there is none
}

var publicRules = []struct {
	name, why string
	is        func(a *publicAnswer) bool
}{
	{
		"several-names", "several symbols have the address: symtool takes one, llvm another",
		func(a *publicAnswer) bool {
			return a.ours != "" && a.theirs != "" && a.c.symbolAt(a.start-a.c.base, a.ours) && oneCalled(a.c.symbols[a.start], a.theirs)
		},
	},
	{
		"first-byte", "as Breakpad's resolver, symtool leaves out a PUBLIC of RVA 0",
		func(a *publicAnswer) bool { return a.ours == "" && oneCalled(a.c.symbols[a.c.base], a.theirs) },
	},
	{
		"behind-symbol", "behind the end of a symbol llvm has nothing; a PUBLIC has no end",
		func(a *publicAnswer) bool {
			return a.theirs == "" && a.addr > a.start && a.c.symbolAt(a.start-a.c.base, a.ours)
		},
	},
	{
		unsure, "where rules begin or end in it, a PUBLIC of a symbol file may have ended; the binary knows, and agrees with llvm",
		func(a *publicAnswer) bool { return a.ours == "" && a.theirs != "" },
	},
}

const unsure = "unsure"

// resolvePublics compares one binary, from all four sources.
func resolvePublics(t *testing.T, symtool, file string) *publics {
	t.Helper()
	text, _, damaged := bytes.Cut(dumpText(t, fixture{file: file}, 2), []byte("# ")) // the problems follow
	base := loadBase(t, file)
	c := &comparison{base: base, symbols: elfNames(t, file)}
	for line := range bytes.Lines(text) {
		if rest, ok := strings.CutPrefix(string(line), "PUBLIC "); ok {
			rva, _, _ := strings.Cut(strings.TrimPrefix(rest, "m "), " ")
			addr, err := strconv.ParseUint(rva, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			c.asked = append(c.asked, base+addr, base+max(addr, 1)-1)
		}
	}
	slices.Sort(c.asked)
	c.asked = slices.Compact(c.asked)
	c.theirs = llvmFrames(t, file, c.asked)
	names := demangled(t, c.theirs)
	p := &publics{addresses: len(c.asked), counts: map[string]int{}}
	var first, rules []string // the symbol file's answers, and the rules for those that differ from llvm's
	var questions []byte
	for _, addr := range c.asked {
		questions = append(strconv.AppendUint(questions, addr-base, 16), '\n')
	}
	for k, s := range sourcesOf(t, text, []string{file}) {
		s.damaged = damaged && s.name == "binary"
		answersFrom(t, symtool, s, questions, len(c.asked), func(i int, line []byte) {
			theirs := names[c.theirs[i][0].name]
			switch same := k > 0 && string(line) == first[i]; {
			case k == 0:
				first = append(first, string(line))
				rules = append(rules, p.at(t, c, i, line, theirs))
			case same && (s.name != "binary" || rules[i] != unsure):
			case s.name == "binary" && rules[i] != "" && (&publics{counts: map[string]int{}}).at(t, c, i, line, theirs) == "":
			default:
				t.Errorf("%s: %s, from the symbol file %s", s.name, line, first[i])
			}
		})
	}
	return p
}

// at compares answer i with llvm's name. It returns the rule that explains the
// difference, or "".
func (p *publics) at(t *testing.T, c *comparison, i int, line []byte, theirs *mangled) (rule string) {
	t.Helper()
	var a resolved
	if err := json.Unmarshal(line, &a); err != nil {
		t.Fatal(err)
	}
	d := &publicAnswer{c: c, addr: c.asked[i], theirs: theirs.gnu}
	if a.Found {
		start, err := strconv.ParseUint(strings.TrimPrefix(a.Start, "0x"), 16, 64)
		if err != nil || a.Record != "PUBLIC" || len(a.Frames) != 1 {
			t.Fatalf("%s: %v", line, err)
		}
		d.start, d.ours = start+c.base, a.Frames[0].Function
	}
	if _, same := sameName(d.ours, theirs); same {
		p.agree++
		return ""
	}
	for _, r := range publicRules {
		if r.is(d) {
			p.counts[r.name]++
			return r.name
		}
	}
	t.Errorf("%#x: %q, llvm has %q", d.addr, d.ours, d.theirs)
	return ""
}
