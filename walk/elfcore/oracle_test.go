package elfcore

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// gdbNames maps names of registers in gdb and eu-readelf to ours where they differ.
var gdbNames = map[*arch.Arch]map[string]string{
	arch.X86_64:  {"eflags": "$rflags", "fs_base": "$fs.base", "gs_base": "$gs.base"},
	arch.ARM:     {"spsr": "cpsr"},
	arch.ARM64:   {"pstate": "cpsr"},
	arch.MIPS64:  {"a4": "$t0", "a5": "$t1", "a6": "$t2", "a7": "$t3", "t0": "$t4", "t1": "$t5", "t2": "$t6", "t3": "$t7", "s8": "$fp"},
	arch.RISCV64: {"fp": "s0"},
	arch.MIPS:    {"s8": "$fp"},
	arch.PPC:     {"pc": "srr0", "nip": "srr0"},
	arch.PPC64:   {"pc": "srr0", "nip": "srr0"},
}

// notRegisters are names that gdb and eu-readelf print among the registers for values that a walker
// does not need, or for a register of ours by another name.
var notRegisters = regexp.MustCompile(`^(` +
	`msr|mq|dar|dsisr|spr0|trap|sr|bad|cause|` + // state of the kernel's
	`fsr|` + // QEMU does not write it
	`orig_\w+|fpvalid|` + // of system calls and of the note
	`cc` + // a part of pswm
	`)$`)

func regNamed(a *arch.Arch, name string) (int, bool) {
	if other := gdbNames[a][name]; other != "" {
		name = other
	}
	if a == arch.S390X {
		if name == "pc" {
			name = "pswa"
		}
		name = strings.Replace(name, "acr", "a", 1)
	}
	if i, ok := a.RegIndex(name); ok {
		return i, ok
	}
	return a.RegIndex("$" + name)
}

var (
	gdbThread   = regexp.MustCompile(`^Thread \d+ \((?:Thread 0x[0-9a-f]+ \()?LWP (\d+)\)`)
	gdbRegister = regexp.MustCompile(`^([a-z]\w*) +(0x[0-9a-f]+)\s`)
)

