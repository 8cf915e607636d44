package dump_test

import (
	"bytes"
	"context"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/par"
)

// A link makes one large x86-64 executable from some objects by placing each many
// times. Every copy has its own addresses, names of functions and tables. Like a
// linker, it concatenates sections of debug information, applies their relocations,
// and keeps equal strings once. The code is never run, so it is a hole in the file.

// seed is an object that is placed count times.
type seed struct {
	path  string
	count int
	first int // number of its first copy

	file     *elf.File
	sections []seedSection // by index
	strings  map[int]*seedStrings
	symbols  []elf.Symbol // with Go's numbering: without the null symbol
	textSize uint64
	bytes    map[string]uint64 // of one copy in each output section
	base     map[string]uint64 // start of the first copy's part in each
	textBase uint64
}

type seedSection struct {
	*elf.Section
	data   []byte
	at     uint64 // in the code of a copy, or in the copy's part of the output section
	out    string // output section; "" for none
	relocs []elf.Rela64
	once   bool // kept only in the first copy
}

// seedStrings is a section of strings. Equal strings are kept once, except for a copy's own.
type seedStrings struct {
	place map[uint64]stringPlace // by offset in the section
	own   []string               // as they are in the object
	size  uint64                 // of the own strings of one copy
	base  uint64                 // of the first copy's own strings
}

type stringPlace struct {
	at  uint64
	own bool // at counts from the copy's own strings
}

// copied lists the output sections in which each copy has a part.
var copied = []string{
	".eh_frame", ".debug_info", ".debug_abbrev", ".debug_line", ".debug_rnglists", ".debug_ranges", ".debug_addr",
	".debug_str_offsets", ".debug_aranges",
}

const (
	codeAlign  = 64
	nameDigits = 10
)

// ownName returns the name of a function s in copy n. A function without a name gets one, and a C
// function gets a prefix. Names have the same length in all copies.
func ownName(s string, n int) string {
	space := fmt.Sprintf("12in%0*d", nameDigits, n)
	if ownNamespace(s) {
		return strings.ReplaceAll(strings.ReplaceAll(s, "12_GLOBAL__N_1", space), "6shapes", space)
	}
	return fmt.Sprintf("c%0*d_%s", nameDigits, n, s)
}

// ownNamespace reports whether a mangled name has one of the namespaces of the program, not only
// namespaces of the library.
func ownNamespace(s string) bool {
	return strings.Contains(s, "12_GLOBAL__N_1") || strings.Contains(s, "6shapes")
}

// openSeed reads an object.
func openSeed(path string, count int) (*seed, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	s := &seed{path: path, count: count, file: f, strings: map[int]*seedStrings{}, bytes: map[string]uint64{}, base: map[string]uint64{}}
	if s.symbols, err = f.Symbols(); err != nil {
		return nil, err
	}
	functions, err := s.functions()
	if err != nil {
		return nil, err
	}
	s.sections = make([]seedSection, len(f.Sections))
	for i, sec := range f.Sections {
		if err := s.addSection(i, sec, functions); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, sec.Name, err)
		}
	}
	return s, nil
}

// functions returns the names of the functions that a unit in C describes. C++ names are
// recognised without it.
func (s *seed) functions() (map[string]bool, error) {
	d, err := s.file.DWARF()
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil || e == nil {
			return names, err
		}
		if lang, ok := e.Val(dwarf.AttrLanguage).(int64); ok && lang != 0x0c && lang != 0x1d && lang != 0x02 {
			return nil, nil // C++
		}
		if name, ok := e.Val(dwarf.AttrName).(string); ok && e.Tag == dwarf.TagSubprogram {
			names[name] = true
		}
	}
}

func (s *seed) addSection(i int, sec *elf.Section, functions map[string]bool) (err error) {
	out := &s.sections[i]
	out.Section = sec
	const code = elf.SHF_ALLOC | elf.SHF_EXECINSTR
	switch {
	case sec.Type == elf.SHT_GROUP:
		return s.group(sec)
	case sec.Flags&code == code:
		out.at = s.textSize
		s.textSize += (sec.Size + codeAlign - 1) &^ (codeAlign - 1)
	case sec.Name == ".debug_str" || sec.Name == ".debug_line_str":
		if out.data, err = sec.Data(); err == nil {
			out.out = sec.Name
			s.strings[i] = splitStrings(out.data, functions)
		}
	case slices.Contains(copied, sec.Name):
		if out.data, err = sec.Data(); err == nil {
			out.out, out.at = sec.Name, s.bytes[sec.Name]
			s.bytes[sec.Name] += sec.Size
		}
	case sec.Type == elf.SHT_RELA:
		data, err := sec.Data()
		if err != nil {
			return err
		}
		relocs := make([]elf.Rela64, len(data)/24)
		if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, relocs); err != nil {
			return err
		}
		s.sections[sec.Info].relocs = relocs
	}
	return err
}

