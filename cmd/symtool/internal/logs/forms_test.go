package logs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
)

// TestForms checks that each form finds the place on a line. The answer contains what the place counts from, its
// name and its symbol.
func TestForms(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"a[2]: segfault at 10 ip 0000561f5994c0a4 sp 00007ffecf84c4f8 error 4 in st a[10a4,561f5994c000+1000] likely", "a[2]: segfault at 10 ip 0000561f5994c0a4 sp 00007ffecf84c4f8 error 4 in st a({FromFile st a 10a4})[10a4,561f5994c000+1000] likely"},
		{"a[2]: segfault at 10 ip 0000561f5994c0a4 sp 0 error 4 in st[561f5994c000+1000]", "a[2]: segfault at 10 ip 0000561f5994c0a4 sp 0 error 4 in st({FromCode st a4})[561f5994c000+1000]"},
		{"traps: p[7] trap int3 ip:4001f3 sp:7ffc error:0 in p[400000+1000]", "traps: p[7] trap int3 ip:4001f3 sp:7ffc error:0 in p({FromCode p 1f3})[400000+1000]"},
		{"RIP: 0010:f.cold+0x91/0x300", "RIP: 0010:{AfterSymbol  91 f.cold/300 kernel}"},
		{" ? f+0x91/0x300 [my_mod 01ab] g+0x1/0x2", " ? {AfterSymbol my_mod 91 f/300 01ab kernel} [my_mod 01ab] {AfterSymbol  1 g/2 kernel}"},
		{"  #00 pc 0000000000000480  /x/base.apk!libn.so (offset 0x1000) (A<(int)1>::f(int)+12) (BuildId: AB12)\r", "  #00 pc 0000000000000480  /x/base.apk!libn.so (offset 0x1000) ({FromLink libn.so 480 ab12}) (BuildId: AB12)\r"},
		{"#1 pc 00000480  /x/libn.so", "#1 pc 00000480  /x/libn.so ({FromLink /x/libn.so 480})"},
		{"#1 pc 00000480  [vdso]", "#1 pc 00000480  [vdso] ({FromLink [vdso] 480 unsure})"},
		{"\t     a0d operator new(int)+0xcd (/x y/p)", "\t     a0d {FromFile /x y/p a0d operator new(int)+cd} (/x y/p)"},
		{"p 1 2.3:  250 cpu-clock:   55fc a::b+0xcd (/p)", "p 1 2.3:  250 cpu-clock:   55fc {FromFile /p 55fc a::b+cd} (/p)"},
		{"\t     a0d [unknown] (/p)", "\t     a0d {FromFile /p a0d} (/p)"},
		{"\tffffffff821ec357 f+0x17 ([kernel.kallsyms])", "\tffffffff821ec357 {AfterSymbol  17 f kernel} ([kernel.kallsyms])"},
		{"\tffffffffc01ec357 f+0x17 ([my_mod])", "\tffffffffc01ec357 {AfterSymbol my_mod 17 f kernel} ([my_mod])"},
		{"\t0 [unknown] ([unknown])", "\t0 [unknown] ([unknown])"},
		{"./p(_Zf+0x9)[0x1234]", "./p({AfterSymbol ./p 9 _Zf})[0x1234]"},
		{"0x7f12 libx.so!f+0x9", "0x7f12 libx.so!{AfterSymbol libx.so 9 f}"},
		{" 1  prog!_start + 0x21", " 1  prog!{AfterSymbol prog 21 _start}"},
		{"[signal SIGSEGV: code=0x1 addr=0x0 pc=0x49e140]", "[signal SIGSEGV: code=0x1 addr=0x0 pc=0x49e140 ({Absolute  49e140})]"},
		{"PC=0x46b1e1 m=0 sigcode=0", "PC=0x46b1e1 ({Absolute  46b1e1}) m=0 sigcode=0"},
		{" 1: 0xd3a3c0  [node]", " 1: 0xd3a3c0 {Absolute node d3a3c0} [node]"},
		{"12: 0xf5144d v8::f(int*, [x]) [/usr/bin/node]", "12: 0xf5144d {Absolute /usr/bin/node f5144d} [/usr/bin/node]"},
		{"1: 0xf5144d f node]\n1: x 0xf5144d f [node]\na1: 0xf5144d f [node]\n0: 0x12 - <unknown>", "1: 0xf5144d f node]\n1: x 0xf5144d f [node]\na1: 0xf5144d f [node]\n0: 0x12 - <unknown>"},
		{" 0# 0x000055DA88D482EF in ./b s", " 0# 0x000055DA88D482EF ({Absolute ./b s 55da88d482ef}) in ./b s"},
		{"  Binary file \"/lib/n s.so\", at +0x480 [0x7f0000000480]", "  Binary file \"/lib/n s.so\", at {FromLink /lib/n s.so 480} [0x7f0000000480]"},
		{"  Binary file \"python3\", at f+0x48 [0x7f48]", "  Binary file \"python3\", at {AfterSymbol python3 48 f} [0x7f48]"},
		{"  Binary file \"python3\", at f-0x48 [0x7f48]\n  Binary file '<unknown>' [0x7f48]", "  Binary file \"python3\", at f-0x48 [0x7f48]\n  Binary file '<unknown>' [0x7f48]"},
		{"(/lib/n.so+0x480) (BuildId: AB12)", "({FromLink /lib/n.so 480 ab12}) (BuildId: AB12)"},
		{"a.so+0x123456789abcdef01/0x2 f+0x123456789abcdef01/0x3 pc=0x123456789abcdef01", "a.so+0x123456789abcdef01/0x2 f+0x123456789abcdef01/0x3 pc=0x123456789abcdef01"},
		{" in a[123456789abcdef01,2+3000] [123]", " in a[123456789abcdef01,2+3000] [123]"},
	} {
		f := describing()
		if got := filter(t, f, c.line); got != strings.NewReplacer("{", "", "}", "").Replace(c.want) {
			t.Errorf("%q:\n got %q\nwant %q", c.line, got, c.want)
		}
	}
}

