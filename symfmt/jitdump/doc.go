// Package jitdump reads the files in which JIT compilers describe the code that they have made, as perf inject does:
// jit-PID.dump.
//
// # The format as we read it
//
// It is defined by the Linux kernel's tools/perf/Documentation/jitdump-specification.txt: a header, which says the byte
// order and the CPU, and records with a type, a size and a time. Code is loaded, may move, and is replaced by code that
// is loaded later at any of its addresses: it has then been freed. The lines and the call frame information of a piece
// of code precede it. A record of an unknown type is skipped.
//
// # Where the format is not what is written
//
//   - Call frame information: the specification puts the .eh_frame_hdr first. perf (tools/perf/util/genelf.c) and V8
//     have it at the end. The .eh_frame begins 8 bytes aligned after the code, as if it were there in memory.
//   - V8 (seen in Node 20): lines are not used. Their addresses are off by the size of an ELF header, those of baseline
//     code count bytecode instead of instructions, and names of files may be memory that was freed. The names of
//     functions have their position in the source. V8's files are those whose reserved field is 0xdeadbeef.
//   - perf's agent for Java writes "\xff" for the name of the same file as in the entry before.
//
// # Where we differ
//
// perf skips bad records silently. Here these are problems, with their offset.
package jitdump
