package microdump

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/minidump"
)

// fields returns the first n words of a line and the rest of the line. ok is false if there are
// fewer words.
func fields(text string, n int) (words []string, rest string, ok bool) {
	for range n {
		var word string
		text = strings.TrimLeft(text, " ")
		word, text, _ = strings.Cut(text, " ")
		if word == "" {
			return words, "", false
		}
		words = append(words, word)
	}
	return words, text, true
}

// numbers parses hexadecimal numbers of up to 64 bits.
func numbers(words []string) (all []uint64, err error) {
	for _, w := range words {
		v, err := strconv.ParseUint(w, 16, 64)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// systems are the letters for systems.
var systems = map[string]dump.OS{"A": dump.Android, "L": dump.Linux}

func (r *reader) system(text string) {
	words, rest, ok := fields(text, 4)
	if !ok {
		r.problemf("the system and the CPU", "%d words behind O, want a system, a CPU, a number of CPUs and the machine's name", len(words))
		return
	}
	s := &r.d.System
	s.OS, s.CPU, s.Build = systems[words[0]], words[1], rest
	if s.OS == dump.UnknownOS {
		r.problemf("the system", "system %.20q, want A or L", words[0])
	}
	if r.d.Arch = arch.ByName(s.CPU); r.d.Arch == nil {
		r.problemf("the CPU", "CPU %.20q is not known", s.CPU)
	}
	n, err := strconv.ParseUint(words[2], 16, 8)
	if err != nil {
		r.problemf("the number of CPUs", "%.20q, want a hexadecimal number up to ff", words[2])
	}
	s.CPUs = int(n)
}

// reason reads the signal. The name is not needed; the number is the CPU's own.
func (r *reader) reason(text string) {
	words, _, ok := fields(text, 3)
	if !ok {
		r.problemf("the crash reason", "%d words behind R, want a signal, its name and an address", len(words))
		return
	}
	v, err := numbers([]string{words[0], words[2]})
	if err != nil || v[0] > 0xffffffff {
		r.problemf("the crash reason", "signal %.20q, address %.20q: want hexadecimal numbers", words[0], words[2])
		return
	}
	r.crash.Code, r.crash.Address, r.crash.HasAddress, r.crash.Unknown = uint32(v[0]), v[1], true, false
}

func (r *reader) gpu(text string) {
	if text == "UNKNOWN" || text == "" {
		return
	}
	parts := strings.SplitN(text, "|", 3)
	for len(parts) < 3 {
		parts = append(parts, "")
	}
	r.d.System.GPU = &dump.GPU{Version: parts[0], Vendor: parts[1], Renderer: parts[2]}
}

// stackLine reads the head of the stack, or some of its bytes.
func (r *reader) stackLine(text string) {
	if head, ok := strings.CutPrefix(text, "0 "); ok {
		words, _, ok := fields(head, 3)
		v, err := numbers(words)
		if !ok || err != nil {
			r.problemf("the extent of the stack", "%.60q, want the stack pointer, the start of the stack and its length", head)
			return
		}
		r.declared = dump.Range{Addr: v[1], Size: v[2]}
		return
	}
	words, _, ok := fields(text, 2)
	addr, err := numbers(words[:min(len(words), 1)])
	if !ok || err != nil {
		r.problemf("a piece of the stack", "%.40q, want an address and bytes", text)
		return
	}
	data, bad := decode(words[1])
	if bad {
		r.problemf("a piece of the stack", "the bytes at %#x are cut off after %d", addr[0], len(data))
	}
	if n := len(r.stack); n > 0 && r.stack[n-1].End() == addr[0] {
		r.stack[n-1].Data = append(r.stack[n-1].Data, data...)
		return
	}
	r.stack = append(r.stack, dump.Region{Addr: addr[0], Data: data})
}

// decode decodes hexadecimal digits, up to the first character that is not one; bad means that
// there is such a character.
func decode(text string) (data []byte, bad bool) {
	data = make([]byte, len(text)/2)
	n, err := hex.Decode(data, []byte(text))
	return slices.Clip(data[:n]), err != nil
}

func (r *reader) registers(text string) {
	var bad bool
	if r.context, bad = decode(strings.TrimSpace(text)); bad {
		r.problemf("some of the registers", "the registers are cut off after %d bytes", len(r.context))
	}
}

// decodeRegisters reads the registers, once the CPU is known.
func (r *reader) decodeRegisters() {
	if r.context == nil {
		r.problemf("the stack of the thread", "no line C with the registers")
		return
	}
	c, err := minidump.ReadContext(r.context, r.d.Arch, r.d.Order)
	if err != nil {
		r.problemf("the stack of the thread", "line C: %v", err)
	}
	r.thread.Context = c
}

// checkStack reports missing parts of the stack.
func (r *reader) checkStack() {
	r.thread.Stack = r.declared
	have := uint64(0)
	for _, s := range r.stack {
		have += uint64(len(s.Data))
	}
	if r.declared.Size == 0 && len(r.stack) > 0 {
		r.thread.Stack = dump.Range{Addr: r.stack[0].Addr, Size: uint64(len(r.stack[0].Data))}
	}
	if have < r.declared.Size {
		r.problemf("some of the stack", "%d bytes of the stack, want %d", have, r.declared.Size)
	}
}

// idDigits is the length of Breakpad's id: a GUID and an age.
const idDigits = 33

func (r *reader) module(text string) {
	words, name, ok := fields(text, 4)
	var v []uint64
	var err error
	if ok {
		v, err = numbers(words[:3])
	}
	if !ok || err != nil || name == "" {
		r.problemf("a module", "%.60q, want a start, an offset, a size, an id and a name", text)
		return
	}
	m := dump.Module{Range: dump.Range{Addr: v[0], Size: v[2]}, Path: name, DebugID: strings.ToUpper(words[3])}
	if len(m.DebugID) != idDigits || strings.Trim(m.DebugID, "0123456789ABCDEF") != "" {
		r.problemf("the id of "+name, "id %.50q, want %d hexadecimal digits", words[3], idDigits)
		m.DebugID = ""
	}
	if r.d.System.OS.IsLinux() {
		m.Path, m.Deleted = strings.CutSuffix(m.Path, " (deleted)")
	}
	m.DebugFile, m.DebugPath = r.d.System.OS.Base(m.Path), m.Path
	r.modules = append(r.modules, m)
	r.mappings = append(r.mappings, dump.Mapping{Range: m.Range, Offset: v[1], Path: m.Path + m.DebugID, Read: true, Exec: true})
}