// group reads a section group. A linker keeps one group for each name. The group precedes its
// members.
func (s *seed) group(sec *elf.Section) error {
	data, err := sec.Data()
	if err != nil {
		return err
	}
	once := sec.Info > 0 && int(sec.Info) <= len(s.symbols) && !ownNamespace(s.symbols[sec.Info-1].Name)
	for at := 4; at+4 <= len(data); at += 4 {
		s.sections[binary.LittleEndian.Uint32(data[at:])].once = once
	}
	return nil
}

// splitStrings splits the strings of a section. The copy's own strings are names of C functions,
// and names that C++ mangled with a namespace.
func splitStrings(data []byte, functions map[string]bool) *seedStrings {
	t := &seedStrings{place: map[uint64]stringPlace{}}
	for off := 0; off < len(data); {
		n := bytes.IndexByte(data[off:], 0)
		s := string(data[off : off+n])
		if functions[s] || functions == nil && ownNamespace(s) {
			t.place[uint64(off)] = stringPlace{t.size, true}
			t.own = append(t.own, s)
			t.size += uint64(len(ownName(s, 0))) + 1
		} else {
			t.place[uint64(off)] = stringPlace{}
		}
		off += n + 1
	}
	return t
}

// link writes the executable.
type link struct {
	out   *os.File
	seeds []*seed
	hole  uint64 // bytes of the section that precedes the code

	shared map[string]*sharedStrings // .debug_str, .debug_line_str
	sizes  map[string]uint64
	start  map[string]uint64 // file offsets
	text   uint64            // address and size of the code
	textSz uint64
	ehAddr uint64
	symSz  uint64 // bytes of .symtab
	nameSz uint64 // of .strtab
}

type sharedStrings struct {
	text  []byte
	place map[string]uint64
}

func (t *sharedStrings) add(s string) uint64 {
	at, ok := t.place[s]
	if !ok {
		at = uint64(len(t.text))
		t.place[s] = at
		t.text = append(append(t.text, s...), 0)
	}
	return at
}

const (
	pageSize = 4096
	loadAddr = 0x400000
)

// layOut assigns a place to each part.
func (l *link) layOut() {
	l.shared = map[string]*sharedStrings{}
	l.sizes, l.start = map[string]uint64{}, map[string]uint64{}
	copies := 0
	l.text = (loadAddr + pageSize + l.hole + pageSize - 1) &^ (pageSize - 1)
	for _, s := range l.seeds {
		s.first = copies
		copies += s.count
		s.textBase = l.text + l.textSz
		l.textSz += s.textSize * uint64(s.count)
		for _, name := range copied {
			s.base[name] = l.sizes[name]
			l.sizes[name] += s.bytes[name] * uint64(s.count)
		}
		for _, i := range sortedKeys(s.strings) {
			l.shareStrings(&s.sections[i], s.strings[i])
		}
	}
	// The copies' own strings follow the shared ones.
	for name, t := range l.shared {
		l.sizes[name] = uint64(len(t.text))
	}
	for _, s := range l.seeds {
		for _, i := range sortedKeys(s.strings) {
			t, name := s.strings[i], s.sections[i].Name
			t.base = l.sizes[name]
			l.sizes[name] += t.size * uint64(s.count)
		}
		for i := range s.symbols {
			if s.placed(&s.symbols[i]) {
				l.symSz += elf.Sym64Size * uint64(s.count)
				l.nameSz += uint64(len(ownName(s.symbols[i].Name, 0))+1) * uint64(s.count)
			}
		}
	}
	l.ehAddr = (l.text + l.textSz + pageSize - 1) &^ (pageSize - 1)
}

func sortedKeys(m map[int]*seedStrings) (keys []int) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (l *link) shareStrings(sec *seedSection, t *seedStrings) {
	shared := l.shared[sec.Name]
	if shared == nil {
		shared = &sharedStrings{place: map[string]uint64{}}
		l.shared[sec.Name] = shared
	}
	for off := uint64(0); off < uint64(len(sec.data)); {
		n := uint64(bytes.IndexByte(sec.data[off:], 0))
		if p := t.place[off]; !p.own {
			t.place[off] = stringPlace{at: shared.add(string(sec.data[off : off+n]))}
		}
		off += n + 1
	}
}

