package gsym

import (
	"io"
	"math"
)

// section is the extent of a part of the file.
type section struct{ offset, size uint64 }

func (s section) end() uint64 { return s.offset + s.size }

// layout holds the extents of all parts. Both versions have the sections in the
// same order: addresses, offsets of FunctionInfos, files, strings,
// FunctionInfos.
type layout struct {
	head     section // header; in version 2 including the directory and the UUID
	addrSize int
	addrs    section
	offsets  section
	files    section
	strings  section
	funcs    section
	size     uint64 // of the file
}

// addrSize returns how many bytes the largest difference to the base needs.
func (w *writer) addrSize() int {
	entries := w.plan.entries
	switch last := entries[len(entries)-1].rva; {
	case last <= math.MaxUint8:
		return 1
	case last <= math.MaxUint16:
		return 2
	case last <= math.MaxUint32:
		return 4
	}
	return 8
}

func (w *writer) layout(chunks []chunk) (l layout) {
	l.head.size = headerSize1
	if w.version == 2 {
		l.head.size = headerSize2 + directory*uint64(len(w.sections(&l))+1) + uint64(len(w.uuid))
	}
	l.addrSize = w.addrSize()
	n := uint64(len(w.plan.entries))
	l.addrs = after(l.head, uint64(l.addrSize), n*uint64(l.addrSize))
	l.offsets = after(l.addrs, uint64(w.strSize), n*uint64(w.strSize))
	l.files = after(l.offsets, 4, 4+uint64(len(w.files.entries)*2*w.strSize))
	l.strings = after(l.files, 1, uint64(len(w.strings.data)))
	l.funcs = after(l.strings, 4, 0)
	for _, c := range chunks {
		l.funcs.size += c.size
	}
	l.size = l.funcs.end()
	return l
}

// after returns a section of the given size after another.
func after(s section, align, size uint64) section {
	return section{(s.end() + align - 1) / align * align, size}
}

// dirEntry is an entry of version 2's directory.
type dirEntry struct {
	kind uint32
	at   section
}

func (w *writer) sections(l *layout) []dirEntry {
	entries := []dirEntry{
		{sectionAddrs, l.addrs}, {sectionOffsets, l.offsets}, {sectionFiles, l.files},
		{sectionStrings, l.strings}, {sectionFuncs, l.funcs},
	}
	if len(w.uuid) > 0 {
		uuid := section{l.head.end() - uint64(len(w.uuid)), uint64(len(w.uuid))}
		entries = append([]dirEntry{{sectionUUID, uuid}}, entries...)
	}
	return entries
}

// head returns the header.
func (w *writer) head(l *layout) []byte {
	o := w.order
	b := o.AppendUint32(nil, magic)
	b = o.AppendUint16(b, uint16(w.version))
	if w.version == 1 {
		b = append(b, byte(l.addrSize), byte(len(w.uuid)))
		b = o.AppendUint64(b, w.base)
		b = o.AppendUint32(b, uint32(len(w.plan.entries)))
		b = o.AppendUint32(b, uint32(l.strings.offset))
		b = o.AppendUint32(b, uint32(l.strings.size))
		return append(append(b, w.uuid...), make([]byte, maxUUID1-len(w.uuid))...)
	}
	b = append(b, byte(l.addrSize), 0) // string encoding as in version 1
	b = o.AppendUint64(b, w.base)
	b = o.AppendUint32(b, uint32(len(w.plan.entries)))
	for _, e := range append(w.sections(l), dirEntry{kind: sectionEnd}) {
		b = o.AppendUint32(b, e.kind)
		b = o.AppendUint64(b, e.at.offset)
		b = o.AppendUint64(b, e.at.size)
	}
	return append(b, w.uuid...)
}

func (w *writer) addresses(l *layout) []byte {
	b := make([]byte, 0, l.addrs.size)
	for _, e := range w.plan.entries {
		switch l.addrSize {
		case 1:
			b = append(b, byte(e.rva))
		case 2:
			b = w.order.AppendUint16(b, uint16(e.rva))
		case 4:
			b = w.order.AppendUint32(b, uint32(e.rva))
		default:
			b = w.order.AppendUint64(b, uint64(e.rva))
		}
	}
	return b
}

// offsets returns the offsets of the FunctionInfos, in order of the address table:
// from the start of the file in version 1, from the start of the FunctionInfos in
// version 2.
func (w *writer) offsets(l *layout, chunks []chunk) []byte {
	infos := make([]uint64, 0, w.plan.infos)
	start := uint64(0)
	if w.version == 1 {
		start = l.funcs.offset
	}
	for _, c := range chunks {
		for _, at := range c.offsets {
			infos = append(infos, start+uint64(at))
		}
		start += c.size
	}
	b := make([]byte, 0, l.offsets.size)
	for _, e := range w.plan.entries {
		b = w.append(b, infos[w.plan.items[e.item].infos+e.part])
	}
	return b
}

// append appends a number in the size of offsets.
func (w *writer) append(b []byte, v uint64) []byte {
	if w.strSize == 8 {
		return w.order.AppendUint64(b, v)
	}
	return w.order.AppendUint32(b, uint32(v))
}

func (w *writer) fileEntries() []byte {
	b := w.order.AppendUint32(nil, uint32(len(w.files.entries)))
	for _, e := range w.files.entries {
		b = w.append(w.append(b, e.dir), e.base)
	}
	return b
}

// write writes the sections; the last may be in several parts.
func (l *layout) write(out io.Writer, parts [][]byte) error {
	var zeros [8]byte
	at := uint64(0)
	for i, p := range parts {
		if i <= 5 {
			start := []section{l.head, l.addrs, l.offsets, l.files, l.strings, l.funcs}[i].offset
			if err := writeAll(out, zeros[:start-at]); err != nil {
				return err
			}
			at = start
		}
		if err := writeAll(out, p); err != nil {
			return err
		}
		at += uint64(len(p))
	}
	return nil
}

func writeAll(out io.Writer, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	n, err := out.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return err
}
