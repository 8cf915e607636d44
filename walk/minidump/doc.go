// Package minidump reads and writes Microsoft's minidumps, including those of Breakpad and
// Crashpad. Read and Write convert between them and package dump's model.
//
// A minidump consists of a header, a directory of streams, and streams, each of which may refer
// to other places in the file: strings, contexts, memory. Places are 32-bit offsets from the
// start of the file; only the memory of a Memory64List may be above 4 GB. The signature shows the
// byte order. Structures are packed: 64-bit numbers need not be aligned. Their layouts are
// defined in minidumpapiset.h and winnt.h, those of Breakpad's own streams in its
// src/google_breakpad/common/minidump_*.h, and those of Crashpad's in its
// minidump/minidump_extensions.h.
//
// Memory is not copied but refers to the file, and so do the vector parts of most contexts.
// Counts and sizes are bounded by the bytes available. Damage costs only the entry or stream that
// it is in, and is reported in Dump.Problems.
//
// # Where we differ
//
//   - Modules that overlap: see dump.Dump.SetModules. Breakpad loses the whole
//     list, or on Android cuts the lower one; rust-minidump leaves modules out.
//   - Memory in two entries counts once, as in the first entry: see
//     dump.NewMemory. Thread stacks missing from the memory list are memory, too.
//   - A context's flags say which of its registers are known; if they name no
//     group, all are. Breakpad and rust-minidump take all but control registers
//     on every CPU.
//   - The crash address of a 32-bit process has 32 bits; writers extend the sign.
//   - Of two streams of the same type the first counts; Breakpad uses neither.
//   - An id of zeros counts as missing.
//   - Modules are where their program headers or mappings say, as far as the
//     dump has them, not where the writer says: see dump.Dump.SetListed.
//     Breakpad and rust-minidump take the writer's sizes.
//   - In LLDB's minidumps (lldb.go) each exception stream is a thread's signal.
//   - On x86 and x86-64 the FXSAVE area is kept, not what XSAVE has beside it
//     (AVX, shadow stacks), nor FSAVE and debug registers.
package minidump