// placed reports whether a symbol belongs to a function in the output.
func (s *seed) placed(sym *elf.Symbol) bool {
	if elf.ST_TYPE(sym.Info) != elf.STT_FUNC || int(sym.Section) >= len(s.sections) || sym.Section == 0 {
		return false
	}
	return s.sections[sym.Section].Flags&elf.SHF_EXECINSTR != 0
}

// value returns S + A of a relocation in copy n of the seed (n counts from 0).
func (s *seed) value(l *link, r *elf.Rela64, n uint64) uint64 {
	index := r.Info >> 32
	if index == 0 {
		return uint64(r.Addend)
	}
	sym := &s.symbols[index-1]
	if sym.Section == 0 || int(sym.Section) >= len(s.sections) {
		return loadAddr // a function in another program
	}
	sec := &s.sections[sym.Section]
	if t := s.strings[int(sym.Section)]; t != nil {
		p := t.place[sym.Value+uint64(r.Addend)]
		if p.own {
			p.at += t.base + n*t.size
		}
		return p.at
	}
	switch {
	case sec.once && n > 0:
		return 0 // linkers write 0 for dropped code
	case sec.Flags&elf.SHF_EXECINSTR != 0:
		return s.textBase + n*s.textSize + sec.at + sym.Value + uint64(r.Addend)
	case sec.out != "":
		return s.base[sec.out] + n*s.bytes[sec.out] + sec.at + sym.Value + uint64(r.Addend)
	}
	return loadAddr
}

// relocate applies a section's relocations in copy n.
func (s *seed) relocate(l *link, sec *seedSection, data []byte, n uint64) error {
	for i := range sec.relocs {
		r := &sec.relocs[i]
		v, at := s.value(l, r, n), r.Off
		switch kind := elf.R_X86_64(r.Info & 0xffffffff); kind {
		case elf.R_X86_64_64, elf.R_X86_64_DTPOFF64:
			binary.LittleEndian.PutUint64(data[at:], v)
		case elf.R_X86_64_32, elf.R_X86_64_32S, elf.R_X86_64_DTPOFF32:
			if v > 1<<32-1 {
				return fmt.Errorf("%s: %s+%#x: %#x does not fit into 32 bits", s.path, sec.Name, at, v)
			}
			binary.LittleEndian.PutUint32(data[at:], uint32(v))
		case elf.R_X86_64_PC32:
			place := l.ehAddr + s.base[sec.out] + n*s.bytes[sec.out] + sec.at + at
			if v == 0 {
				v = loadAddr // no code there
			}
			binary.LittleEndian.PutUint32(data[at:], uint32(v-place))
		default:
			return fmt.Errorf("%s: %s+%#x: relocation %v", s.path, sec.Name, at, kind)
		}
	}
	return nil
}

// copySections writes the parts of copy n of a seed.
func (s *seed) copySections(l *link, n uint64) error {
	for i := range s.sections {
		sec := &s.sections[i]
		if sec.out == "" {
			continue
		}
		if t := s.strings[i]; t != nil {
			var text []byte
			for _, name := range t.own {
				text = append(append(text, ownName(name, s.first+int(n))...), 0)
			}
			if _, err := l.out.WriteAt(text, int64(l.start[sec.Name]+t.base+n*t.size)); err != nil {
				return err
			}
			continue
		}
		data := slices.Clone(sec.data)
		if err := s.relocate(l, sec, data, n); err != nil {
			return err
		}
		if _, err := l.out.WriteAt(data, int64(l.start[sec.out]+s.base[sec.out]+n*s.bytes[sec.out]+sec.at)); err != nil {
			return err
		}
	}
	return nil
}

