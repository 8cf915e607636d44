package coverage

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/facts"
	"github.com/symtool/symtool/symfmt"
)

// Verdict says what a symbol file is good for.
type Verdict string

// The verdicts.
const (
	GoodForUnwinding  Verdict = "good for unwinding"
	NotMeasured       Verdict = "unwinding not measured" // there is call frame information, but the share of the code is unknown
	SymbolicationOnly Verdict = "symbolication only"
	Unusable          Verdict = "unusable"
)

// goodShare is the share of the code, of functions' first bytes, and of return addresses
// where they are known, with call frame information, in percent, from which a file is
// good for unwinding when no other limit is given.
//
// Of 57 x86-64 libraries of Debian 12, measured with their binaries, 49 have all of
// their code, and 6 more have 97.69 % or more: they lack assembly in libcrypto,
// libgcrypt, libhogweed, libffi and libzstd, and 20 bytes of libc. Two are below:
// libgmp (93.77 %) and libnettle (76.05 %), which are largely assembly without .cfi
// directives. Of glibc's and GCC's libraries for other CPUs, the 36 for arm64, i386,
// ppc, ppc64, ppc64le and s390x have 99.6 % or more; Debian builds those for ARM, MIPS
// and RISC-V without rules for C, and these 24 have 76.07 % or less.
const goodShare = 95

// Contradict subtracts n STACK CFI blocks that the binary's instructions contradict at a call from
// those that a walker can use. see says where to read more.
func (c *Coverage) Contradict(n int, limit float64, see string) {
	good := Share{uint64(max(0, c.Blocks-n)), uint64(c.Blocks)}
	c.Reasons = append(c.Reasons, fmt.Sprintf("%d of %s are contradicted by the code, and lead walks astray: %s",
		n, text.Count(c.Blocks, "STACK CFI INIT"), see))
	if good.Below(cmp.Or(limit, goodShare)) && c.Verdict == GoodForUnwinding {
		c.Verdict = SymbolicationOnly
	}
}

// Judge sets the verdict.
func (c *Coverage) Judge(f *facts.Facts, minCFI, minLines float64) {
	c.Reasons = []string{}
	why := func(format string, args ...any) { c.Reasons = append(c.Reasons, fmt.Sprintf(format, args...)) }
	limit := minCFI
	if limit <= 0 {
		limit = goodShare
	}
	names := c.Functions+c.Publics > 0
	switch {
	case !f.HasModule:
		c.Verdict = Unusable
		why("no MODULE record: no reader accepts the file")
		return
	case !names && !c.AnyCFI():
		c.Verdict = Unusable
		why("there are no names and no call frame information")
		return
	case !c.AnyCFI():
		c.Verdict = SymbolicationOnly
		why("there is no call frame information: stacks through this module are guessed")
	default:
		c.Verdict = GoodForUnwinding
		c.enough(limit, why)
	}
	if !names {
		why("there are no names: frames show addresses only")
	}
	switch {
	case c.Functions == 0 && names:
		why("there are only public symbols: a name may be the previous symbol's, and lines are unknown")
	case c.Functions > 0 && c.WithLines.Covered == 0:
		why("no function has lines: frames show functions without files and lines")
	case minLines > 0 && c.Lines.Below(minLines):
		why("%s of function bytes have lines, less than %v %%", c.Lines, minLines)
	}
}

// Unmeasured is the reason why the share of the code with call frame information is unknown.
const Unmeasured = "no record says how much code there is: the share with call frame information is unknown without the binary (--binary)"

// enough compares the shares with a limit.
func (c *Coverage) enough(limit float64, why func(string, ...any)) {
	if c.All.Total == 0 {
		c.Verdict = NotMeasured
		why(Unmeasured)
		return
	}
	for _, s := range c.Demanded() {
		if s.Below(limit) {
			c.Verdict = SymbolicationOnly
			why("%s of %s, less than %v %%", s.Share, s.Of, limit)
		} else {
			why("%s of %s", s.Share, s.Of)
		}
	}
}

// DemandedShare is a share to which the verdict and --min-cfi apply.
type DemandedShare struct {
	Share
	Of string // what it is a share of
}

// Demanded returns the shares that must reach the limit, except shares of nothing.
func (c *Coverage) Demanded() (list []DemandedShare) {
	add := func(s Share, of string) {
		if s.Total > 0 {
			list = append(list, DemandedShare{s, of})
		}
	}
	add(c.All.Share, c.CodeOf()+" has call frame information")
	add(Share{c.Entries.Covered - c.Startup.Covered, c.Entries.Total - c.Startup.Total}, "functions have call frame information at their first byte")
	if c.Calls != nil {
		add(*c.Calls, "return addresses have call frame information")
	}
	return list
}

// CodeOf describes what All is a share of.
func (c *Coverage) CodeOf() string {
	if c.All.Of == CodeOfBinary {
		return "the binary's code"
	}
	return "the code of FUNCs and PUBLICs"
}

// String formats the share for messages: never as 100 % if a part is missing.
func (s Share) String() string {
	if s.Covered < s.Total {
		return fmt.Sprintf("%.2f %%", min(s.Percent(), 99.99))
	}
	return "100 %"
}

// Label describes the record of a gap, with its name if that is known.
func (g *Gap) Label() string {
	switch {
	case g.Line == 0:
		return ", neither FUNC nor PUBLIC"
	case g.Name == "":
		return fmt.Sprintf(", line %d", g.Line)
	}
	return fmt.Sprintf(", line %d %s", g.Line, quoteName(g.Name))
}

// ReadNames reads the symbol file a second time, up to the last listed function, and sets the
// names of the listed functions, which a check does not keep.
func (c *Coverage) ReadNames(in io.Reader) error {
	want := map[int][]*Gap{}
	last := 0
	for _, gaps := range [][]Gap{c.Worst, c.WorstLines} {
		for i := range gaps {
			if gaps[i].Line > 0 {
				want[gaps[i].Line] = append(want[gaps[i].Line], &gaps[i])
				last = max(last, gaps[i].Line)
			}
		}
	}
	if last == 0 {
		return nil
	}
	rd := symfmt.NewReader(in, symfmt.ReadOptions{Tolerant: true, MaxProblems: 1})
	for {
		r, err := rd.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if r.Kind != symfmt.KindFunc && r.Kind != symfmt.KindPublic {
			continue
		}
		line := r.Pos().Line
		for _, g := range want[line] {
			g.Name = string(r.Name)
		}
		if line >= last {
			return nil
		}
	}
}

// quoteName formats a name in the file for people: escaped and shortened.
func quoteName(name string) string {
	if len(name) > 2*facts.MaxQuoted {
		name = strings.ToValidUTF8(name[:2*facts.MaxQuoted], "") + "..."
	}
	return text.Printable(name)
}
