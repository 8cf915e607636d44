package show

import (
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/eval"
)

// run is a number of consecutive elements in memory.
type run struct{ addr, count uint64 }

// blocks shows a queue whose elements are in blocks of equal size. An array of pointers leads to the
// blocks.
func (s *showing) blocks(parts map[string]part, id vars.TypeID, depth int) string {
	data, ptr := parts["data"], uint64(s.f.Arch.PtrSize)
	size, ok := s.sizeOf(data.plain.Elem)
	first, to, node := s.word(data), s.word(parts["to"]), s.word(parts["node"])
	last, lastFrom, lastNode := s.word(parts["end"]), s.word(parts["from"]), s.word(parts["endnode"])
	if !ok || size == 0 || size > eval.MaxValue {
		return "{...}"
	}
	if node == lastNode {
		to = last
	}
	if to < first || last < lastFrom || lastNode < node || (to-first)%size != 0 || (last-lastFrom)%size != 0 || (lastNode-node)%ptr != 0 {
		return damaged
	}
	runs := []run{{first, (to - first) / size}}
	total := runs[0].count
	if node != lastNode {
		perBlock := max(1, blockSize/size)
		between := (lastNode-node)/ptr - 1
		if between > 1<<40 {
			return damaged
		}
		total += between*perBlock + (last-lastFrom)/size
		for i := uint64(1); i <= between && i <= uint64(s.o.Length)/perBlock+1; i++ {
			at, _ := s.f.Word(node + i*ptr) // a block at 0 is not in the dump
			runs = append(runs, run{at, perBlock})
		}
		runs = append(runs, run{lastFrom, (last - lastFrom) / size})
	}
	return s.runs(runs, total, data.plain.Elem, int(size), id, depth)
}

// blockSize is the size of a block of libstdc++'s deque in bytes, unless an element is larger.
const blockSize = 512

// damaged replaces a container whose parts do not fit together.
const damaged = "<damaged: it ends before it begins>"

// ring shows a queue whose elements begin somewhere in an array and continue at the array's start.
func (s *showing) ring(r *rule, parts map[string]part, id vars.TypeID, depth int) string {
	elem := s.elementOf(r, id)
	size, ok := s.sizeOf(elem)
	addr, from, n, most := s.word(parts["data"]), s.word(parts["from"]), s.word(parts["size"]), s.word(parts["most"])
	switch {
	case elem == 0:
		return "{elements of an unknown type}"
	case n == 0:
		return "[]"
	case !ok || size == 0 || size > eval.MaxValue:
		return "[...]"
	case n > most || from >= most || most > 1<<56/size:
		return damaged
	}
	head := min(n, most-from)
	return s.runs([]run{{addr + from*size, head}, {addr, n - head}}, n, elem, int(size), id, depth)
}

// runs shows the first elements of runs, which have total elements.
func (s *showing) runs(runs []run, total uint64, elem vars.TypeID, size int, id vars.TypeID, depth int) string {
	marks := [2]string{"{", "}"}
	if s.language(id) == langRust {
		marks = [2]string{"[", "]"}
	}
	title := ""
	if total > uint64(s.o.Length) {
		title = count(total) + " "
	}
	if depth >= s.o.Depth {
		return title + marks[0] + "..." + marks[1]
	}
	var texts []string
	for _, r := range runs {
		for i := range r.count {
			if len(texts) == s.o.Length || s.left <= 0 {
				return title + marks[0] + strings.Join(texts, ", ") + ", ..." + marks[1]
			}
			texts = append(texts, s.text(s.f.Read(r.addr+i*uint64(size), size), elem, depth+1))
		}
	}
	return title + marks[0] + strings.Join(texts, ", ") + marks[1]
}

// variant shows the alternative that is held: the n-th alternative is in a union nested in n others.
func (s *showing) variant(r *rule, parts map[string]part, depth int) string {
	index := s.word(parts["size"])
	if index == 1<<(8*uint(len(parts["size"].value.Bytes)))-1 {
		return "valueless"
	}
	p, ok := parts["data"], index < maxAlternatives
	for n := index; ok && n > 0; n-- {
		p, ok = s.follow(p, r.paths["rest"])
	}
	if ok {
		p, ok = s.follow(p, r.paths["first"])
	}
	if !ok {
		return "<alternative " + strconv.FormatUint(index, 10) + ">"
	}
	if elem := s.buffered(p); elem != 0 {
		p.id = elem
	}
	return "[" + strconv.FormatUint(index, 10) + "] " + s.text(p.value, p.id, depth+1)
}

// maxAlternatives limits the number of alternatives of a variant.
const maxAlternatives = 256

// buffered returns the type of the object in a byte buffer, which is an argument of the buffer's type; 0
// for other types.
func (s *showing) buffered(p part) vars.TypeID {
	if p.plain == nil || !newPattern("__gnu_cxx::__aligned_*<*").matches(p.plain.Name) {
		return 0
	}
	elem := s.typeNamed(argument(p.plain.Name, 1))
	if size, ok := s.sizeOf(elem); !ok || size > uint64(len(p.value.Bytes)) {
		return 0
	}
	return elem
}

// tuple shows the members of the same name in base classes, each of which derives from the rest of the
// tuple.
func (s *showing) tuple(r *rule, v eval.Value, id vars.TypeID, depth int) string {
	path := r.paths["data"]
	texts := s.heads(part{value: v, id: id}, path[len(path)-1], depth, maxSteps*maxSteps)
	if !s.lookAt(0) {
		texts = append(texts, "...")
	}
	return "{" + strings.Join(texts, ", ") + "}"
}

func (s *showing) heads(p part, name string, depth, steps int) (texts []string) {
	t, _ := s.in.Plain(p.id)
	if t == nil || steps == 0 || s.left <= 0 || !s.look(t) {
		return nil
	}
	for i := len(t.Members) - 1; i >= 0 && s.lookAt(0); i-- { // the first element is in the last base class
		m := &t.Members[i]
		if m.Name != name && !m.Base {
			continue
		}
		v, ok := s.f.Member(&p.value, m)
		if !ok {
			continue
		}
		if m.Base {
			texts = append(texts, s.heads(part{value: v, id: m.Type}, name, depth, steps-1)...)
		} else {
			texts = append(texts, s.text(v, m.Type, depth+1))
		}
	}
	return texts
}

// function shows what a function object calls.
func (s *showing) function(parts map[string]part, depth int) string {
	if s.word(parts["type"]) == 0 {
		return "empty"
	}
	return "calls " + s.pointer(s.word(parts["data"]), parts["data"].plain, depth)
}