// run lays out the file and writes it, with jobs workers.
func (l *link) run(jobs int) error {
	l.layOut()
	const phnum = 2
	symtab, strtab := l.symbols()
	type outSection struct {
		elf.Section64
		name string
	}
	list := []outSection{{}}
	names := []byte{0}
	off := uint64(pageSize)
	add := func(name string, typ elf.SectionType, flags elf.SectionFlag, addr, size uint64) int {
		off = (off + pageSize - 1) &^ (pageSize - 1)
		list = append(list, outSection{elf.Section64{Name: uint32(len(names)), Type: uint32(typ), Flags: uint64(flags),
			Addr: addr, Off: off, Size: size, Addralign: 1}, name})
		names = append(append(names, name...), 0)
		l.start[name] = off
		off += size
		return len(list) - 1
	}
	add(".rodata", elf.SHT_PROGBITS, elf.SHF_ALLOC, loadAddr+pageSize, l.hole)
	text := add(".text", elf.SHT_PROGBITS, elf.SHF_ALLOC|elf.SHF_EXECINSTR, l.text, l.textSz)
	add(".eh_frame", elf.SHT_PROGBITS, elf.SHF_ALLOC, l.ehAddr, l.sizes[".eh_frame"])
	for _, name := range append(copied[1:], ".debug_str", ".debug_line_str") {
		if l.sizes[name] > 0 {
			add(name, elf.SHT_PROGBITS, 0, 0, l.sizes[name])
		}
	}
	binary.LittleEndian.PutUint16(symtab[6:], 0)
	for at := elf.Sym64Size; at < len(symtab); at += elf.Sym64Size {
		binary.LittleEndian.PutUint16(symtab[at+6:], uint16(text))
	}
	sym := add(".symtab", elf.SHT_SYMTAB, 0, 0, uint64(len(symtab)))
	list[sym].Entsize, list[sym].Link, list[sym].Info = elf.Sym64Size, uint32(sym+1), 1
	add(".strtab", elf.SHT_STRTAB, 0, 0, uint64(len(strtab)))
	names = append(names, ".shstrtab\x00"...)
	list = append(list, outSection{elf.Section64{Name: uint32(len(names) - 10), Type: uint32(elf.SHT_STRTAB), Off: off, Size: uint64(len(names)), Addralign: 1}, ""})
	shoff := (off + uint64(len(names)) + 7) &^ 7

	var head bytes.Buffer
	h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: 64, Shoff: shoff, Ehsize: 64,
		Phentsize: 56, Phnum: phnum, Shentsize: 64, Shnum: uint16(len(list)), Shstrndx: uint16(len(list) - 1)}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	binary.Write(&head, binary.LittleEndian, h)
	binary.Write(&head, binary.LittleEndian, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R), Vaddr: loadAddr,
		Filesz: pageSize + l.hole, Memsz: pageSize + l.hole, Align: pageSize})
	code := l.ehAddr + l.sizes[".eh_frame"] - l.text
	binary.Write(&head, binary.LittleEndian, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X),
		Off: l.start[".text"], Vaddr: l.text, Filesz: code, Memsz: code, Align: pageSize})
	var tail bytes.Buffer
	for i := range list {
		binary.Write(&tail, binary.LittleEndian, list[i].Section64)
	}
	pieces := map[uint64][]byte{0: head.Bytes(), off: names, shoff: tail.Bytes(), l.start[".symtab"]: symtab, l.start[".strtab"]: strtab}
	for name, t := range l.shared {
		pieces[l.start[name]] = t.text
	}
	for at, data := range pieces {
		if _, err := l.out.WriteAt(data, int64(at)); err != nil {
			return err
		}
	}
	return l.copies(jobs)
}

func (l *link) copies(jobs int) error {
	type copyOf struct {
		s *seed
		n uint64
	}
	var all []copyOf
	for _, s := range l.seeds {
		for n := range s.count {
			all = append(all, copyOf{s, uint64(n)})
		}
	}
	return par.Each(context.Background(), jobs, len(all), func(_ context.Context, _, i int) error {
		return all[i].s.copySections(l, all[i].n)
	})
}

// symbols returns .symtab, without section numbers, and .strtab.
func (l *link) symbols() (symtab, strtab []byte) {
	symtab = make([]byte, elf.Sym64Size, l.symSz+elf.Sym64Size)
	strtab = make([]byte, 1, l.nameSz+1)
	for _, s := range l.seeds {
		for n := range s.count {
			for i := range s.symbols {
				sym := &s.symbols[i]
				if !s.placed(sym) || n > 0 && s.sections[sym.Section].once {
					continue
				}
				var b [elf.Sym64Size]byte
				binary.LittleEndian.PutUint32(b[0:], uint32(len(strtab)))
				b[4] = sym.Info
				binary.LittleEndian.PutUint64(b[8:], s.textBase+uint64(n)*s.textSize+s.sections[sym.Section].at+sym.Value)
				binary.LittleEndian.PutUint64(b[16:], sym.Size)
				symtab = append(symtab, b[:]...)
				strtab = append(append(strtab, ownName(sym.Name, s.first+n)...), 0)
			}
		}
	}
	return symtab, strtab
}
