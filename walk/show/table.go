package show

import (
	"strings"

	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/eval"
)

// maxGroups limits the groups of a Go map that are examined. A table has at most 128.
const maxGroups = 4096

// table shows a Go map (internal/runtime/maps). Its directory has tables, which have groups of slots. A small map
// has a group instead of a directory. A table may occupy several consecutive entries of the directory.
func (s *showing) table(parts map[string]part, depth int) string {
	total, tables := s.word(parts["size"]), s.word(parts["most"])
	if total == 0 {
		return "map[]"
	}
	if depth >= s.o.Depth {
		return "map[...]"
	}
	m := goMap{showing: s, depth: depth + 1}
	directory := parts["data"]
	at := s.word(directory)
	group, ok := s.groupType(directory.plain)
	switch {
	case !ok:
		return "map[" + count(total) + "]"
	case tables == 0:
		m.group(at, group)
	default:
		m.tables(at, tables, directory.plain.Elem)
	}
	title := ""
	if total > uint64(s.o.Length) {
		title = count(total) + " "
	}
	if n := uint64(len(m.texts)); n < total && !m.full {
		m.texts = append(m.texts, "<damaged: it has "+count(total)+">")
	}
	return title + "map[" + strings.Join(m.texts, " ") + "]"
}

// groupType returns the type of groups, given the type of the directory, a pointer to pointers to tables.
func (s *showing) groupType(directory *vars.Type) (vars.TypeID, bool) {
	table, _ := s.in.Plain(directory.Elem)
	if table == nil || table.Kind != vars.Pointer {
		return 0, false
	}
	id := table.Elem
	for _, name := range []string{"groups", "data"} {
		t, _ := s.in.Plain(id)
		if id = memberType(t, name); id == 0 {
			return 0, false
		}
	}
	t, _ := s.in.Plain(id)
	return t.Elem, t.Kind == vars.Pointer
}

// memberType returns the type of a member, or 0.
func memberType(t *vars.Type, name string) vars.TypeID {
	if t == nil {
		return 0
	}
	for i := range t.Members {
		if t.Members[i].Name == name {
			return t.Members[i].Type
		}
	}
	return 0
}

// goMap collects the elements of a map.
type goMap struct {
	*showing
	depth  int
	groups int // number of groups examined
	texts  []string
	full   bool // no more elements are shown
}

// tables adds the elements of the tables of a directory. pointer is the type of a pointer to a table.
func (m *goMap) tables(at, total uint64, pointer vars.TypeID) {
	last := uint64(0)
	for i := uint64(0); i < total && !m.full && m.groups < maxGroups; i++ {
		v := m.f.Read(at+i*uint64(m.f.Arch.PtrSize), m.f.Arch.PtrSize)
		p := part{value: v, id: pointer}
		addr, _ := m.number(v.Bytes, &vars.Type{})
		data, ok := m.follow(p, []string{"*", "groups", "data"})
		mask, found := m.follow(p, []string{"*", "groups", "lengthMask"})
		m.groups++
		if addr == last || !ok || !found || data.plain == nil || mask.plain == nil || data.plain.Kind != vars.Pointer {
			continue
		}
		last = addr
		size, _ := m.sizeOf(data.plain.Elem)
		first := m.word(data)
		for k := uint64(0); k <= m.word(mask) && !m.full && m.groups < maxGroups; k++ {
			m.group(first+k*size, data.plain.Elem)
		}
	}
	m.full = m.full || m.groups >= maxGroups
}

// group adds the elements of a group: the slots whose control byte has a clear high bit.
func (m *goMap) group(at uint64, id vars.TypeID) {
	m.groups++
	size, ok := m.sizeOf(id)
	if !ok || size == 0 || size > 1<<16 {
		return
	}
	g := part{value: m.f.Read(at, int(size)), id: id}
	ctrl, ok := m.step(g, "ctrl", 1)
	slots, found := m.follow(g, []string{"slots"})
	if !ok || !found || !ctrl.value.Whole() || slots.plain == nil {
		return
	}
	step, ok := m.sizeOf(slots.plain.Elem)
	if !ok || step == 0 {
		return
	}
	for i := 0; i < len(ctrl.value.Bytes) && (i+1)*int(step) <= len(slots.value.Bytes); i++ {
		if ctrl.value.Bytes[i]&0x80 != 0 {
			continue
		}
		if len(m.texts) == m.o.Length || m.left <= 0 {
			m.texts, m.full = append(m.texts, "..."), true
			return
		}
		slot := part{value: slots.value.Part(i*int(step), int(step)), id: slots.plain.Elem}
		key, ok := m.follow(slot, []string{"key"})
		value, found := m.follow(slot, []string{"elem"})
		if ok && found {
			keyed := m.text(key.value, key.id, m.depth)
			m.texts = append(m.texts, keyed+":"+m.valueOf(keyed, value, m.depth))
		}
	}
}

// maxPlaces limits the slots of a hashbrown table whose elements are shown. A byte of each slot is examined.
const maxPlaces = 1 << 16

// hashes shows a hashbrown table: its elements precede its control bytes in reverse order, in the slots whose
// control byte has a clear high bit.
func (s *showing) hashes(r *rule, parts map[string]part, depth int) string {
	total, last, table := s.word(parts["size"]), s.word(parts["most"]), parts["from"].id
	if total == 0 {
		return "{}"
	}
	if last >= maxPlaces || !s.lookAt(int(last)) {
		return "{" + count(total) + "}"
	}
	at := s.word(parts["data"])
	ctrl := s.f.Read(at, int(last)+1)
	if ctrl.Status() != eval.HasValue {
		return "{" + count(total) + "}"
	}
	size, _ := s.sizeOf(s.elementOf(r, table))
	elements := func(yield func(uint64) bool) {
		for i, c := range ctrl.Bytes {
			if c&0x80 == 0 && !yield(at-uint64(i+1)*size) {
				return
			}
		}
	}
	return s.nodes(r, elements, total, 0, table, depth)
}
