package report

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// crashed returns a dump of a process that crashed at 0x400000, at an instruction.
func crashed(t *testing.T, a *arch.Arch, os dump.OS, code string, crash dump.Crash, set map[string]uint64) *dump.Dump {
	t.Helper()
	b, err := hex.DecodeString(code)
	if err != nil {
		t.Fatal(err)
	}
	memory := walktest.SomeMemory()
	c := walktest.SomeRegisters(a)
	for name, v := range set {
		c.Set(name, v)
	}
	crash.Thread, crash.Context = 7, c
	return &dump.Dump{
		Arch: a, System: dump.System{OS: os}, Main: -1, Threads: []dump.Thread{{ID: 7, Context: c}}, Crash: &crash,
		Memory: dump.NewMemory(memory.Order, append(memory.Regions, dump.Region{Addr: 0x400000, Data: b})),
		Maps: []dump.Mapping{
			{Range: dump.Range{Addr: 0x4000, Size: 0x1000}},
			{Range: dump.Range{Addr: 0x5000, Size: 0x2000}, Read: true, Write: true},
			{Range: dump.Range{Addr: 0x400000, Size: 0x1000}, Read: true, Exec: true},
			{Range: dump.Range{Addr: 0x7f0000000000, Size: 0x1000}, Read: true, Write: true},
		},
	}
}

