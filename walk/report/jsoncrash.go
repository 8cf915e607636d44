package report

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/symtool/symtool/walk/crash"
	"github.com/symtool/symtool/walk/dump"
)

// docCrash says why the process ended, and what the instruction that crashed would have done.
// Fields about the instruction are null if its code is missing, on CPUs other than x86, amd64 and
// arm64, or if the dump lacks a register that it needs.
type docCrash struct {
	Address         *string      `json:"address"` // null if the dump has none
	AdjustedAddress *docAdjusted `json:"adjusted_address"`
	// Assertion is the failed assertion of Microsoft's C library.
	Assertion *string `json:"assertion"`
	// CrashInconsistencies are contradictions between findings.
	CrashInconsistencies []string `json:"crash_inconsistencies"`
	CrashingThread       *int     `json:"crashing_thread"` // index in threads
	Instruction          *string  `json:"instruction"`
	// InstructionPointerUpdate is the target of an indirect branch or a return.
	InstructionPointerUpdate *docTarget   `json:"instruction_pointer_update"`
	MemoryAccesses           []docAccess  `json:"memory_accesses"` // empty for none
	PossibleBitFlips         []docBitFlip `json:"possible_bit_flips"`
	Type                     *string      `json:"type"`
}

// docAdjusted is an address that explains more than the crash's own address.
type docAdjusted struct {
	Address string `json:"address,omitempty"` // of a non-canonical access: the address that was accessed
	Kind    string `json:"kind"`              // "non-canonical" or "null-pointer"
	Offset  string `json:"offset,omitempty"`  // of a null pointer: the offset from it
}

// docTarget is the target of an instruction.
type docTarget struct {
	Address string `json:"address"`
}

// docAccess is a memory access of the instruction.
type docAccess struct {
	AccessType *string `json:"access_type"` // "read", "write", "read_write"
	Address    string  `json:"address"`
	// IsLikelyGuardPage is left out if false.
	IsLikelyGuardPage bool    `json:"is_likely_guard_page,omitempty"`
	Size              *uint64 `json:"size"` // bytes
}

// docBitFlip is an address that the process could access and that differs by one bit from the
// crash's address, or from the value of a register involved in the crash: see crash.BitFlip.
type docBitFlip struct {
	Address        string         `json:"address"`
	Confidence     float32        `json:"confidence"` // 0 to 1
	Details        crash.Evidence `json:"details"`
	SourceRegister *string        `json:"source_register"` // null for the address of the crash
}

// docCrashExtra is what we add to the schema for the crash. Unknown values are left out.
type docCrashExtra struct {
	Code        string      `json:"code,omitempty"`        // the instruction's bytes, in hexadecimal
	Explanation string      `json:"explanation,omitempty"` // what the reason leaves open, in words
	Source      string      `json:"source,omitempty"`      // where the instruction is from: "dump" or "binary"
	SystemCall  *docSyscall `json:"system_call,omitempty"` // the system call of a SIGSYS
}

// docSyscall is a system call that was refused.
type docSyscall struct {
	CPU    string  `json:"cpu_arch"` // whose calling convention was used
	Name   *string `json:"name"`
	Number uint32  `json:"number"`
}

// crashExtra returns what we add to the schema, or nil if that is nothing.
func (m *documentMaker) crashExtra(a *crash.Analysis) *docCrashExtra {
	extra := docCrashExtra{Explanation: a.Explanation()}
	if in := a.Instruction; in != nil {
		extra.Code, extra.Source = hex.EncodeToString(in.Code), "dump"
		if in.Binary {
			extra.Source = "binary"
		}
	}
	if call := m.d.Crash.Syscall; call != nil {
		extra.SystemCall = &docSyscall{CPU: call.CPU(), Name: textOrNull(call.Name()), Number: call.Number}
	}
	if extra == (docCrashExtra{}) {
		return nil
	}
	return &extra
}

// crash describes the crash. stack is the index of its thread in Result.Stacks, or -1.
func (m *documentMaker) crash(stack int) (docCrash, *docCrashExtra) {
	doc := docCrash{Assertion: assertion(m.d.Assertion), CrashInconsistencies: []string{}}
	if stack >= 0 {
		doc.CrashingThread = &stack
	}
	c := m.d.Crash
	if c == nil {
		return doc, nil
	}
	doc.Type = textOrNull(m.d.Reason())
	if c.HasAddress {
		doc.Address = m.hexPtr(c.Address)
	}
	thread := m.d.CrashedThread()
	a := crash.Analyze(m.d, thread, m.r.Code)
	extra := m.crashExtra(a)
	if thread < 0 {
		return doc, extra
	}
	doc.AdjustedAddress = m.adjusted(a)
	doc.PossibleBitFlips = m.bitFlips(a)
	doc.CrashInconsistencies = append(doc.CrashInconsistencies, a.Inconsistencies()...)
	in := a.Instruction
	if in == nil {
		return doc, extra
	}
	doc.Instruction, doc.MemoryAccesses = textOrNull(in.Text), m.accesses(a)
	if in.HasTarget {
		doc.InstructionPointerUpdate = &docTarget{m.hex(in.Target)}
	}
	return doc, extra
}

func (m *documentMaker) accesses(a *crash.Analysis) []docAccess {
	if !a.Instruction.Known {
		return nil
	}
	all := []docAccess{}
	for i := range a.Instruction.Accesses {
		access := &a.Instruction.Accesses[i]
		doc := docAccess{
			AccessType: textOrNull(access.Kind.String()), Address: m.hex(access.Addr), IsLikelyGuardPage: a.IsGuardPage(access.Addr),
		}
		if access.Size != 0 {
			doc.Size = &access.Size
		}
		all = append(all, doc)
	}
	return all
}

func (m *documentMaker) adjusted(a *crash.Analysis) *docAdjusted {
	if addr, ok := a.NonCanonical(); ok {
		return &docAdjusted{Kind: "non-canonical", Address: m.hex(addr)}
	}
	if offset, ok := a.NullOffset(); ok {
		return &docAdjusted{Kind: "null-pointer", Offset: m.hex(offset)}
	}
	return nil
}

func (m *documentMaker) bitFlips(a *crash.Analysis) (all []docBitFlip) {
	for _, f := range a.BitFlips() {
		doc := docBitFlip{Address: m.hex(f.Address), Confidence: f.Confidence, Details: f.Evidence}
		if f.Register >= 0 {
			name := m.d.Arch.Label(m.d.Arch.Regs[f.Register].Name)
			doc.SourceRegister = &name
		}
		all = append(all, doc)
	}
	return all
}

// assertion formats a failed assertion on one line.
func assertion(a *dump.Assertion) *string {
	if a == nil {
		return nil
	}
	var parts []string
	if a.Expression != "" {
		parts = append(parts, a.Expression)
	}
	if a.Function != "" {
		parts = append(parts, "in "+a.Function)
	}
	if a.File != "" {
		parts = append(parts, fmt.Sprintf("at %s:%d", a.File, a.Line))
	}
	return textOrNull(strings.Join(parts, " "))
}
