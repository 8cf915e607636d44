package dump

import "fmt"

// Reason returns why the process crashed, in the words of its operating system: "SIGSEGV /
// SEGV_MAPERR", "EXCEPTION_ACCESS_VIOLATION_WRITE", "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS"; ""
// without a crash. A code without a name is a number. The texts are those of rust-minidump.
func (d *Dump) Reason() string {
	switch {
	case d.Crash == nil:
		return ""
	case d.System.OS == Linux || d.System.OS == Android:
		return d.linuxReason()
	case d.System.OS == Windows:
		return d.Crash.windowsReason()
	case d.System.OS == MacOS || d.System.OS == IOS:
		return d.macReason()
	}
	return fmt.Sprintf("unknown 0x%08x / 0x%08x", d.Crash.Code, d.Crash.Flags)
}

// named returns the name of a code, or the code itself.
func named(names map[uint32]string, code uint32) string {
	if s, ok := names[code]; ok {
		return s
	}
	return fmt.Sprintf("0x%08x", code)
}

// numbered makes a table of names for the codes from first on.
func numbered(first uint32, names ...string) map[uint32]string {
	table := make(map[uint32]string, len(names))
	for i, s := range names {
		table[first+uint32(i)] = s
	}
	return table
}
