package follow

import (
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// Code of compilers that is neither prologue nor epilogue is followed.
func TestPieces(t *testing.T) {
	const (
		// __security_push_cookie and __security_pop_cookie, and a function that calls them.
		cookies = "\xff\x43\x00\xd1\xf1\x07\x00\xf9\xc0\x03\x5f\xd6" + // 0: sub sp, sp, #16; str x17, [sp, #8]; ret
			"\xf0\x07\x40\xf9\x1f\x02\x11\xeb\x61\x00\x00\x54\xff\x43\x00\x91\xc0\x03\x5f\xd6" + // 0xc: ldr; cmp; b.ne; add sp, sp, #16; ret
			"\xfd\x7b\xbf\xa9\xfd\x03\x00\x91\xf6\xff\xff\x97\xe0\x03\x01\xaa" + // 0x20: stp x29, x30, pre-indexed; mov x29, sp; bl 0; mov x0, x1
			"\xf7\xff\xff\x97\xfd\x7b\xc1\xa8\xc0\x03\x5f\xd6" // 0x30: bl 0xc; ldp x29, x30, post-indexed; ret
		cookiesRules = "STACK CFI INIT 1020 1c .cfa: sp 0 + .ra: x30\nSTACK CFI 1024 .cfa: sp 16 + .ra: .cfa 8 - ^ x29: .cfa 16 - ^\n" +
			"STACK CFI 1028 .cfa: x29 16 +\nSTACK CFI 1030 .cfa: sp 32 +\nSTACK CFI 1034 .cfa: sp 16 +\nSTACK CFI 1038 .cfa: sp 0 + .ra: x30 x29: x29\n"

		// A function of LLVM's machine outliner that sets the frame pointer, and a function that calls it.
		outlined = "\xfd\x03\x00\x91\xc0\x03\x5f\xd6" + // 0: mov x29, sp; ret
			"\xfd\x7b\xbf\xa9\xfd\xff\xff\x97\xe0\x03\x01\xaa\xfd\x7b\xc1\xa8\xc0\x03\x5f\xd6" // 8: stp x29, x30, pre-indexed; bl 0; mov x0, x1; ldp x29, x30, post-indexed; ret
		outlinedRules = "STACK CFI INIT 1008 14 .cfa: sp 0 + .ra: x30\nSTACK CFI 100c .cfa: sp 16 + .ra: .cfa 8 - ^ x29: .cfa 16 - ^\n" +
			"STACK CFI 1010 .cfa: x29 16 +\nSTACK CFI 1018 .cfa: sp 0 + .ra: x30 x29: x29\n"

		// The table of a switch, whose bytes decode as pop rbx, pop rcx ...
		table = "\x53\x90\x90\x5b\xc3\x66\x90\x90" + "\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x5b\x00\x00\x00" +
			"\x5b\xc3"
		tableRules = "STACK CFI INIT 1000 1a .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1001 .cfa: $rsp 16 + $rbx: .cfa 16 - ^\n" +
			"STACK CFI 1004 .cfa: $rsp 8 + $rbx: $rbx\nSTACK CFI 1005 .cfa: $rsp 16 + $rbx: .cfa 16 - ^\n" +
			"STACK CFI 1019 .cfa: $rsp 8 + $rbx: $rbx\n"

		// The same after a call that does not return: push rbx; je; pop rbx; ret; call; nop; the table.
		afterCall = "\x53\x74\x02\x5b\xc3\xe8\x00\x10\x00\x00\x66\x90" + "\xcc\x10\x00\x00\x5b\x11\x00\x00\x5b\x12\x00\x00"
		callRules = "STACK CFI INIT 1000 18 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1001 .cfa: $rsp 16 + $rbx: .cfa 16 - ^\n" +
			"STACK CFI 1004 .cfa: $rsp 8 + $rbx: $rbx\nSTACK CFI 1005 .cfa: $rsp 16 + $rbx: .cfa 16 - ^\n"

		// The padding of gas before the target of a branch, whose bytes would be RVAs: push rbx; sub rsp, 0x30; a nop of
		// 9 bytes; test; js 0x20; add; pop; ret; nopl; 0x20: movb; mov; mov; call; add; pop; ret.
		padded = "\x53\x48\x83\xec\x30\x66\x0f\x1f\x84\x01\x01\x01\x01\x01\x85\xff\x78\x0e\x48\x83\xc4\x30\x5b\xc3\x0f\x1f\x84\x00\x00\x00\x00\x00" +
			"\xc6\x04\x03\x00\xbe\x2f\x00\x00\x00\x48\x89\xdf\xe8\x5f\x00\x00\x00\x48\x83\xc4\x30\x5b\xc3"
		paddedRules = "STACK CFI INIT 1000 37 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1001 .cfa: $rsp 16 + $rbx: .cfa 16 - ^\n" +
			"STACK CFI 1005 .cfa: $rsp 64 +\nSTACK CFI 1016 .cfa: $rsp 16 +\nSTACK CFI 1017 .cfa: $rsp 8 +\n" +
			"STACK CFI 1018 .cfa: $rsp 64 +\nSTACK CFI 1035 .cfa: $rsp 16 +\nSTACK CFI 1036 .cfa: $rsp 8 +\n"

		// A byte of data that could begin the next instruction: push rbx; sub rsp, 0x30; test; js 0x10; add; pop; ret;
		// the byte; 0x10: add; pop; ret.
		data      = "\x53\x48\x83\xec\x30\x85\xff\x78\x07\x48\x83\xc4\x30\x5b\xc3\xb8\x48\x83\xc4\x30\x5b\xc3"
		dataRules = "STACK CFI INIT 1000 16 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1001 .cfa: $rsp 16 + $rbx: .cfa 16 - ^\n" +
			"STACK CFI 1005 .cfa: $rsp 64 +\nSTACK CFI 100d .cfa: $rsp 16 +\nSTACK CFI 100e .cfa: $rsp 8 +\n" +
			"STACK CFI 100f .cfa: $rsp 64 +\nSTACK CFI 1014 .cfa: $rsp 16 +\nSTACK CFI 1015 .cfa: $rsp 8 +\n"

		// The same with two instructions as data, which jump into the middle of the next one, where a pop would be: je
		// 0x13; ret; 0x12: mov eax, 0x9090905b; add; pop; ret.
		jumps = "\x53\x48\x83\xec\x30\x85\xff\x78\x09\x48\x83\xc4\x30\x5b\xc3\x74\x02\xc3" +
			"\xb8\x5b\x90\x90\x90\x48\x83\xc4\x30\x5b\xc3"
		jumpsRules = "STACK CFI INIT 1000 1d .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1001 .cfa: $rsp 16 + $rbx: .cfa 16 - ^\n" +
			"STACK CFI 1005 .cfa: $rsp 64 +\nSTACK CFI 100d .cfa: $rsp 16 +\nSTACK CFI 100e .cfa: $rsp 8 +\n" +
			"STACK CFI 100f .cfa: $rsp 64 +\nSTACK CFI 101b .cfa: $rsp 16 +\nSTACK CFI 101c .cfa: $rsp 8 +\n"

		// A lock prefix that a branch skips: push rbx; je 4; lock; 4: add [rax], eax; pop; ret.
		lock      = "\x53\x74\x01\xf0\x01\x00\x5b\xc3"
		lockRules = "STACK CFI INIT 1000 8 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1001 .cfa: $rsp 16 + $rbx: .cfa 16 - ^\nSTACK CFI 1007 .cfa: $rsp 8 +\n"

		// A loop that allocates a large frame page by page, and a switch.
		probes = "\xfd\x7b\xbf\xa9\xfd\x03\x00\x91" + // 0: stp x29, x30, pre-indexed; mov x29, sp
			"\xe9\x0b\x40\xd1\xff\x07\x40\xd1\xff\x63\x29\xeb\xc1\xff\xff\x54" + // 8: sub x9, sp, #8192; sub sp, sp, #4096; cmp sp, x9; b.ne 0xc
			"\x20\x00\x1f\xd6\xff\x0b\x40\x91\xfd\x7b\xc1\xa8\xc0\x03\x5f\xd6" // 0x18: br x1; add sp, sp, #8192; ldp x29, x30, post-indexed; ret
		probesRules = "STACK CFI INIT 1000 28 .cfa: sp 0 + .ra: x30\nSTACK CFI 1004 .cfa: sp 16 + .ra: .cfa 8 - ^ x29: .cfa 16 - ^\n" +
			"STACK CFI 1008 .cfa: x29 16 +\nSTACK CFI 1024 .cfa: sp 0 + .ra: x30 x29: x29\n"

		// A function whose second part passes arguments on the stack to another function.
		part = "\x50\x85\xff\x75\x03\x58\xc3\xcc\xe9\x00\x00\x00\x00\x31\xc0\xc3" // push rax; test; jne 8; pop rax; ret; int3; 8: jmp 0xd; xor; ret
		head = "STACK CFI INIT 1000 7 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1001 .cfa: $rsp 16 +\nSTACK CFI 1006 .cfa: $rsp 8 +\n"
		tail = "STACK CFI INIT 1008 5 .cfa: $rsp 16 + .ra: .cfa 8 - ^\nSTACK CFI INIT 100d 3 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"
	)
	for _, c := range []struct { // code from 0x1000 on
		name        string
		cpu         *CPU
		code, rules string
		tables      bool
		least       int
	}{
		{"cookies", frameARM64, cookies, cookiesRules, false, 7},
		{"outlined", frameARM64, outlined, outlinedRules, false, 5},
		{"switch", frameAMD64, table, tableRules, true, 6},
		{"switch behind a call", frameAMD64, afterCall, callRules, true, 5},
		{"padding", frameAMD64, padded, paddedRules, false, 15},
		{"padding among tables", frameAMD64, padded, paddedRules, true, 15},
		{"data", frameAMD64, data, dataRules, false, 10},
		{"data that jump", frameAMD64, jumps, jumpsRules, false, 11},
		{"lock", frameAMD64, lock, lockRules, false, 6},
		{"probes", frameARM64, probes, probesRules, false, 8},
		{"arguments on the stack", frameAMD64, part, head + tail, false, 8},
	} {
		names := arch.X86_64
		if c.cpu == frameARM64 {
			names = arch.ARM64
		}
		b := &Binary{Size: uint64(len(c.code)), Exported: func(func(uint64)) {}, Tables: c.tables, Code: func(addr uint64) []byte {
			return []byte(c.code)[min(addr-0x1000, uint64(len(c.code))):]
		}}
		stats := Run(c.cpu, rowsOf(t, []byte(c.rules), names), b, func(f Finding) { t.Errorf("%s: %#x: %s", c.name, f.Addr, f.Text) })
		if stats.Instructions < c.least {
			t.Errorf("%s: %d instructions were compared, want at least %d", c.name, stats.Instructions, c.least)
		}
	}
}

// The same part is wrong if no function jumps to it, or if a function jumps to it with another stack pointer.
func TestDoubted(t *testing.T) {
	code := "\x50\x85\xff\x75\x03\x58\xc3\xcc\xe9\x00\x00\x00\x00\x31\xc0\xc3"
	for _, c := range []struct{ name, head string }{
		{"no jump", ""},
		{"another frame", "STACK CFI INIT 1000 7 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1001 .cfa: $rsp 16 +\nSTACK CFI 1006 .cfa: $rsp 8 +\n"},
	} {
		size := map[string]string{"": "16", c.head: "24"}[c.head]
		rules := c.head + "STACK CFI INIT 1008 5 .cfa: $rsp " + size + " + .ra: .cfa 8 - ^\nSTACK CFI INIT 100d 3 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"
		b := &Binary{Size: uint64(len(code)), Exported: func(func(uint64)) {}, Code: func(addr uint64) []byte { return []byte(code)[addr-0x1000:] }}
		n := 0
		stats := Run(frameAMD64, rowsOf(t, []byte(rules), arch.X86_64), b, func(f Finding) {
			if n++; f.Addr != 0x1008 {
				t.Errorf("%s: %#x: %s", c.name, f.Addr, f.Text)
			}
		})
		if n != 1 || stats.Wrong != 1 {
			t.Errorf("%s: %d findings, %d wrong", c.name, n, stats.Wrong)
		}
	}
}

// The return address is on the stack if code is called, returns, or is jumped to by such code. Code that is only jumped
// to, such as GHC's, may have it elsewhere, and its registers do not belong to a caller.
func TestJumpedTo(t *testing.T) {
	// 1000: mov [rbp], rbx; jmp [rbp]. Then either 1006: call 1000; ret, or a jmp 1000, or nothing that leads there.
	const body = "\x48\x89\x5d\xf8\xff\x65\x00"
	const rules = "STACK CFI INIT 1000 7 .cfa: $rbp 0 + .ra: .cfa ^\n"
	const other = "STACK CFI INIT 1007 6 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"
	for _, c := range []struct {
		name, code, rules string
		exported          bool
		want              int
	}{
		{"jumped to", body, rules, false, 0},
		{"called", body + "\xe8\xf4\xff\xff\xff\xc3", rules + other, false, 1},
		{"jumped to by code that returns", body + "\x74\xf7\xc3\x90\x90\x90", rules + other, false, 1},
		{"jumped to by code that is not called", body + "\xeb\xf7\x90\x90\x90\x90", rules + other, false, 0},
		{"exported", body, rules, true, 1},
		{"out of step", "\x00" + body, "STACK CFI INIT 1000 8 .cfa: $rbp 0 + .ra: .cfa ^\n", true, 0},
		{"returns", "\x48\x89\x5d\xf8\xc3", "STACK CFI INIT 1000 5 .cfa: $rbp 0 + .ra: .cfa ^\n", false, 1},
	} {
		b := &Binary{Size: uint64(len(c.code)), Code: func(addr uint64) []byte { return []byte(c.code)[addr-0x1000:] }}
		b.Exported = func(fn func(uint64)) {
			if c.exported {
				fn(0x1000)
			}
		}
		b.Begins = func(from, to uint64) bool { return c.name == "out of step" && from <= 0x1001 && 0x1001 < to }
		n := 0
		stats := Run(frameAMD64, rowsOf(t, []byte(c.rules), arch.X86_64), b, func(f Finding) { n++ })
		if n != c.want || stats.WrongSaves != c.want {
			t.Errorf("%s: %d findings, %d counted, want %d", c.name, n, stats.WrongSaves, c.want)
		}
	}
}
