package dumpfile

import "bytes"

// kernelDumps are makedumpfile's formats for dumps of a kernel: how a file begins, and how to convert it to an ELF
// core.
var kernelDumps = []struct{ magic, what string }{
	{"KDUMP   ", "a dump of the kernel as makedumpfile compresses it: want an ELF core, which makedumpfile -E writes"},
	{"DISKDUMP", "a dump of the kernel as diskdump writes it: want an ELF core"},
	{"makedumpfile\x00", "a flattened dump of the kernel: makedumpfile -R puts it together; want an ELF core, which makedumpfile -E writes"},
}

// kernelDump describes a dump of a kernel in a format that symtool does not read, or returns "".
func kernelDump(head []byte) string {
	for _, d := range kernelDumps {
		if bytes.HasPrefix(head, []byte(d.magic)) {
			return d.what
		}
	}
	return ""
}
