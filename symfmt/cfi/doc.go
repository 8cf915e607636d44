// Package cfi holds the rules of STACK CFI records and the program strings of
// STACK WIN records: parsed once into compact programs, printed, compared by
// effect, and evaluated without allocation.
//
// A rule set is a list of "register: expression" pairs (specification:
// breakpad-symbol-files, "STACK CFI records"). An expression is postfix; its
// tokens are separated by blanks:
//
//	8, -8      a decimal constant
//	$rsp, x29  a register's value in the callee, whatever other rules say
//	.cfa       the frame address: the value of the .cfa rule in force
//	+ - *      modulo the word size of the CPU
//	/ %        unsigned
//	@          a b @ is a rounded down to a multiple of b
//	^          the word in memory at an address
//	.undef     the register cannot be recovered
//	=          in program strings only: name value =
//
// A name before an expression ends with a colon; .cfa and .ra, the return address,
// are required. Because an error in one register's expression affects only that
// register, ParseRules reports only faults in the form of the set. All others are
// reported when an expression is evaluated, or beforehand by Expr.Check.
//
// # Where we differ
//
// From Breakpad (processor/postfix_evaluator-inl.h, cfi_frame_info.cc,
// stackwalker_*.cc):
//
//   - Division by zero is an error; in Breakpad it is undefined behaviour (TestEval).
//   - @ with anything but a power of two is an error, as in rust-minidump;
//     Breakpad masks with nonsense, and gives 0 for 0 (TestEval).
//   - = in a STACK CFI rule is an error, as in rust-minidump (TestEval).
//   - A callee-saved register whose rule is .undef, or fails, is unknown in the
//     caller, as in rust-minidump; Breakpad keeps the callee's value
//     (TestCallerLosesFailedRegisters).
//   - On MIPS the program counter is .ra, as in rust-minidump, and $ra and $sp
//     follow their rules; Breakpad copies .ra to $ra and, less two words, to
//     the program counter, and $sp is always .cfa (TestCaller).
//   - The stack of an expression has at most MaxDepth entries and a rule set at
//     most 4096 tokens; Breakpad has no limits (TestLimits).
//
// From rust-minidump (breakpad-symbols/src/sym_file/walker.rs,
// minidump-unwind/src/lib.rs):
//
//   - STACK CFI of a 32-bit CPU is computed in 32 bits, as in Breakpad;
//     rust-minidump uses 64, so / and % differ, and a result that does not fit
//     is lost (TestEval, TestCaller).
//   - Names are exact, as in Breakpad; rust-minidump accepts "rax" for "$rax"
//     (TestNamesAreExact).
//   - Constants are any that fit the word as unsigned, with or without a
//     minus, as in Breakpad; rust-minidump takes those of i64, in programs i32 (TestEval).
//   - Rules for the stack pointer and program counter that fail leave .cfa and
//     .ra in force, as in Breakpad; rust-minidump loses the register (TestCaller).
//   - A program that leaves values on the stack fails, as in Breakpad, and so
//     does one that uses .undef; rust-minidump accepts the first, and .undef
//     deletes a variable (TestProgramErrors).
//   - Only variables with a dollar sign can be assigned, as in
//     Breakpad; rust-minidump also allows a dot (TestProgramErrors).
package cfi

import "github.com/symtool/symtool/symfmt/arch"

// RVA is an address relative to the module's load base, in bytes.
type RVA = arch.RVA

// maxTokens is the maximum number of tokens in a rule set or program string.
// Because expressions have no loops, it also bounds the steps of an evaluation.
// A rule set that recovers all registers of a signal frame has fewer than 300
// tokens, and compilers' longest program strings about 60.
const maxTokens = 4096

// MaxDepth is the maximum number of values on the evaluation stack, which is an
// array so that evaluation does not allocate. Compilers' rules need 3, and
// translated DWARF expressions (the PLT's) 4.
const MaxDepth = 32

// maxNames is the maximum number of names in a Names beyond its CPU's. A module
// has a handful.
const maxNames = 1 << 20
