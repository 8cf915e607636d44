// Package minidump reads Microsoft's minidumps, and those of Breakpad and Crashpad, into the model
// of package dump.
//
// A minidump is a header, a directory of streams, and streams, each of which may refer to other
// places of the file: strings, contexts, memory. Places are offsets from the start of the file, of
// 32 bits; only Memory64List has its memory behind 4 GB. The signature gives the byte order.
// Structures are packed: a 64-bit number need not be at a multiple of 8. Their layouts are those of
// minidumpapiset.h and winnt.h, and where Breakpad or Crashpad have their own, of Breakpad's
// src/google_breakpad/common/minidump_*.h and Crashpad's minidump/minidump_extensions.h.
//
// Nothing is copied that the file holds: memory, and the vector part of contexts, refer to it.
// Counts and sizes are bounded by the bytes that are there. Damage costs the entry or the stream
// that has it, and is reported in Dump.Problems.
//
// # Where we differ
//
//   - Modules that overlap: see dump.Dump.SetModules. Breakpad loses the whole
//     list, or on Android cuts the lower one; rust-minidump leaves modules out.
//   - Memory that two entries hold counts once, as the first entry has it: see
//     dump.NewMemory. Thread stacks that the memory list lacks are memory too.
//   - A context's flags say which of its registers are known; if none of the
//     groups is named, all are. Breakpad and rust-minidump take all on every CPU
//     but for control registers.
//   - The crash address of a 32-bit process has 32 bits; writers extend the sign.
//   - Of two streams of one type the first counts; Breakpad takes neither.
//   - An id of zeros counts as missing.
//   - In LLDB's minidumps (lldb.go) modules have all mappings of their file, for
//     it writes the size of the first; each exception stream is a thread's signal.
//   - On x86 and x86-64 the FXSAVE area is kept, not what XSAVE has beside it
//     (AVX, shadow stacks), nor FSAVE and debug registers.
package minidump
