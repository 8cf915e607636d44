package coverage

import (
	"cmp"
	"fmt"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/internal/extent"
	"github.com/symtool/symtool/lint/internal/facts"
)

// goodShare is the share, in percent, from which a file is good for unwinding when no other limit is given.
// It applies to the code, to functions' first bytes and, where they are known, to return addresses, and means
// those with call frame information.
//
// Of 57 x86-64 libraries of Debian 12, measured with their binaries, 49 have call frame information for all
// of their code, and 6 more for 97.69 % or more: they lack it for assembly in libcrypto, libgcrypt,
// libhogweed, libffi and libzstd, and for 20 bytes of libc. Two are below: libgmp (93.77 %) and libnettle
// (76.05 %), which are largely assembly without .cfi directives. Of glibc's and GCC's libraries for other
// CPUs, the 36 for arm64, i386, ppc, ppc64, ppc64le and s390x have 99.6 % or more; Debian builds those for
// ARM, MIPS and RISC-V without rules for C, and these 24 have 76.07 % or less.
const goodShare = 95

// Contradict subtracts n STACK CFI blocks, which the binary's instructions contradict at a call, from the
// blocks that a walker can use. see says where to read more.
func Contradict(c *coverage.Coverage, n int, limit float64, see string) {
	good := coverage.Share{Covered: uint64(max(0, c.Blocks-n)), Total: uint64(c.Blocks)}
	c.Reasons = append(c.Reasons, fmt.Sprintf("%d of %s are contradicted by the code, and lead walks astray: %s",
		n, text.Count(c.Blocks, "STACK CFI INIT"), see))
	if below(good, cmp.Or(limit, goodShare)) && c.Verdict == coverage.GoodForUnwinding {
		c.Verdict = coverage.SymbolicationOnly
	}
}

// judge sets the verdict.
func judge(c *coverage.Coverage, f *facts.Facts, minCFI, minLines float64) {
	c.Reasons = []string{}
	why := func(format string, args ...any) { c.Reasons = append(c.Reasons, fmt.Sprintf(format, args...)) }
	limit := minCFI
	if limit <= 0 {
		limit = goodShare
	}
	names := c.Functions+c.Publics > 0
	switch {
	case !f.HasModule:
		c.Verdict = coverage.Unusable
		why("no MODULE record: no reader accepts the file")
		return
	case c.NoCode:
		c.Verdict = coverage.GoodForUnwinding
		why("the binary has no code but that of start-up files")
		return
	case !names && !anyCFI(c) && f.Variables:
		c.Verdict = coverage.VariablesOnly
		why("names and call frame information are in the symbol file beside it")
		return
	case !names && !anyCFI(c):
		c.Verdict = coverage.Unusable
		why("there are no names and no call frame information")
		return
	case !anyCFI(c) && onlyStartup(c, f):
		c.Verdict = coverage.SymbolicationOnly
		why("only start-up code has names, and there is no call frame information: whether there is other code is unknown without the binary (--binary)")
	case !anyCFI(c):
		c.Verdict = coverage.SymbolicationOnly
		why("there is no call frame information: stacks through this module are guessed")
	default:
		c.Verdict = coverage.GoodForUnwinding
		enough(c, limit, why)
	}
	if !names {
		why("there are no names: frames show addresses only")
	}
	switch {
	case c.Functions == 0 && names:
		why("there are only public symbols: a name may be the previous symbol's, and lines are unknown")
	case c.Functions > 0 && c.WithLines.Covered == 0:
		why("no function has lines: frames show functions without files and lines")
	case minLines > 0 && below(c.Lines, minLines):
		why("%s of function bytes have lines, less than %v %%", c.Lines, minLines)
	}
}

// onlyStartup reports whether all known code belongs to start-up files, which have no rules by design.
func onlyStartup(c *coverage.Coverage, f *facts.Facts) bool {
	return c.All.Total == 0 && c.Functions+c.Publics <= len(f.Startup)
}

// anyCFI reports whether any code has call frame information.
func anyCFI(c *coverage.Coverage) bool { return len(c.Known) > 0 }

// Unmeasured is the reason why the share of the code with call frame information is unknown.
const Unmeasured = "no record says how much code there is: the share with call frame information is unknown without the binary (--binary)"

// enough compares the shares with a limit.
func enough(c *coverage.Coverage, limit float64, why func(string, ...any)) {
	if c.All.Total == 0 {
		c.Verdict = coverage.NotMeasured
		why(Unmeasured)
		return
	}
	for _, s := range demanded(c) {
		if below(s.Share, limit) {
			c.Verdict = coverage.SymbolicationOnly
			why("%s of %s, less than %v %%", s.Share, s.Of, limit)
		} else {
			why("%s of %s", s.Share, s.Of)
		}
	}
}

// demandedShare is a share to which the verdict and --min-cfi apply.
type demandedShare struct {
	coverage.Share
	Of string // describes the whole
}

// demanded returns the shares that must reach the limit, except those whose whole is empty.
func demanded(c *coverage.Coverage) (list []demandedShare) {
	add := func(s coverage.Share, of string) {
		if s.Total > 0 {
			list = append(list, demandedShare{s, of})
		}
	}
	add(c.All.Share, c.CodeOf()+" has call frame information")
	add(coverage.Share{Covered: c.Entries.Covered - c.Startup.Covered, Total: c.Entries.Total - c.Startup.Total}, "functions have call frame information at their first byte")
	if c.Calls != nil {
		add(*c.Calls, "return addresses have call frame information")
	}
	return list
}

// below reports whether a share is below a limit in percent.
func below(s coverage.Share, percent float64) bool { return s.Total > 0 && s.Percent() < percent }

// add adds to s a part of the whole and the covered bytes of that part.
func add(s *coverage.Share, covered, total uint64) {
	s.Covered, s.Total = extent.Sum(s.Covered, covered), extent.Sum(s.Total, total)
}
