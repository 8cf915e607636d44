package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
)

const testReport = "Report Version:  104\n\nThread 0 Crashed:\n0   app       \t0x0000000102a3d000 0x102a3c000 + 4096\n" +
	"Binary Images:\n  0x102a3c000 - 0x102a43fff +app arm64  <5a9832e5287241c1838ed98914e9b7ff> /x/a b.app/app\n"

const (
	overlapping = "Report Version: 1\n"
	overlapped  = "Binary Images:\n0x1000 - 0x9fff a\n0x2000 - 0x4fff b\n"
)

// TestReports checks that the list of images in a report determines what its frames are in. It must neither
// hold back nor change other text.
func TestReports(t *testing.T) {
	frame := "1 app 0x102a3d000 f + 16\n"
	for _, c := range []struct{ log, want string }{
		{frame, "1 app 0x102a3d000 AfterSymbol app 10 f\n"},
		{"1 app 0x102a3d000 0x102a3c000 + 4096\n", "1 app 0x102a3d000 FromStart app 1000\n"},
		{"1 app 0x102a3d000 0x102a3c000 + 4095\n", ""},
		{"1 app 0x102a3d000 f + 16 (a.c:3)\n", ""},
		{"1 app 0x102a3d000 f + 99999999999999999999\n", ""},
		{"app 0x102a3d000 f + 16\n1.5 app 0x10 - 0x20 + 7\n", ""},
		{"1 app 0x102a3d000 -[A b:c:] + 16\n", "1 app 0x102a3d000 AfterSymbol app 10 -[A b:c:]\n"},
		{"Report Version: 1\n" + frame + "Binary Images:\n0x102a3c000 - 0x102a43fff a (1) <5A9832E5-2872-41C1-838E-D98914E9B7FF>\n\n" + frame, "1 app 0x102a3d000 FromStart a/5A9832E5287241C1838ED98914E9B7FF0 1000\n1 app 0x102a3d000 AfterSymbol app 10 f\n"},
		{"Report Version: 1\n" + frame + "Binary Images:\n0x2a3c000 - 0x2a43fff a\n", ""},
		{"Report Version: 1\n" + frame + "Binary Images:\n0x102a3c000 - 0x102a3c000 a\n0x0 - 0xffffffffffffffff ???\n", ""},
		{"Report Version: 1\n" + frame + "Report Version: 1\n" + frame + "Binary Images:\n0x102a3c000 - 0x102a43fff a", "1 app 0x102a3d000 AfterSymbol app 10 f\n1 app 0x102a3d000 FromStart a 1000\n"},
		// If images overlap, the frame says which one it is in, by its start or its name.
		{overlapping + "0 a 0x7000 0x1000 + 24576\n0 com.x.b 0x2010 0x2000 + 16\n0 a 0x2010 f + 1\n0 com.x.b 0x7000 f + 1\n0 com.x.b 0x2010 f + 1\n0 c 0xb000 0x2000 + 36864\n" + overlapped,
			"0 a 0x7000 FromStart a 6000\n0 com.x.b 0x2010 FromStart b 10\n0 a 0x2010 FromStart a 1010\n0 com.x.b 0x7000 FromStart a 6000\n"},
	} {
		var got strings.Builder
		for line := range strings.Lines(filter(t, describing(), c.log)) {
			if !strings.Contains(c.log, line) {
				got.WriteString(line)
			}
		}
		if got.String() != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.log, got.String(), c.want)
		}
	}
}

// TestReportWithoutEnd checks that a report without an end takes bounded memory, and that after an input
// error nothing that came before is lost.
func TestReportWithoutEnd(t *testing.T) {
	for _, filler := range []string{"x\n", "x"} {
		log := "a\nReport Version: 1\n" + strings.Repeat(filler, MostReport) + "\nend\n"
		r := &reports{in: strings.NewReader(log), lineStart: true}
		if got, err := io.ReadAll(r); err != nil || string(got) != log {
			t.Errorf("%q: %d bytes, %v, want %d", filler, len(got), err, len(log))
		} else if r.held.Cap() > 4*MostReport {
			t.Errorf("%q: %d bytes were held", filler, r.held.Cap())
		}
	}
	failed := errors.New("failed")
	for _, log := range []string{"Rep", "Report Version: 1\nx", "x\nRep"} {
		in := io.MultiReader(strings.NewReader(log), iotest.ErrReader(failed))
		if got, err := io.ReadAll(&reports{in: in, lineStart: true}); !errors.Is(err, failed) || string(got) != log {
			t.Errorf("%q: %q, %v", log, got, err)
		}
	}
}

// TestReportsDoNotWait checks that a log that is being followed is written line by line.
func TestReportsDoNotWait(t *testing.T) {
	in, writer := io.Pipe()
	r := &reports{in: in, lineStart: true}
	buf := make([]byte, 100)
	for _, line := range []string{"a\n", "Report of x\n", "\n", "R\n"} {
		go func() { fmt.Fprint(writer, line) }()
		if n, err := r.Read(buf); err != nil || string(buf[:n]) != line {
			t.Errorf("%q, %v, want %q", buf[:n], err, line)
		}
	}
}

// TestCoredumpModules checks that the modules of a process are forgotten when the next process begins, and
// that their number is limited.
func TestCoredumpModules(t *testing.T) {
	log := "Module a.so with build-id 0a\nModule b c.so from deb x-1.amd64, build-id=0b\n#0  0x0000000000001000 n/a (a.so + 0x10)\n" +
		"#1  0x0000000000001000 f (b c.so + 0x10)\n#2  0x0000000000001000 f (d.so + 0x10)\nProcess 7 (x) of user 1 dumped core.\n#3  0x0000000000001000 f (a.so + 0x10)\n"
	want := "FromStart a.so 10 0a|FromStart b c.so 10 0b|FromStart d.so 10|FromStart a.so 10|"
	var got strings.Builder
	for line := range strings.Lines(filter(t, describing(), log)) {
		if _, answer, ok := strings.Cut(line, "("); ok && line[0] == '#' {
			got.WriteString(strings.TrimSuffix(answer, ")\n") + "|")
		}
	}
	if got.String() != want {
		t.Errorf("got %s\nwant %s", got.String(), want)
	}
	f := describing()
	var out bytes.Buffer
	var many strings.Builder
	for i := range mostModules + 5 {
		fmt.Fprintf(&many, "Module m%d with build-id 0a\n", i)
	}
	if err := f.Run(context.Background(), strings.NewReader(many.String()), cli.NewStdout(&out)); err != nil || len(f.coredump) != mostModules {
		t.Errorf("%v, %d modules", err, len(f.coredump))
	}
}
