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
// A register's name in front of an expression ends with a colon; .cfa and .ra,
// the return address, are required. An error in one register's expression costs
// that register only, so ParseRules finds fault only with the form of the set, and
// everything else shows when an expression is evaluated; Expr.Check reports it
// beforehand.
//
// # Where we differ
//
// From Breakpad (processor/postfix_evaluator-inl.h, cfi_frame_info.cc,
// stackwalker_*.cc):
//
//   - Division by zero is an error; there it is undefined behaviour (TestEval).
//   - @ with anything but a power of two is an error, as in rust-minidump;
//     there it masks with nonsense, and gives 0 for 0 (TestEval).
//   - = in a STACK CFI rule is an error, as in rust-minidump (TestEval).
//   - A callee-saved register whose rule is .undef, or fails, is unknown in the
//     caller, as in rust-minidump; there it keeps the callee's value
//     (TestCallerLosesFailedRegisters).
//   - On MIPS the program counter is .ra, as in rust-minidump, and $ra and $sp
//     follow their rules; there .ra goes to $ra, less two words to the program
//     counter, and $sp is .cfa always (TestCaller).
//   - The stack of an expression has at most MaxDepth entries and a rule set at
//     most MaxTokens tokens; there nothing is limited (TestLimits).
//
// From rust-minidump (breakpad-symbols/src/sym_file/walker.rs,
// minidump-unwind/src/lib.rs):
//
//   - STACK CFI of a 32-bit CPU is computed in 32 bits, as in Breakpad; there in
//     64, so that / and % differ and what does not fit is lost (TestEval,
//     TestCaller).
//   - A name is written as the CPU has it, as in Breakpad; there "rax" is "$rax"
//     (TestNamesAreExact).
//   - Constants are any that fit the word as unsigned, with or without a
//     minus, as in Breakpad; there those of i64, in programs of i32 (TestEval).
//   - Rules for the stack pointer and program counter that fail leave .cfa and
//     .ra in force, as in Breakpad; there the register is lost (TestCaller).
//   - A program that leaves values on the stack fails, as in Breakpad, and so
//     does one that uses .undef; there the first is accepted, and .undef deletes a
//     variable (TestProgramErrors).
//   - Only variables with a dollar sign can be assigned, as in Breakpad; there
//     also those with a dot (TestProgramErrors).
package cfi

import "github.com/symtool/symtool/symfmt/arch"

// RVA is an address relative to the module's load base, in bytes.
type RVA = arch.RVA

// MaxTokens is the most tokens that a rule set or program string may have.
// Expressions have no loops, so that it also bounds the steps of an evaluation.
// A rule set that recovers all registers of a signal frame has under 300, the
// longest program strings of compilers about 60. Parsing more is an error.
const MaxTokens = 4096

// MaxDepth is the most values that an evaluation holds at a time; they are in
// an array, so that evaluation allocates nothing. Rules of compilers need 3,
// translated DWARF expressions (the PLT's) 4. One more value is an error.
const MaxDepth = 32

// MaxNames is the most names that a Names may hold beyond those of its CPU: a
// module has a handful. Parsing yet another is an error.
const MaxNames = 1 << 20
