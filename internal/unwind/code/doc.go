// Package code derives the rules of call frame information from instructions, for code that has none: it follows each
// function from its start along every path, and keeps track of where the caller's registers are.
//
// # What is certain
//
// A function begins where a symbol says so, or a call leads. There, the return address is on top of the stack, or in a
// register, and other registers have the caller's values (System V ABI, AMD64 supplement, 3.2; Procedure Call Standard
// for the Arm 64-bit Architecture, section 6). From instruction to instruction, a register or a word of the stack is known relative to the CFA, or as the
// value that a register had at the start. Where paths meet, only what all of them know is kept. An instruction has
// rules only if the CFA and the return address are known before it.
//
// Code behind a call is followed once the called function is known to return: it reaches a return, or goes on in a
// function that returns. Functions of other modules return, but for those that are declared not to. If a call is
// followed that does not return after all, what comes behind it belongs to another path, whose stack pointer differs:
// then the function is followed again without it. A switch is followed if a comparison limits its index; if none
// does, because it has a case for each value, its table goes up to the next address that code takes. Cold parts, which
// have symbols, are entered by jumps with the frame of their function.
//
// Without symbols, functions may also begin at addresses that instructions or data have. Such a guess counts only if it
// certainly returns, and shares no code with another function. What is behind a call of another module may then be
// another function, and has rules only if it returns as its function does, or leads to code that is certain.
//
// A function that returns with another stack pointer than the one it began with, or without the caller's registers, or
// that goes on in another function in such a state, contradicts the calling convention. It gets no rules at all.
package code
