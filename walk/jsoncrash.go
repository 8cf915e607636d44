package walk

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/symtool/symtool/walk/dump"
)

// DocCrash is why the process ended, and what the instruction would have done at which it did.
// Fields about the instruction are null if its code is missing, for other CPUs than x86, amd64 and
// arm64, and if the dump lacks a register that it needs.
type DocCrash struct {
	Address         *string      `json:"address"` // null where the dump has none
	AdjustedAddress *DocAdjusted `json:"adjusted_address"`
	// Assertion is the failed assertion of Microsoft's C library.
	Assertion *string `json:"assertion"`
	// CrashInconsistencies are findings that contradict each other.
	CrashInconsistencies []string `json:"crash_inconsistencies"`
	CrashingThread       *int     `json:"crashing_thread"` // place in threads
	Instruction          *string  `json:"instruction"`
	// InstructionPointerUpdate is where an indirect branch or a return goes.
	InstructionPointerUpdate *DocTarget   `json:"instruction_pointer_update"`
	MemoryAccesses           []DocAccess  `json:"memory_accesses"` // empty for none
	PossibleBitFlips         []DocBitFlip `json:"possible_bit_flips"`
	Type                     *string      `json:"type"`
}

// DocAdjusted is an address that explains more than that of the crash.
type DocAdjusted struct {
	Address string `json:"address,omitempty"` // non-canonical: that was accessed
	Kind    string `json:"kind"`              // "non-canonical" or "null-pointer"
	Offset  string `json:"offset,omitempty"`  // null-pointer: of the pointer
}

// DocTarget is where an instruction goes.
type DocTarget struct {
	Address string `json:"address"`
}

// DocAccess is a memory access of the instruction.
type DocAccess struct {
	AccessType *string `json:"access_type"` // "read", "write", "read_write"
	Address    string  `json:"address"`
	// IsLikelyGuardPage is left out if false.
	IsLikelyGuardPage bool    `json:"is_likely_guard_page,omitempty"`
	Size              *uint64 `json:"size"` // bytes
}

// DocCrashExtra is what we add to the schema about the instruction.
type DocCrashExtra struct {
	Code   string `json:"code"`   // its bytes, in hexadecimal
	Source string `json:"source"` // where they are from: "dump" or "binary"
}

// crash describes the crash. stack is the place of its thread in Result.Stacks, or -1.
func (m *documentMaker) crash(stack int) (DocCrash, *DocCrashExtra) {
	doc := DocCrash{Assertion: assertion(m.d.Assertion), CrashInconsistencies: []string{}}
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
	if thread < 0 {
		return doc, nil
	}
	in := m.r.Instruction(thread)
	a := crashAnalysis{d: m.d, in: in, context: threadContext(m.d, thread)}
	doc.AdjustedAddress = m.adjusted(&a)
	doc.PossibleBitFlips = m.bitFlips(&a)
	doc.CrashInconsistencies = append(doc.CrashInconsistencies, a.inconsistencies()...)
	if in == nil {
		return doc, nil
	}
	doc.Instruction, doc.MemoryAccesses = textOrNull(in.Text), m.accesses(&a)
	if in.HasTarget {
		doc.InstructionPointerUpdate = &DocTarget{m.hex(in.Target)}
	}
	extra := &DocCrashExtra{Code: hex.EncodeToString(in.Code), Source: "dump"}
	if in.Binary {
		extra.Source = "binary"
	}
	return doc, extra
}

func (m *documentMaker) accesses(a *crashAnalysis) []DocAccess {
	if !a.in.Known {
		return nil
	}
	all := []DocAccess{}
	for i := range a.in.Accesses {
		access := &a.in.Accesses[i]
		doc := DocAccess{
			AccessType: textOrNull(access.Kind.String()), Address: m.hex(access.Addr), IsLikelyGuardPage: a.isGuardPage(access.Addr),
		}
		if access.Size != 0 {
			doc.Size = &access.Size
		}
		all = append(all, doc)
	}
	return all
}

func (m *documentMaker) adjusted(a *crashAnalysis) *DocAdjusted {
	if addr, ok := a.nonCanonical(); ok {
		return &DocAdjusted{Kind: "non-canonical", Address: m.hex(addr)}
	}
	if offset, ok := a.nullOffset(); ok {
		return &DocAdjusted{Kind: "null-pointer", Offset: m.hex(offset)}
	}
	return nil
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
