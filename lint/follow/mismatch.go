package follow

import "fmt"

// Reasons why instructions are not compared.
type reason uint8

const (
	reasonNone      reason = iota
	reasonNoCode           // the binary has no bytes there
	reasonStart            // the rule at the first instruction is not a register plus offset
	reasonSelfCall         // a call into the same block
	reasonLong             // the block is too long
	reasonOverlap          // too many blocks share code
	reasonDecode           // an instruction that is not known
	reasonPaths            // paths disagree
	reasonOutermost        // .ra is undefined: the CFA does not matter
	reasonForm             // the rule is not a register plus offset
	reasonRegister         // the register's value is not known (and -16, alloca, loads)
	reasonCount
)

var reasonText = [reasonCount]string{
	"no instruction is reached", "the binary has no bytes there", "the first rule is not of the form register + offset", "calls into itself",
	"too long to be followed", "shares its code with other STACK CFI INITs", "instruction that is not known", "paths with different stacks", "the frame has no caller",
	"the rule is not of the form register + offset", "the rule's register has a value that is not followed",
}

func (r reason) String() string { return reasonText[r] }

// Stats counts the comparisons of rules with instructions.
type Stats struct {
	Blocks       int // STACK CFI INIT with code
	Followed     int // all their instructions that are reached were compared
	Partly       int // some were
	Abstained    int // none was
	Wrong        int // with findings
	Instructions int // compared
	Anchored     int // of these, in code that is known by a rule alone
	Saves        int // rules of the return address and of saved registers that were compared, one for each instruction
	WrongSaves   int // STACK CFI INITs with findings about these
	// NotCompared counts instructions, AbstainedBy blocks, by reason.
	NotCompared map[string]int
	AbstainedBy map[string]int
}

// mismatch is the finding in a block.
type mismatch struct {
	addr  uint64 // first
	reg   string
	want  int64
	rule  int64
	line  uint32
	count int
	why   string // the evidence, if not the instructions themselves
	calls int    // how many of count are calls
	of    int    // instructions of the block that were compared
	// joined: want is the rule's, and rule is what other rules, followed through the
	// instructions, come to.
	joined bool
	lost   bool // the rule's register has its caller's value again, so that want is not known
}

func (m *mismatch) String() string {
	say := fmt.Sprintf("by the instructions the CFA is %s %s, the rule says %s", m.reg, signedHex(m.want), signedHex(m.rule))
	if m.lost {
		say = fmt.Sprintf("by the instructions %s has the caller's value, the rule computes the CFA from it", m.reg)
	}
	if m.joined {
		say = fmt.Sprintf("the rule says %s %s, the rules of code that leads here make it %s", m.reg, signedHex(m.want), signedHex(m.rule))
	}
	if m.why != "" {
		say += " (" + m.why + ")"
	}
	if m.count > 1 {
		say += fmt.Sprintf(": wrong at %d of the STACK CFI INIT's %d instructions, %d of them calls", m.count, m.of, m.calls)
	}
	return say
}

// broad reports whether a walk through the function goes wrong from most places, rather than from a
// few of its instructions.
func (m *mismatch) broad() bool { return m.calls > 0 || 2*m.count >= m.of }

func signedHex(v int64) string {
	if v < 0 {
		return fmt.Sprintf("- 0x%x", uint64(-v))
	}
	return fmt.Sprintf("+ 0x%x", v)
}
