package minidump

import (
	"fmt"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/walk/dump"
)

// crashpadInfo reads MinidumpCrashpadInfo: annotations of the process and of
// its modules.
func (r *reader) crashpadInfo(s span) {
	c := r.cursor(s)
	c.Skip(4) // version
	report, client := c.Bytes(16), c.Bytes(16)
	if err := c.Err(); err != nil {
		r.problem(s.name, err)
		return
	}
	r.d.ReportID, r.d.ClientID = r.uuid(report), r.uuid(client)
	simple, modules := place(&c), place(&c)
	if err := c.Err(); err != nil {
		r.problem("annotations", err)
		return
	}
	r.dictionary(r.annotate, simple)
	const link = 12 // MinidumpModuleCrashpadInfoLink
	r.sublist(modules, link, "modules with annotations", func(_, _ int, c *bin.Cursor) {
		module := c.U32()
		r.moduleAnnotations(module, place(c))
	})
}

// uuid formats a GUID in lower case with dashes; it returns "" for zeros.
func (r *reader) uuid(guid []byte) string {
	if zeros(guid) {
		return ""
	}
	b := bigEndianGUID(guid, r.order)
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// sublist iterates over a list that another structure refers to.
func (r *reader) sublist(l location, n int, what string, each func(i, n int, c *bin.Cursor)) {
	if l.size == 0 {
		return
	}
	data, whole := r.at(l)
	if !whole {
		r.problemf("the rest of the "+what, l.off, "%d bytes, of which the file has %d", l.size, len(data))
	}
	if !r.take(data) {
		r.problemf("the "+what, l.off, "the lists are longer than the file: they overlap")
		return
	}
	r.list(span{what, data, l.off, l.size}, n, each)
}

// dictionary reads a MinidumpSimpleStringDictionary.
func (r *reader) dictionary(annotate func(dump.Annotation), l location) {
	r.sublist(l, 8, "annotations", func(i, _ int, c *bin.Cursor) {
		key := r.utf8Text(uint64(c.U32()), label{"the key of annotation", i})
		annotate(dump.Annotation{Key: key, Value: r.utf8Text(uint64(c.U32()), label{"the value of annotation", i})})
	})
}

func (r *reader) annotate(a dump.Annotation) { r.d.Annotations = append(r.d.Annotations, a) }

// moduleAnnotations reads a MinidumpModuleCrashpadInfo: values without a key, pairs, and objects.
// Objects of type 1 are text.
func (r *reader) moduleAnnotations(index uint32, l location) {
	data, _ := r.at(l)
	c := bin.NewAt("", data, l.off, r.order)
	c.Skip(4) // version
	list, simple := place(&c), place(&c)
	if err := c.Err(); err != nil {
		r.problem("annotations of a module", err)
		return
	}
	path := fmt.Sprintf("module %d", index)
	if uint64(index) < uint64(len(r.modules)) {
		path = r.modules[index].Path
	}
	annotate := func(a dump.Annotation) {
		if r.reuseLeft -= len(path); r.reuseLeft >= 0 {
			a.Module = path
		}
		r.annotate(a)
	}
	r.sublist(list, 4, "annotations", func(i, _ int, c *bin.Cursor) {
		annotate(dump.Annotation{Value: r.utf8Text(uint64(c.U32()), label{"annotation", i})})
	})
	r.dictionary(annotate, simple)
	if c.Len() < 8 {
		return // an older version
	}
	r.sublist(place(&c), 12, "annotations", func(i, _ int, c *bin.Cursor) {
		const text = 1
		name, kind := r.utf8Text(uint64(c.U32()), label{"the name of annotation", i}), c.U16()
		c.Skip(2)
		value := r.utf8Text(uint64(c.U32()), label{"the value of annotation", i})
		if kind != text {
			value = fmt.Sprintf("%x", value)
		}
		annotate(dump.Annotation{Key: name, Value: value})
	})
}
