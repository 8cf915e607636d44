package elfobj

import "debug/elf"

// A core is often truncated, by a full disk or a limit. Its program headers are at
// the beginning and contain all that matters, so the section headers may be
// missing: in gdb's cores they are at the end, and so are they in the kernel's
// cores with 65,535 segments or more, whose first section header holds the number
// of segments.

func (t *tables) isCore() bool { return elf.Type(t.ehdr.Type) == elf.ET_CORE }

// loseSections continues without section headers.
func (t *tables) loseSections(err error) {
	t.f.problem("all section headers", err)
	t.shnum, t.shstrndx, t.shdrs = 0, uint32(elf.SHN_UNDEF), nil
	if t.phnum == pnXNum {
		t.phnum = max(t.segmentsBeforeNotes(), pnXNum)
	}
}

// segmentsBeforeNotes returns how many program headers fit between the first one and
// the contents of its segment, the notes. The kernel leaves no gap there (Linux,
// fs/binfmt_elf.c, elf_core_dump).
func (t *tables) segmentsBeforeNotes() uint64 {
	h, want := &t.ehdr, phdrForm.size(t.f)
	data, err := t.f.readTable("program header table", h.Phoff, 1, uint64(h.Phentsize), want)
	if err != nil || h.Phoff == 0 {
		return 0
	}
	var first elf.Prog64
	phdrForm.decode(t.f, data, &first)
	if elf.ProgType(first.Type) != elf.PT_NOTE || first.Off < h.Phoff {
		return 0
	}
	return (first.Off - h.Phoff) / uint64(h.Phentsize)
}

// cutSegments drops the program headers that lie outside the file.
func (t *tables) cutSegments() {
	h, size := &t.ehdr, uint64(t.f.Size)
	if uint64(h.Phentsize) < phdrForm.size(t.f) || h.Phoff > size {
		return // readSegments will return the error
	}
	if there := (size - h.Phoff) / uint64(h.Phentsize); there < t.phnum {
		t.f.problem("segments", t.f.errorf(h.Phoff, "%d of %d program headers are in the file of %d bytes (cut short?)",
			there, t.phnum, size))
		t.phnum = there
	}
}
