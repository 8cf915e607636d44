package microdump

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// context is an ARM context: flags, r0 to r15, cpsr, floating point.
var context = "06000040" + strings.Repeat("11111111", 13) + "F0BFFFFF" + "22222222" + "05010080" + strings.Repeat("00", 4+8+8*32+4*8)

// lines returns a log with a microdump of these lines.
func lines(text ...string) string {
	var b strings.Builder
	for _, line := range slices.Concat([]string{begin}, text, []string{end}) {
		fmt.Fprintf(&b, "W/google-breakpad( 3745): %s\r\n", line)
	}
	return b.String()
}

// good is a microdump of every kind of line.
var good = []string{
	"V WebView:48.0", "P browser", "O A arm 04 armv7l lge/p1:6.0", "R 0000000B SIGSEGV 00000004", "G V 1|Q|A 3", "H 12C00000 x",
	"S 0 FFFFBFF0 FFFFBFF0 00000008", "S FFFFBFF0 01020304", "S FFFFBFF4 05060708", "C " + context,
	"M 80000000 00000000 00001000 0123456789ABCDEF0123456789ABCDEF0 lib a.so", "M 80000800 00000000 00001000 0123456789abcdef0123456789abcdef1 libb.so",
}

func read(t testing.TB, text string) *dump.Dump {
	t.Helper()
	d, err := Read([]byte(text), "x.txt")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func problems(d *dump.Dump) (all []string) {
	for _, p := range d.Problems {
		all = append(all, p.Err.Error())
	}
	return all
}

// TestRead reads a microdump between other lines of a log.
func TestRead(t *testing.T) {
	d := read(t, "--------- beginning of main\nI/other( 1): google\n"+lines(good...)+"I/other( 1): x\n")
	if len(d.Problems) > 0 {
		t.Errorf("problems: %q", problems(d))
	}
	if d.Arch != arch.ARM || d.System.OS != dump.Android || d.System.Build != "lge/p1:6.0" || d.System.CPUs != 4 || *d.System.GPU != (dump.GPU{Version: "V 1", Vendor: "Q", Renderer: "A 3"}) {
		t.Errorf("system %+v", d.System)
	}
	if c := d.Crash; d.Reason() != "SIGSEGV" || c.Address != 4 || !c.HasAddress || d.CrashedThread() != 0 || d.Process.ID != 3745 {
		t.Errorf("crash %+v, reason %q, process %+v", c, d.Reason(), d.Process)
	}
	if pc, ok := d.Threads[0].Context.Get("pc"); !ok || pc != 0x80000105 {
		t.Errorf("pc %#x, %v", pc, ok)
	}
	if len(d.Memory.Regions) != 1 || string(d.Memory.Regions[0].Data) != "\x01\x02\x03\x04\x05\x06\x07\x08" || d.Threads[0].Stack != (dump.Range{Addr: 0xFFFFBFF0, Size: 8}) {
		t.Errorf("memory %+v, stack %+v", d.Memory.Regions, d.Threads[0].Stack)
	}
	if len(d.Modules) != 2 || d.Modules[0].Path != "lib a.so" || d.Modules[0].Size != 0x800 || d.Modules[1].DebugID != "0123456789ABCDEF0123456789ABCDEF1" {
		t.Errorf("modules %+v", d.Modules)
	}
	if want := []dump.Annotation{{Key: "version", Value: "WebView:48.0"}, {Key: "process_type", Value: "browser"}}; !slices.Equal(d.Annotations, want) {
		t.Errorf("annotations %v, want %v", d.Annotations, want)
	}
}

// TestDamage changes one line at a time of an undamaged microdump.
func TestDamage(t *testing.T) {
	for _, c := range []struct{ line, by, want string }{
		{"O A", "O A arm 04", "line 4: 3 words behind O, want a system, a CPU, a number of CPUs and the machine's name"},
		{"O A", "O X arm 04 armv7l v", `line 4: system "X", want A or L`},
		{"O A", "O A z80 04 z80 v", `line 4: CPU "z80" is not known`},
		{"O A", "O A arm xyz armv7l v", `line 4: "xyz", want a hexadecimal number up to ff`},
		{"R 0", "R 0000000B", "line 5: 1 words behind R, want a signal, its name and an address"},
		{"R 0", "R x SIGSEGV 0", `line 5: signal "x", address "0": want hexadecimal numbers`},
		{"S 0 ", "S 0 FFFFBFF0", "want the stack pointer, the start of the stack and its length"},
		{"S FFFFBFF4", "", "4 bytes of the stack, want 8"},
		{"S FFFFBFF4", "S FFFFBFF4 0506070", "the bytes at 0xffffbff4 are cut off after 3"},
		{"S FFFFBFF4", "S x y", `"x y", want an address and bytes`},
		{"C ", "C " + context[:101], "the registers are cut off after 50 bytes"},
		{"C ", "", "no line C with the registers"},
		{"C ", "C 00000000", "line C: a context of 4 bytes with flags 0x0, which are not those of arm"},
		{"M 80000000", "M 80000000 0 1000 AB0 lib a.so", `id "AB0", want 33 hexadecimal digits`},
		{"M 80000000", "M 80000000 0 1000", "want a start, an offset, a size, an id and a name"},
		{"H ", "Q x", `"Q x": want a line O, V, P, R, G, S, C, M or H`},
	} {
		text := slices.Clone(good)
		i := slices.IndexFunc(text, func(line string) bool { return strings.HasPrefix(line, c.line) })
		if text[i] = c.by; c.by == "" {
			text = slices.Delete(text, i, i+1)
		}
		d := read(t, lines(text...))
		if all := strings.Join(problems(d), "\n"); !strings.Contains(all, c.want) || !strings.HasPrefix(all, "x.txt: line ") {
			t.Errorf("%q: problems %q, want %q", c.by, all, c.want)
		}
	}
	if d := read(t, strings.TrimSuffix(lines(good...), end+"\r\n")); !strings.Contains(strings.Join(problems(d), ""), "the log ends before "+end) {
		t.Errorf("without its end: %q", problems(d))
	}
	if _, err := Read([]byte("W/google-breakpad( 1): x\n"), "x.txt"); err == nil || err.Error() != "x.txt: no line "+begin+" in the log" {
		t.Errorf("no microdump: %v", err)
	}
	if d := read(t, lines(slices.Repeat([]string{"Q"}, 1000)...)); len(d.Problems) != maxProblems+1 {
		t.Errorf("%d problems, want %d", len(d.Problems), maxProblems+1)
	}
}

// TestInterleaved reads a log in which the lines of two processes alternate.
func TestInterleaved(t *testing.T) {
	var b strings.Builder
	for line := range strings.Lines(lines(good...)) {
		b.WriteString(line)
		b.WriteString(strings.Replace(strings.Replace(line, "3745", "9999", 1), "lib a.so", "other.so", 1))
	}
	d := read(t, b.String())
	if len(d.Modules) != 2 || len(d.Memory.Regions) != 1 || len(d.Memory.Regions[0].Data) != 8 || len(d.Problems) != 1 {
		t.Errorf("modules %v, problems %q", d.Modules, problems(d))
	}
}

// TestSeveral reads a log with a second microdump, which is reported.
func TestSeveral(t *testing.T) {
	d := read(t, lines(good...)+lines(good...))
	if want := "x.txt: line 28: further microdumps in the file: 1; only the first is read, that of line 1"; len(d.Modules) != 2 || !slices.Equal(problems(d), []string{want}) {
		t.Errorf("%d modules, problems %q, want %q", len(d.Modules), problems(d), want)
	}
}

// TestUnknownReason reads a microdump without a line R, as Breakpad wrote it until 2017.
func TestUnknownReason(t *testing.T) {
	text := slices.DeleteFunc(slices.Clone(good), func(line string) bool { return line[0] == 'R' })
	if d := read(t, lines(text...)); d.Reason() != "" || d.Crash == nil || d.Crash.HasAddress || len(d.Problems) > 0 {
		t.Errorf("reason %q, %+v, problems %q", d.Reason(), d.Crash, problems(d))
	}
}

// TestSniff checks the first bytes of microdumps and of other files.
func TestSniff(t *testing.T) {
	for head, want := range map[string]bool{
		"F/google-breakpad(11976): -----BEGIN": true, "02-23 15:49:14.700  1740  1739 F google-breakpad: --": true,
		"--------- beginning of crash\n": true, "MDMP": false, "": false, "x\ngoogle-breakpad": false,
	} {
		if got := Sniff([]byte(head)); got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
}

// TestShared reads real microdumps of five CPUs.
func TestShared(t *testing.T) {
	dir := testenv.Shared(t, "data", "microdumps")
	files, err := filepath.Glob(filepath.Join(dir, "*.dmp"))
	if err != nil || len(files) != 7 {
		t.Fatalf("%d files, %v, want 7", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Read(data, file)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, p := range problems(d) {
			if !strings.Contains(p, "further microdumps in the file") {
				t.Error(p)
			}
		}
		if d.Threads[0].Context == nil || len(d.Modules) < 2 || len(d.Memory.Regions) != 1 {
			t.Errorf("%s: %d modules, %d regions", file, len(d.Modules), len(d.Memory.Regions))
		}
	}
}

// FuzzRead reads arbitrary data.
func FuzzRead(f *testing.F) {
	f.Add([]byte(lines(good...)))
	f.Add([]byte("F google-breakpad: " + begin + "\nF google-breakpad: S 0 1 2 3"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Read(data, "x")
		if err == nil && (len(d.Threads) != 1 || d.Crash == nil) {
			t.Errorf("%+v", d)
		}
	})
}