func crashDocument(t *testing.T, d *dump.Dump) *Document {
	t.Helper()
	r, err := walk.NewWalker(&walk.SymbolSet{}, walk.Config{}).Walk(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	doc := NewDocument(r, DocumentOptions{})
	validate(t, documentSchema(t), doc)
	return doc
}

// The system's description of a crash, and what the instruction does.
func TestCrashInfo(t *testing.T) {
	const (
		load  = "488b07" // mov rax, [rdi]
		store = "c60701" // mov byte [rdi], 1
		field = "8b4718" // mov eax, [rdi+0x18]
	)
	segv := func(code uint32, addr uint64) dump.Crash {
		return dump.Crash{Code: 11, Flags: code, Address: addr, HasAddress: true}
	}
	windows := func(code uint32, params ...uint64) dump.Crash {
		c := dump.Crash{Code: code, Params: params, HasAddress: true}
		if len(params) > 1 {
			c.Address = params[1]
		}
		return c
	}
	for _, c := range []struct {
		name     string
		os       dump.OS
		code     string
		crash    dump.Crash
		rdi      uint64
		adjusted string // kind and number
		wrong    string // inconsistencies
		flips    string // addresses and registers
	}{
		{"null pointer", dump.Linux, field, segv(1, 0x18), 0, "null-pointer 0x0000000000000018", "", ""},
		{"null pointer on Windows", dump.Windows, field, windows(0xc0000005, 0, 0x18), 0, "null-pointer 0x0000000000000018", "", ""},
		{"null pointer on macOS", dump.MacOS, field, dump.Crash{Code: 1, Flags: 1, Address: 0x18, HasAddress: true}, 0,
			"null-pointer 0x0000000000000018", "", ""},
		{"not canonical", dump.Linux, load, dump.Crash{Code: 11, Flags: 0x80, HasAddress: true}, 0x80007f0000000010,
			"non-canonical 0x80007f0000000010", "", "0x00007f0000000010 0x00007f0000000010=rdi"},
		{"not canonical on Windows", dump.Windows, load, windows(0xc0000005, 0, math.MaxUint64), 0xabcd00000000,
			"non-canonical 0x0000abcd00000000", "", ""},
		{"not canonical on macOS", dump.MacOS, load, dump.Crash{Code: 1, Flags: 13, HasAddress: true}, 0xabcd00000000,
			"non-canonical 0x0000abcd00000000", "", ""},
		{"canonical after all", dump.Linux, load, dump.Crash{Code: 11, Flags: 0x80, HasAddress: true}, 0x5000, "",
			"non_canonical_address_falsely_reported", ""},
		{"not aligned", dump.Linux, "0f2807", dump.Crash{Code: 11, Flags: 0x80, HasAddress: true}, 0x5001, "", "", ""},
		{"hlt", dump.Linux, "f4", dump.Crash{Code: 11, Flags: 0x80, HasAddress: true}, 0, "", "", ""},
		{"another address", dump.Linux, load, segv(1, 0x12345678), 0x5000, "", "crashing_access_not_found_in_memory_accesses", ""},
		{"the code itself", dump.Linux, load, segv(1, 0x400000), 0x5000, "", "", ""},
		{"a flipped bit", dump.Linux, load, segv(1, 0x5f0000000010), 0x5f0000000010, "", "", "0x00007f0000000010 0x00007f0000000010=rdi"},
		{"near null", dump.Linux, load, segv(1, 0x20), 0x20, "", "",
			"0x0000000000400020 0x0000000000400020=rdi 0x0000000000000000 0x0000000000000000=rdi"},
		{"allowed", dump.Linux, load, segv(2, 0x5008), 0x5008, "", "access_violation_when_access_allowed", ""},
		{"allowed on Windows", dump.Windows, store, windows(0xc0000005, 1, 0x5008), 0x5008, "", "access_violation_when_access_allowed", ""},
		{"allowed code", dump.Linux, load, segv(2, 0x400000), 0x5000, "", "access_violation_when_access_allowed", ""},
		{"segment", dump.Linux, "8ed8", dump.Crash{Code: 11, Flags: 0x80, HasAddress: true}, 0, "", "", ""},
		{"write of code", dump.Windows, store, windows(0xc0000005, 1, 0x400008), 0x400008, "", "", ""},
		{"no division", dump.Linux, load, dump.Crash{Code: 8, Flags: 1, Address: 0x400000, HasAddress: true}, 0x5000, "", "int_div_by_zero_not_possible", ""},
		{"division", dump.Linux, "f7f7", dump.Crash{Code: 8, Flags: 1, Address: 0x400000, HasAddress: true}, 0, "", "", ""},
		{"no division on Windows", dump.Windows, load, windows(0xc0000094), 0x5000, "", "int_div_by_zero_not_possible", ""},
		{"no division on macOS", dump.MacOS, load, dump.Crash{Code: 3, Flags: 1}, 0x5000, "", "int_div_by_zero_not_possible", ""},
		{"not privileged", dump.Windows, "4801f8", windows(0xc0000096), 0, "", "priv_instruction_crash_without_priv_instruction", ""},
		{"privileged", dump.Windows, "f4", windows(0xc0000096), 0, "", "", ""},
		{"abort", dump.Linux, "0f05", dump.Crash{Code: 6}, 0, "", "", ""},
	} {
		doc := crashDocument(t, crashed(t, arch.X86_64, c.os, c.code, c.crash, map[string]uint64{"$rdi": c.rdi}))
		adjusted := ""
		if a := doc.CrashInfo.AdjustedAddress; a != nil {
			adjusted = a.Kind + " " + a.Address + a.Offset
		}
		if adjusted != c.adjusted {
			t.Errorf("%s: adjusted %q, want %q", c.name, adjusted, c.adjusted)
		}
		if got := strings.Join(doc.CrashInfo.CrashInconsistencies, " "); got != c.wrong {
			t.Errorf("%s: inconsistencies %q, want %q", c.name, got, c.wrong)
		}
		var flips []string
		for _, f := range doc.CrashInfo.PossibleBitFlips {
			text := f.Address
			if f.SourceRegister != nil {
				text += "=" + *f.SourceRegister
			}
			flips = append(flips, text)
		}
		if got := strings.Join(flips, " "); got != c.flips {
			t.Errorf("%s: flips %q, want %q", c.name, got, c.flips)
		}
	}
}

// An access to a small inaccessible mapping beside an accessible one is reported.
func TestGuardPage(t *testing.T) {
	for addr, want := range map[uint64]bool{0x4ff8: true, 0x5008: false, 0x3ff8: false} {
		d := crashed(t, arch.X86_64, dump.Linux, "488907", dump.Crash{Code: 11, Flags: 2, Address: addr, HasAddress: true}, map[string]uint64{"$rdi": addr})
		accesses := crashDocument(t, d).CrashInfo.MemoryAccesses
		if len(accesses) != 1 || accesses[0].IsLikelyGuardPage != want || *accesses[0].Size != 8 || *accesses[0].AccessType != "write" {
			t.Errorf("%#x: %+v, want %v", addr, accesses, want)
		}
	}
	d := crashed(t, arch.X86_64, dump.Linux, "488907", dump.Crash{Code: 11, Flags: 2, Address: 0x4ff8, HasAddress: true}, map[string]uint64{"$rdi": 0x4ff8})
	d.Maps[0].Addr, d.Maps[0].Size = 0, 0x8001
	d.Maps[1].Addr = 0x8001
	if crashDocument(t, d).CrashInfo.MemoryAccesses[0].IsLikelyGuardPage {
		t.Error("a mapping of over 32 KiB is a guard page")
	}
}

// The tag of an arm64 address does not belong to the address of the crash.
func TestTaggedAddress(t *testing.T) {
	d := crashed(t, arch.ARM64, dump.Linux, "401840b9", dump.Crash{Code: 11, Flags: 1, Address: 0x1018, HasAddress: true}, map[string]uint64{"x2": 0x5a00000000001000})
	if got := crashDocument(t, d).CrashInfo.CrashInconsistencies; len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// An indirect branch to nowhere: there is no code of the instruction left.
func TestInstructionPointerUpdate(t *testing.T) {
	d := crashed(t, arch.X86_64, dump.Linux, "ffd0", dump.Crash{Code: 11, Flags: 0x80}, map[string]uint64{"$rax": 0xdead000000000000})
	info := crashDocument(t, d).CrashInfo
	if u := info.InstructionPointerUpdate; u == nil || u.Address != "0xdead000000000000" {
		t.Errorf("%+v", u)
	}
	if a := info.AdjustedAddress; a == nil || a.Address != "0xdead000000000000" {
		t.Errorf("%+v", a)
	}
}

// There is a document even without registers, code, or a thread.
func TestCrashWithout(t *testing.T) {
	for name, change := range map[string]func(d *dump.Dump){
		"code":      func(d *dump.Dump) { d.Memory = dump.Memory{} },
		"registers": func(d *dump.Dump) { d.Threads[0].Context, d.Crash.Context = nil, nil },
		"thread":    func(d *dump.Dump) { d.Crash.Thread = 99 },
		"threads":   func(d *dump.Dump) { d.Threads = nil },
		"crash":     func(d *dump.Dump) { d.Crash = nil },
		"CPU":       func(d *dump.Dump) { d.Arch, d.Threads[0].Context, d.Crash.Context = nil, nil, nil },
		"maps":      func(d *dump.Dump) { d.Maps = nil },
		"a register": func(d *dump.Dump) {
			c := dump.NewContext(arch.X86_64)
			c.Set("$rip", 0x400000)
			d.Threads[0].Context, d.Crash.Context = c, c
		},
	} {
		d := crashed(t, arch.X86_64, dump.Linux, "488b07", dump.Crash{Code: 11, Flags: 1, Address: 0x20, HasAddress: true}, map[string]uint64{"$rdi": 0x20})
		change(d)
		info := crashDocument(t, d).CrashInfo
		if operandsGiven := name == "maps"; (info.MemoryAccesses != nil) != operandsGiven {
			t.Errorf("without %s: %+v", name, info.MemoryAccesses)
		}
		if name == "maps" && info.PossibleBitFlips != nil {
			t.Errorf("without %s: %+v", name, info.PossibleBitFlips)
		}
	}
}

// Text in a dump does not reach a terminal as control characters, and need not be
// UTF-8.
func TestDocumentTexts(t *testing.T) {
	d := crashed(t, arch.X86_64, dump.Linux, "488b07", dump.Crash{Code: 11}, nil)
	d.Threads[0].Name = "a\x1b[31m\x7f\u009b31m\xff\u00e9<&>\n"
	d.Problems = []damage.Problem{{Lost: "a \x1b thing", Err: errors.New("bad \u0085")}}
	doc := crashDocument(t, d)
	for _, indent := range []bool{false, true} {
		var b bytes.Buffer
		if err := doc.Write(&b, WriteOptions{Indent: indent}); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexFunc(b.String(), func(c rune) bool { return c < ' ' && c != '\n' || c >= 0x7f && c < 0xa0 }); i >= 0 {
			t.Errorf("a control character at %d", i)
		}
		var v struct {
			Threads []struct {
				Name string `json:"thread_name"`
			}
		}
		if err := json.Unmarshal(b.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		if want := "a\x1b[31m\x7f\u009b31m\ufffd\u00e9<&>\n"; v.Threads[0].Name != want {
			t.Errorf("%q, want %q", v.Threads[0].Name, want)
		}
	}
}

// The contents of /etc/lsb-release and /proc/cpuinfo, and the time.
func TestDocumentSystem(t *testing.T) {
	d := crashed(t, arch.X86_64, dump.Linux, "488b07", dump.Crash{Code: 11}, nil)
	d.Files = []dump.File{
		{Name: "/etc/lsb-release", Data: []byte("DISTRIB_ID=\"Ubuntu\"\nDISTRIB_RELEASE=22.04\nNONSENSE\nVERSION_CODENAME='jammy'\nPRETTY_NAME=\"Ubuntu 22\"\n\x00")},
		{Name: "/proc/cpuinfo", Data: []byte("processor\t: 0\nmicrocode\t: 0x000a20\nmicrocode\t: 0x1\n")},
	}
	doc := crashDocument(t, d)
	lsb := doc.LSBRelease
	if lsb == nil || *lsb.ID != "Ubuntu" || *lsb.Release != "22.04" || *lsb.Codename != "jammy" || *lsb.Description != "Ubuntu 22" {
		t.Errorf("%+v", lsb)
	}
	if v := doc.SystemInfo.CPUMicrocodeVersion; v == nil || *v != "0xa20" {
		t.Errorf("microcode %v", v)
	}
	if n := doc.LinuxMemoryMapCount; n == nil || *n != 4 {
		t.Errorf("%v mappings", n)
	}
	d.Files[1].Data = []byte("microcode\t: zero\n")
	if v := crashDocument(t, d).SystemInfo.CPUMicrocodeVersion; v != nil {
		t.Errorf("microcode %q", *v)
	}
	names := []string{}
	for os := dump.UnknownOS; os <= dump.FreeBSD; os++ {
		d.System.OS = os
		if name := crashDocument(t, d).SystemInfo.OS; name != nil {
			names = append(names, *name)
		}
	}
	want := []string{"Linux", "Android", "Windows NT", "Mac OS X", "iOS", "Solaris", "Fuchsia", "FreeBSD"}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// GetLastError's value is in the thread's block.
func TestLastError(t *testing.T) {
	for a, offset := range map[*arch.Arch]int{arch.X86: 0x34, arch.X86_64: 0x68} {
		d := crashed(t, a, dump.Windows, "488b07", dump.Crash{Code: 0xc0000005}, nil)
		block := make([]byte, offset+4)
		block[offset] = 0x57
		d.Threads[0].TEB = 0x9000
		if v := crashDocument(t, d).Threads[0].LastErrorValue; v != nil {
			t.Errorf("%s: %q without the block", a.Name, *v)
		}
		d.Memory = dump.NewMemory(d.Memory.Order, append(d.Memory.Regions, dump.Region{Addr: 0x9000, Data: block}))
		if v := crashDocument(t, d).Threads[0].LastErrorValue; v == nil || *v != "0x00000057" {
			t.Errorf("%s: %v", a.Name, v)
		}
	}
}

// portions records the size of the largest write, and fails after a limit.
type portions struct {
	largest, total, limit int
}

func (p *portions) Write(b []byte) (int, error) {
	if p.total += len(b); p.total > p.limit {
		return 0, errors.New("full")
	}
	p.largest = max(p.largest, len(b))
	return len(b), nil
}

// A deep stack is written frame by frame, and writing stops at the first error.
func TestDocumentOfDeepStack(t *testing.T) {
	d := crashed(t, arch.X86_64, dump.Linux, "488b07", dump.Crash{Code: 11}, nil)
	r := &walk.Result{Dump: d, Stacks: []walk.Stack{{Frames: make([]walk.Frame, 20_000)}}}
	for i := range r.Stacks[0].Frames {
		r.Stacks[0].Frames[i].Module = -1
	}
	doc := NewDocument(r, DocumentOptions{})
	for _, indent := range []bool{false, true} {
		p := portions{limit: 1 << 30}
		if err := doc.Write(&p, WriteOptions{Indent: indent}); err != nil || p.largest > 1<<13 || p.total < 10<<20 {
			t.Errorf("%v, %d bytes, at most %d at once", err, p.total, p.largest)
		}
		p = portions{limit: 1 << 16}
		if err := doc.Write(&p, WriteOptions{Indent: indent}); err == nil || err.Error() != "full" || p.total > 1<<17 {
			t.Errorf("%v after %d bytes", err, p.total)
		}
	}
}
