package lint

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/symtool/symtool/lint/internal/facts"
)

// on returns a damage of one record: change alters the record, and the rule must report it there.
func on(kind string, change func(s *symLines, i int)) func(*symLines) int {
	return func(s *symLines) int {
		i := s.pick(kind, nil)
		if i >= 0 {
			change(s, i)
		}
		return i
	}
}

// lostNumber returns a damage that removes a record that others refer to, and expects a finding at
// the first of those.
func lostNumber(kind string, names func(s *symLines, i int, id string) bool) func(*symLines) int {
	return func(s *symLines) int {
		i := s.pick(kind, nil)
		if i < 0 {
			return -1
		}
		id := s.fields(i)[1]
		s.remove(i)
		return s.find(0, func(i int) bool { return names(s, i, id) })
	}
}

func lineOf(s *symLines, i int, id string) bool {
	return s.kind(i) == "line" && s.fields(i)[3] == id
}

func inlineOf(field int) func(*symLines, int, string) bool {
	return func(s *symLines, i int, id string) bool { return s.newInline(i) && s.fields(i)[field] == id }
}

var structureDamages = []damage{
	{"MODULE lost", "SYM102", func(s *symLines) int { s.remove(0); return 0 }},
	{"MODULE behind others", "SYM102", func(s *symLines) int {
		i := 1 + s.rng.IntN(len(s.lines)-1)
		s.insert(i+1, s.lines[0])
		s.remove(0)
		return 0
	}},
	{"second MODULE", "SYM103", func(s *symLines) int {
		i := 1 + s.rng.IntN(len(s.lines)-1)
		s.insert(i, s.lines[0])
		return i
	}},
	{"field is no number", "SYM101", on("FUNC", func(s *symLines, i int) { s.set(i, 1+s.rng.IntN(3), "g%d", s.rng.IntN(10)) })},
	{"line record cut off", "SYM101", on("line", func(s *symLines, i int) { s.lines[i] = strings.Join(s.fields(i)[:3], " ") })},
	{"unknown record", "SYM101", func(s *symLines) int {
		i := 1 + s.rng.IntN(len(s.lines))
		s.insert(i, "STAKC CFI 1000 .cfa: $rsp 8 +")
		return i
	}},
	{"line record under PUBLIC", "SYM104", func(s *symLines) int {
		i, to := s.pick("line", nil), s.pick("PUBLIC", nil)
		if i < 0 || to < 0 {
			return -1
		}
		s.insert(to+1, s.lines[i])
		return to + 1
	}},
	{"id without age", "SYM108", func(s *symLines) int { s.set(0, 3, "%s", s.fields(0)[3][:32]); return 0 }},
	{"id in lower case", "SYM110", func(s *symLines) int {
		id := s.fields(0)[3]
		if s.set(0, 3, "%s", strings.ToLower(id)); s.fields(0)[3] == id {
			return -1 // digits alone
		}
		return 0
	}},
	{"byte of Latin-1", "SYM604", on("FUNC", func(s *symLines, i int) { s.lines[i] += "\xe9" })},
	{"one line ends in CR LF", "SYM117", func(s *symLines) int {
		i := 1 + s.rng.IntN(len(s.lines)-1)
		s.lines[i] += "\r"
		return i
	}},
	{"CR CR LF", "SYM118", func(s *symLines) int {
		i := s.rng.IntN(len(s.lines))
		s.lines[i] += "\r\r"
		return i
	}},
	{"CR inside a name", "SYM119", on("FUNC", func(s *symLines, i int) { s.lines[i] += "\rx" })},
	{"blank line inside FUNC", "SYM122", func(s *symLines) int {
		i := s.pick("line", nil)
		if i < 0 {
			return -1
		}
		s.insert(i, "")
		return i + 1
	}},
	{"tab", "SYM123", on("line", func(s *symLines, i int) { s.lines[i] = strings.Replace(s.lines[i], " ", "\t", 1) })},
	{"blank behind a line record", "SYM123", on("line", func(s *symLines, i int) { s.lines[i] += " " })},
	{"blank in front", "SYM123", func(s *symLines) int {
		i := s.rng.IntN(len(s.lines))
		s.lines[i] = " " + s.lines[i]
		return i
	}},
	{"size over 32 bits", "SYM125", func(s *symLines) int {
		i := s.pick("FUNC", func(i int) bool { return s.hex(i, 1) < 1<<63 }) // with a higher address, no size is that large
		if i >= 0 {
			s.set(i, 2, "%x", s.hex(i, 2)|1<<32)
		}
		return i
	}},
	{"FILE number twice", "SYM201", func(s *symLines) int {
		i, j := s.pick("FILE", nil), s.pick("FILE", nil)
		if i == j {
			return -1
		}
		s.set(max(i, j), 1, "%s", s.fields(min(i, j))[1])
		return max(i, j)
	}},
	{"FILE lost, of lines", "SYM203", func(s *symLines) int {
		first := lostNumber("FILE", func(s *symLines, i int, id string) bool {
			return lineOf(s, i, id) || inlineOf(3)(s, i, id)
		})(s)
		if s.kind(first) != "line" {
			return -1
		}
		return first
	}},
	{"FILE lost, of calls", "SYM204", func(s *symLines) int {
		first := lostNumber("FILE", func(s *symLines, i int, id string) bool {
			return lineOf(s, i, id) || inlineOf(3)(s, i, id)
		})(s)
		if s.kind(first) != "INLINE" {
			return -1
		}
		return first
	}},
	{"INLINE_ORIGIN lost", "SYM205", lostNumber("INLINE_ORIGIN", inlineOf(4))},
	{"FILE at the end", "SYM206", func(s *symLines) int {
		i := s.pick("FILE", nil)
		if i < 0 {
			return -1
		}
		file := s.lines[i]
		s.remove(i)
		s.lines = append(s.lines, file)
		id := strings.Fields(file)[1]
		return s.find(0, func(i int) bool { return lineOf(s, i, id) || inlineOf(3)(s, i, id) })
	}},
	{"old INLINE among new", "SYM210", func(s *symLines) int {
		first := s.find(0, func(i int) bool { return s.kind(i) == "INLINE" })
		i := s.pick("INLINE", func(i int) bool { return i != first && s.newInline(i) })
		if i >= 0 {
			f := s.fields(i)
			s.lines[i] = strings.Join(slices.Delete(f, 3, 4), " ")
		}
		return i
	}},
	{"call file -1", "SYM211", func(s *symLines) int {
		i := s.pick("INLINE", s.newInline)
		if i >= 0 {
			s.set(i, 3, "-1")
		}
		return i
	}},
	{"another binary's CODE_ID", "SYM213", func(s *symLines) int {
		i := s.pick("INFO", func(i int) bool { return strings.HasPrefix(s.lines[i], "INFO CODE_ID ") })
		if i >= 0 {
			id := []byte(s.fields(i)[2])
			at := s.rng.IntN(min(32, len(id)))
			id[at] = "123456789ABCDEF0"[strings.IndexByte("0123456789ABCDEF", id[at])]
			s.set(i, 2, "%s", id)
		}
		return i
	}},
	{"FUNC without bytes", "SYM301", on("FUNC", func(s *symLines, i int) { s.set(i, 2, "0") })},
	{"FUNC twice", "SYM302", func(s *symLines) int {
		i := s.pick("FUNC", nil)
		if i < 0 {
			return -1
		}
		s.lines = append(s.lines, s.lines[i])
		return len(s.lines) - 1
	}},
	{"FUNC into the next", "SYM303", func(s *symLines) int {
		next := func(i int) int { return s.find(i+1, func(i int) bool { return s.kind(i) == "FUNC" }) }
		i := s.pick("FUNC", func(i int) bool { n := next(i); return n > 0 && s.hex(n, 1) > s.hex(i, 1) })
		if i < 0 {
			return -1
		}
		n := next(i)
		s.set(i, 2, "%x", s.hex(n, 1)-s.hex(i, 1)+1+s.rng.Uint64N(s.hex(n, 2)))
		return n
	}},
	{"FUNC at a linker's mark", "SYM305", on("FUNC", func(s *symLines, i int) {
		mark := ^uint64(0)
		if cpu := s.fields(0)[2]; cpu == "x86" || cpu == "arm" || cpu == "mips" || cpu == "ppc" || cpu == "riscv" {
			mark = 1<<32 - 1
		}
		s.set(i, 1, "%x", mark-1)
		s.set(i, 2, "1")
	})},
	{"line before its FUNC", "SYM306", func(s *symLines) int {
		i := s.pick("line", func(i int) bool { return s.hex(s.function(i), 1) > 0x100 })
		if i >= 0 {
			s.set(i, 0, "%x", s.hex(s.function(i), 1)-1-s.rng.Uint64N(0x80))
		}
		return i
	}},
	{"line past its FUNC", "SYM307", on("line", func(s *symLines, i int) {
		f := s.function(i)
		s.set(i, 1, "%x", s.hex(f, 1)+s.hex(f, 2)-s.hex(i, 0)+1+s.rng.Uint64N(0x80))
	})},
	{"lines exchanged", "SYM308", func(s *symLines) int {
		i := s.pick("line", func(i int) bool { return s.kind(i-1) == "line" && s.hex(i, 0) > s.hex(i-1, 0) })
		if i >= 0 {
			s.lines[i], s.lines[i-1] = s.lines[i-1], s.lines[i]
		}
		return i
	}},
	{"line into the next", "SYM309", func(s *symLines) int {
		i := s.pick("line", func(i int) bool {
			return s.kind(i-1) == "line" && s.hex(i, 0) > s.hex(i-1, 0) && s.hex(i, 1) > 0
		})
		if i >= 0 {
			s.set(i-1, 1, "%x", s.hex(i, 0)-s.hex(i-1, 0)+1)
		}
		return i
	}},
	{"line without bytes", "SYM310", on("line", func(s *symLines, i int) { s.set(i, 1, "0") })},
	{"level skipped", "SYM325", func(s *symLines) int {
		i := s.pick("INLINE", func(i int) bool { return s.kind(i-1) == "FUNC" })
		if i >= 0 {
			s.set(i, 1, "%d", facts.MaxDepth/2+s.rng.IntN(5)) // where there is nothing else
		}
		return i
	}},
	{"call in front of its caller", "SYM313", func(s *symLines) int {
		i := s.pick("INLINE", func(i int) bool {
			return s.kind(i-1) == "FUNC" && s.kind(i+1) == "INLINE" && s.newInline(i) && s.newInline(i+1) && s.inside(i+1, i)
		})
		if i >= 0 {
			s.lines[i], s.lines[i+1] = s.lines[i+1], s.lines[i]
		}
		return i
	}},
	{"INLINE outside its FUNC", "SYM314", on("INLINE", func(s *symLines, i int) {
		f := s.function(i)
		s.set(i, len(s.fields(i))-2, "%x", s.hex(f, 1)+s.hex(f, 2)+s.rng.Uint64N(0x80))
	})},
	{"parent lost", "SYM325", func(s *symLines) int {
		i := s.pick("INLINE", func(i int) bool {
			return s.kind(i+1) == "INLINE" && s.fields(i)[1] == "0" && s.fields(i + 1)[1] == "1"
		})
		if i >= 0 {
			s.remove(i)
		}
		return i
	}},
	{"INLINE twice", "SYM316", func(s *symLines) int {
		i := s.pick("INLINE", nil)
		if i < 0 {
			return -1
		}
		s.insert(i, s.lines[i])
		return i + 1
	}},
	{"PUBLIC at a FUNC", "SYM320", func(s *symLines) int {
		i := s.pick("FUNC", func(i int) bool { return s.hex(i, 2) > 0 })
		if i < 0 {
			return -1
		}
		s.lines = append(s.lines, fmt.Sprintf("PUBLIC %s 0 again", s.fields(i)[1]))
		return len(s.lines) - 1
	}},
	{"PUBLIC twice", "SYM322", func(s *symLines) int {
		i := s.pick("PUBLIC", nil)
		if i < 0 {
			return -1
		}
		s.insert(i+1, s.lines[i]+" again")
		return i + 1
	}},
}

// whole returns a damage of the text as a whole.
func whole(change func(text string) string) func(*symLines) int {
	return func(s *symLines) int {
		s.change = change
		return 0
	}
}

var textDamages = []damage{
	{"UTF-16", "SYM113", whole(func(text string) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
			b.Write([]byte{byte(u), byte(u >> 8)})
		}
		return b.String()
	})},
	{"byte order mark", "SYM114", whole(func(text string) string { return "\ufeff" + text })},
	{"CR LF", "SYM116", whole(func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") })},
	{"no end", "SYM120", func(s *symLines) int {
		s.change = func(text string) string { return strings.TrimSuffix(text, "\n") }
		return len(s.lines) - 1
	}},
}