// registersOf returns what gdb prints about registers. For arch/riscv64 it is what gdb printed when
// it wrote the core: gdb 13 writes an NT_PRSTATUS there with the size of x86-64's, and cannot read
// it.
func registersOf(t *testing.T, c, core, program string) string {
	if c != "arch/riscv64" {
		return oracle.GDBCore(t, core, program, "thread apply all info registers")
	}
	text, err := os.ReadFile(testenv.Shared(t, "data", c, "gdb_bt.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return "Thread 1 (LWP 2957):\n" + string(text)
}

var mipsValue = regexp.MustCompile(`^([0-9a-f]{8}|[0-9a-f]{16})$`)

// tableLines turns gdb's table of MIPS's registers, names above values, into a
// line for each.
func tableLines(text string) (lines []string) {
	var names []string
	for _, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if len(names) > 0 && len(fields) > 0 && strings.HasPrefix(fields[0], "R") {
			fields = fields[1:]
		}
		if len(fields) == len(names) && len(fields) > 0 && mipsValue.MatchString(fields[0]) {
			for i, name := range names {
				lines = append(lines, name+" 0x"+fields[i]+" ")
			}
			continue
		}
		names = fields
		lines = append(lines, line)
	}
	return lines
}

// Every register that gdb shows of every thread is equal to ours. symtool has no names for
// values that gdb computes or that are not in NT_PRSTATUS.
func TestOracleRegisters(t *testing.T) {
	testenv.Oracle(t)
	total, cut, other := 0, 0, map[string]int{}
	for _, c := range append(fixtureCores, realCores...) {
		d, core, program := anyCore(t, c)
		threads, compared := map[uint32]*dump.Thread{}, 0
		for i := range d.Threads {
			threads[d.Threads[i].ID] = &d.Threads[i]
		}
		var thread *dump.Thread
		shown := 0
		for _, line := range tableLines(registersOf(t, c, core, program)) {
			if m := gdbThread.FindStringSubmatch(line); m != nil {
				id, _ := strconv.ParseUint(m[1], 10, 32)
				if thread = threads[uint32(id)]; thread == nil {
					t.Errorf("%s: gdb has thread %d", c, id)
				}
				shown++
				continue
			}
			m := gdbRegister.FindStringSubmatch(line)
			if m == nil || thread == nil {
				continue
			}
			i, ok := regNamed(d.Arch, m[1])
			if !ok {
				if other[m[1]]++; !notRegisters.MatchString(m[1]) {
					t.Errorf("%s: gdb has a register %s", c, m[1])
				}
				continue
			}
			want, err := strconv.ParseUint(m[2], 0, 64)
			got, known := thread.Context.At(i)
			if c == "arch/riscv64" && !known {
				cut++ // x86-64's structure has no room for it
				continue
			}
			if err != nil || got != want || !known {
				t.Errorf("%s: thread %d: %s is %#x (%v), gdb has %s", c, thread.ID, m[1], got, known, m[2])
			}
			compared++
		}
		if shown != len(d.Threads) || compared < 16*shown {
			t.Errorf("%s: %d threads and %d registers of gdb, %d threads of ours", c, shown, compared, len(d.Threads))
		}
		total += compared
	}
	if cut != 5 {
		t.Errorf("%d registers are not in the core of riscv64, want s11 and t3 to t6", cut)
	}
	t.Logf("%d registers; what gdb shows beside them: %v", total, other)
}

// euStatus are the fields of NT_PRSTATUS before the registers.
var euStatus = regexp.MustCompile(`^(info\.si_\w+|ppid|pgrp|sid|c?[us]time)$`)

var euPair = regexp.MustCompile(`([a-z_][\w.]*): +(-?(?:0x)?[0-9a-f]+)`)

// Every value that eu-readelf shows of the notes is equal to ours.
func TestOracleNotes(t *testing.T) {
	testenv.Oracle(t)
	counts := map[string]int{}
	for _, c := range append(fixtureCores, realCores...) {
		d, core, _ := anyCore(t, c)
		e := euCheck{t: t, name: c, d: d, thread: -1, counts: counts}
		for _, line := range oracle.EUReadelf(t, core, "-n") {
			e.line(line)
		}
		if e.thread+1 != len(d.Threads) || e.files != len(named(d)) || e.aux != len(d.Auxv) {
			t.Errorf("%s: eu-readelf has %d threads, %d files, %d of the auxiliary vector; ours are %d, %d, %d",
				c, e.thread+1, e.files, e.aux, len(d.Threads), len(named(d)), len(d.Auxv))
		}
	}
	t.Log(counts)
	for _, what := range []string{"registers", "pid", "uid", "signal", "auxv", "files"} {
		if counts[what] == 0 {
			t.Errorf("no %s compared", what)
		}
	}
}

// named returns the mappings that have a file.
func named(d *dump.Dump) (list []dump.Mapping) {
	for _, m := range d.Maps {
		if m.Path != "" {
			list = append(list, m)
		}
	}
	return list
}

// euCheck compares lines of eu-readelf -n.
type euCheck struct {
	t          *testing.T
	name       string
	d          *dump.Dump
	note       string
	thread     int
	files, aux int
	counts     map[string]int
}

var (
	euNote = regexp.MustCompile(`^  (\w+) +(\d+)  (\S+)`)
	euFile = regexp.MustCompile(`^      ([0-9a-f]+)-([0-9a-f]+) ([0-9a-f]+) \d+ +(\S.*)$`)
	euAux  = regexp.MustCompile(`^    (\w+): (0x[0-9a-f]+|\d+)`)
	euZero = regexp.MustCompile(`^    (\d+)()$`) // an entry that eu-readelf does not know, with 0
)

func (e *euCheck) line(line string) {
	if m := euNote.FindStringSubmatch(line); m != nil {
		if e.note = m[3]; e.note == "PRSTATUS" {
			e.thread++
		}
		return
	}
	switch e.note {
	case "PRSTATUS":
		e.pairs(line, func(name string, v uint64) (uint64, string, bool) {
			if name == "cursig" {
				return uint64(e.d.Threads[e.thread].Signal), "signal", true
			}
			if name == "pid" {
				return uint64(e.d.Threads[e.thread].ID), "pid", true
			}
			i, ok := regNamed(e.d.Arch, name)
			if !ok {
				if e.counts["beside: "+name]++; !notRegisters.MatchString(name) && !euStatus.MatchString(name) {
					e.t.Errorf("%s: eu-readelf has a register %s", e.name, name)
				}
				return 0, "", false
			}
			got, _ := e.d.Threads[e.thread].Context.At(i)
			return got, "registers", true
		})
	case "PRPSINFO":
		p := &e.d.Process
		own := map[string]uint32{"uid": p.UID, "gid": p.GID, "pid": p.ID, "ppid": p.Parent}
		e.pairs(line, func(name string, v uint64) (uint64, string, bool) {
			got, ok := own[name]
			return uint64(got), "uid", ok
		})
	case "SIGINFO":
		c := e.d.Crash
		own := map[string]uint64{"si_signo": uint64(c.Code), "si_code": uint64(c.Flags)}
		e.pairs(line, func(name string, v uint64) (uint64, string, bool) {
			got, ok := own[name]
			return got, "signal", ok
		})
		if addr, ok := strings.CutPrefix(strings.TrimSpace(line), "fault address: "); ok {
			want, _ := strconv.ParseUint(addr, 0, 64)
			e.want("fault address", "signal", c.Address, want)
		}
	case "AUXV":
		m := euAux.FindStringSubmatch(line)
		if m == nil {
			m = euZero.FindStringSubmatch(line)
		}
		if m != nil && e.aux < len(e.d.Auxv) {
			want, _ := strconv.ParseUint(m[2], 0, 64)
			e.want(m[1], "auxv", e.d.Auxv[e.aux].Value, want)
			e.aux++
		}
	case "FILE":
		if m := euFile.FindStringSubmatch(line); m != nil {
			got := "none"
			if list := named(e.d); e.files < len(list) {
				f := list[e.files]
				got = fmt.Sprintf("%x-%x %x %s", f.Addr, f.Addr+f.Size, f.Offset, f.Path)
			}
			trim := func(s string) string { return "" + strings.TrimLeft(s, "0") }
			offset := trim(m[3])
			if offset == "" {
				offset = "0"
			}
			if want := fmt.Sprintf("%s-%s %s %s", trim(m[1]), trim(m[2]), offset, m[4]); got != want {
				e.t.Errorf("%s: file %s, eu-readelf has %s", e.name, got, want)
			}
			e.files++
			e.counts["files"]++
		}
	}
}

// pairs compares what is printed as "name: value".
func (e *euCheck) pairs(line string, ours func(name string, v uint64) (got uint64, what string, ok bool)) {
	for _, m := range euPair.FindAllStringSubmatch(line, -1) {
		want, err := strconv.ParseUint(m[2], 0, 64)
		if signed, err2 := strconv.ParseInt(m[2], 0, 64); err != nil && err2 == nil {
			want, err = uint64(signed), nil
		}
		if got, what, ok := ours(m[1], want); ok && err == nil {
			if e.d.Arch.PtrSize == 4 {
				want = uint64(uint32(want))
			}
			e.want(m[1], what, got, want)
		}
	}
}

func (e *euCheck) want(name, what string, got, want uint64) {
	e.counts[what]++
	if got != want {
		e.t.Errorf("%s: thread %d: %s is %#x, eu-readelf has %#x", e.name, e.thread, name, got, want)
	}
}

var gdbLibrary = regexp.MustCompile(`^(0x[0-9a-f]+)  0x[0-9a-f]+ .*?(/\S+)$`)

// gdb finds the code of each library in the module with its name.
func TestOracleLibraries(t *testing.T) {
	testenv.Oracle(t)
	n := 0
	for _, c := range realCores {
		d := readShared(t, c, Options{})
		out := oracle.GDBCore(t, testenv.Shared(t, "data", c, "core"), testenv.Shared(t, "data", c, "prog"), "info sharedlibrary")
		for _, line := range strings.Split(out, "\n") {
			m := gdbLibrary.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			addr, _ := strconv.ParseUint(m[1], 0, 64)
			i := d.ModuleAt(addr)
			if i < 0 || !strings.HasPrefix(filepath.Base(d.Modules[i].Path), filepath.Base(m[2])) {
				t.Errorf("%s: gdb has %s at %#x, which is in module %d", c, m[2], addr, i)
			}
			n++
		}
	}
	if n < 40 {
		t.Errorf("%d libraries compared", n)
	}
	t.Logf("%d libraries", n)
}
