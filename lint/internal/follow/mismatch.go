package follow

import "fmt"

// Reasons why instructions are not compared.
type reason uint8

const (
	reasonNone      reason = iota
	reasonNoCode           // the binary has no bytes there
	reasonStart            // the rule at the first instruction is not a register plus offset
	reasonStep             // a function begins inside the first instruction
	reasonSelfCall         // a call into the same block
	reasonLong             // the block is too long
	reasonOverlap          // too many blocks share the code
	reasonDecode           // an unknown instruction
	reasonPaths            // paths disagree
	reasonOutermost        // .ra is undefined: the CFA does not matter
	reasonForm             // the rule is not a register plus offset
	reasonRegister         // the register's value is unknown (and -16, alloca, loads)
	reasonCount
)

var reasonText = [reasonCount]string{
	"no instruction is reached", "the binary has no bytes there", "the first rule does not have the form register + offset",
	"begins in the middle of an instruction", "calls into itself",
	"too long to be followed", "shares its code with other STACK CFI INITs", "unknown instruction", "paths with different stacks", "the frame has no caller",
	"the rule does not have the form register + offset", "the rule's register has a value that cannot be followed",
}

func (r reason) String() string { return reasonText[r] }

// Stats counts the comparisons of rules with instructions.
type Stats struct {
	Blocks       int // STACK CFI INITs with code
	Followed     int // blocks in which all reached instructions were compared
	Partly       int // blocks in which some were compared
	Abstained    int // blocks in which none were compared
	Wrong        int // blocks with findings
	Instructions int // compared instructions
	Anchored     int // of Instructions, those whose state is known only from a rule
	Saves        int // compared rules of the return address and of saved registers, one per instruction
	WrongSaves   int // STACK CFI INITs with findings about saved registers
	// NotCompared counts instructions, and AbstainedBy blocks, by reason.
	NotCompared map[string]int
	AbstainedBy map[string]int
}

// mismatch is the finding about a block's CFA.
type mismatch struct {
	addr    uint64 // address of the first wrong instruction
	reg     string
	want    int64
	rule    int64
	line    uint32
	count   int
	why     string // the evidence, unless it is the instructions themselves
	byExits bool   // the rules are contradicted only where control leaves the block
	calls   int    // how many of count are at calls
	of      int    // number of compared instructions in the block
	// joined means that want is from the rule, and rule follows from other rules through the
	// instructions.
	joined bool
	lost   bool // the rule's register has its caller's value again, so want is unknown
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

// broad reports whether walks through the function fail at a call or at half of its instructions,
// rather than at a few instructions.
func (m *mismatch) broad() bool { return m.calls > 0 || 2*m.count >= m.of }

func signedHex(v int64) string {
	if v < 0 {
		return fmt.Sprintf("- 0x%x", uint64(-v))
	}
	return fmt.Sprintf("+ 0x%x", v)
}