// describing returns a filter whose answers describe the places.
func describing() *Filter {
	counts := [...]string{"FromStart", "FromLink", "Absolute", "FromFile", "FromCode", "AfterSymbol"}
	return &Filter{Answer: func(dst []byte, p *Place) ([]byte, bool) {
		dst = fmt.Appendf(dst, "%s %s %x", counts[p.Counts], p.Name, p.Addr)
		switch {
		case p.Size > 0:
			dst = fmt.Appendf(dst, " %s/%x", p.Symbol, p.Size)
		case p.After > 0:
			dst = fmt.Appendf(dst, " %s+%x", p.Symbol, p.After)
		case p.Symbol != "":
			dst = fmt.Appendf(dst, " %s", p.Symbol)
		}
		if p.Build != "" {
			dst = fmt.Appendf(dst, " %s", p.Build)
		}
		if p.Kernel {
			dst = append(dst, " kernel"...)
		}
		if strings.HasPrefix(p.Name, "[") && !p.Sure {
			dst = append(dst, " unsure"...)
		}
		return dst, true
	}}
}

func filter(t testing.TB, f *Filter, log string) string {
	t.Helper()
	var out bytes.Buffer
	stdout := cli.NewStdout(&out)
	if err := f.Run(context.Background(), strings.NewReader(log), stdout); err != nil {
		t.Fatal(err)
	}
	if err := stdout.Commit(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestPerfMappings checks addresses in the output of perf script, which also has mappings. An address is looked for
// in the mappings of its file, and is an offset in the file if it is in none of them. There is no answer if it is in
// several that disagree, or in memory that does not belong to a file.
func TestPerfMappings(t *testing.T) {
	log := "p 1 2.3: PERF_RECORD_MMAP2 1/1: [0x7f0000001000(0x2000) @ 0x3000 fe:00 1 2]: r-xp /lib/n so\n" +
		"p 1 2.3: PERF_RECORD_MMAP2 2/2: [0x7e0000001000(0x2000) @ 0x3000 <01ab>]: r-xp /lib/n so\n" +
		"p 1 2.3: PERF_RECORD_MMAP -1/0: [0x7f0000001000(0xffffffffffffffff) @ 0]: x [kernel]\n"
	more := "p 1 2.3: PERF_RECORD_MMAP2 3/3: [0x7f0000002000(0x2000) @ 0x3000 fe:00 1 2]: r-xp /lib/n so\n"
	ask := "\t 7f0000001010 f+0x1 (/lib/n so)\n\t 7e0000001010 [unknown] (/lib/n so)\n\t 7f0000002010 [unknown] (/lib/n so)\n\t 10 [unknown] (/lib/n so)\n"
	want := "\t 7f0000001010 FromFile /lib/n so 3010 f+1 (/lib/n so)\n\t 7e0000001010 FromFile /lib/n so 3010 01ab (/lib/n so)\n" +
		"\t 7f0000002010 FromFile /lib/n so %s (/lib/n so)\n\t 10 FromFile /lib/n so 10 (/lib/n so)\n"
	if got, want := filter(t, describing(), log+ask), log+fmt.Sprintf(want, "4010"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := filter(t, describing(), log+more+ask), log+more+strings.Replace(want, "FromFile /lib/n so %s", "[unknown]", 1); got != want {
		t.Errorf("in two places: got\n%s\nwant\n%s", got, want)
	}
	jit := "p 1 2.3: PERF_RECORD_MMAP2 1/1: [0x7f0000000000(0x2000) @ 0 00:00 0 0]: rwxp //anon\n\t 7f0000000010 [unknown] (//anon)\n\t 10 [unknown] (/dev/zero (deleted))\n"
	if got := filter(t, describing(), jit); got != jit {
		t.Errorf("generated code: got\n%s", got)
	}
}

const testMaps = "Dynamic libraries:\n" +
	"55d0c0de0000-55d0c0de1000 r--p 00000000 fe:00 123                        /bin/a b (deleted)\n" +
	"55d0c0de1000-55d0c0de2000 r-xp 00001000 fe:00 123                        /bin/a b (deleted)\n" +
	"55d0c0df0000-55d0c0df2000 rw-p 00000000 00:00 0                          [heap]\n" +
	"7e0000000000-7e0000400000 r--p 00008000 fe:00 123                        /bin/a b (deleted)\n" +
	"7f0000001000-7f0000002000 r--p 00000000 fe:00 125                        /usr/lib/locale\n" +
	"7f0000002000-7f0000003000 r-xp 00002000 fe:00 124                        /lib/n.so\n" +
	"7f0000005000-7f0000004000 r-xp 00002000 fe:00 124                        /lib/n.so\n"

// TestTitles checks that in backtrace_symbols the title of a program stands for the program, if the program is known
// and the last word is not.
func TestTitles(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"\tapp: worker [local] SELECT(+0x10) [0x5633958f74d9]", "\tapp: worker [local] SELECT(FromLink app 10) [0x5633958f74d9]"},
		{"app: worker SELECT(f+0x10)[0x5633958f74d9]", "app: worker SELECT(AfterSymbol app 10 f)[0x5633958f74d9]"},
		{"app: worker (+0x10) [0x5633958f74d9]", "app: worker (FromLink app 10) [0x5633958f74d9]"},
		{"app: in lib.so(+0x10) [0x5633958f74d9]", "app: in lib.so(FromLink lib.so 10) [0x5633958f74d9]"},
		{"app: /lib/x.so(+0x10) [0x5633958f74d9]", "app: /lib/x.so(FromLink /lib/x.so 10) [0x5633958f74d9]"},
		{"other: SELECT(+0x10) [0x5633958f74d9]", "other: SELECT(FromLink SELECT 10) [0x5633958f74d9]"},
	} {
		f := describing()
		f.Names = func() []string { return []string{"app", "lib.so"} }
		if got := filter(t, f, c.line); got != c.want {
			t.Errorf("%s: %s, want %s", c.line, got, c.want)
		}
	}
}

// TestReadMaps checks that with the mappings of a process, addresses in the process are places.
func TestReadMaps(t *testing.T) {
	maps, err := ReadMaps(strings.NewReader(testMaps))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"at 0x55d0c0de1054, 55D0C0DE1054.", "at 0x55d0c0de1054 (FromStart /bin/a b 1054), 55D0C0DE1054 (FromStart /bin/a b 1054)."},
		{"[0x00007f0000002010] 0x7f0000001010 0x55d0c0df0010 7f0000003000", "[0x00007f0000002010 (FromStart /lib/n.so 10)] 0x7f0000001010 0x55d0c0df0010 7f0000003000"},
		{"0x7e0000000010 is in a part of /bin/a b that is mapped as data", "0x7e0000000010 is in a part of /bin/a b that is mapped as data"},
		{"x55d0c0de1054 0x5_55d0c0de1054 055d0c0de10540000000", "x55d0c0de1054 0x5_55d0c0de1054 055d0c0de10540000000"},
		{"55d0c0de1000-55d0c0de2000 r-xp 00001000 fe:00 123 /bin/a b", "55d0c0de1000-55d0c0de2000 r-xp 00001000 fe:00 123 /bin/a b"},
		{"#0 0x55d0c0de1054 (/bin/c+0x480)", "#0 0x55d0c0de1054 (FromLink /bin/c 480)"},
	} {
		f := describing()
		f.Maps = maps
		if got := filter(t, f, c.line); got != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.line, got, c.want)
		}
	}
	for _, text := range []string{"", "55d0-55d1 r-xp 0 0:0 0 [vdso]\n", "55d0-55d1 r--p 0 0:0 0 /a\n", strings.Repeat("x", longestMapping+1)} {
		if _, err := ReadMaps(strings.NewReader(text)); err == nil {
			t.Errorf("%.40q has mappings", text)
		}
	}
}

// TestFormsAreDocumented checks that the guide lists the same forms as the program.
func TestFormsAreDocumented(t *testing.T) {
	guide, err := os.ReadFile("../../../../docs/logs.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Forms() {
		if row := fmt.Sprintf("| %s | %s | %s |\n", f.Text, f.From, f.Counts); !bytes.Contains(guide, []byte(row)) {
			t.Errorf("docs/logs.md lacks %s", row)
		}
	}
}
