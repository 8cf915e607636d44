package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
)

// TestInspectDamaged checks that for any contents of a dump the text is printable, the JSON
// is valid, and neither is many times as large as the file.
func TestInspectDamaged(t *testing.T) {
	if testing.Short() {
		t.Skip("600 damaged dumps")
	}
	dir := t.TempDir()
	statuses := map[int]int{}
	for i, name := range []string{"mini-windows.dmp", "mini-linux.dmp", "mini-linux-be.dmp", "mini-hostile.dmp"} {
		data := testenv.ReadInput(t, name)
		rng := rand.New(rand.NewPCG(uint64(i), 5))
		path := filepath.Join(dir, "a.dmp")
		for range 150 {
			b := slices.Clone(data)
			for range 1 + rng.IntN(10) {
				b[32+rng.IntN(len(b)-32)] = byte(rng.Uint32())
			}
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			for _, flags := range [][]string{{"--registers", "--memory", "--streams"}, {"--format", "json"}} {
				var out, errs bytes.Buffer
				status := cli.Run(context.Background(), inspectAlone, append([]string{"symtool", "inspect", path}, flags...), nil, &out, &errs)
				statuses[status]++
				if status != cli.StatusOK && (status != cli.StatusInput || errs.Len() == 0) {
					t.Fatalf("%s: status %d, %s", name, status, &errs)
				}
				checkPrintable(t, name, out.Bytes())
				checkPrintable(t, name, errs.Bytes())
				if out.Len() > 64*len(b)+512<<10 {
					t.Fatalf("%s: %d bytes of output for a file of %d", name, out.Len(), len(b))
				}
				if flags[0] == "--format" && !json.Valid(out.Bytes()) {
					t.Fatalf("%s: not JSON: %s", name, &out)
				}
			}
		}
	}
	if statuses[cli.StatusOK] < 100 || statuses[cli.StatusInput] < 300 {
		t.Errorf("statuses %v", statuses)
	}
}

func inspectAlone(msgs *cli.Messages) []*cli.Command { return []*cli.Command{Command(msgs)} }

func checkPrintable(t *testing.T, name string, text []byte) {
	t.Helper()
	for rest := text; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r != '\n' && !strconv.IsPrint(r) || r == utf8.RuneError && n == 1 {
			t.Fatalf("%s: %q is printed: %q", name, r, text[max(0, len(text)-len(rest)-40):][:40])
		}
		rest = rest[n:]
	}
}

// TestInspectStopped checks that a core that gcore wrote of a running process is not
// reported as a crash.
func TestInspectStopped(t *testing.T) {
	for _, c := range []struct {
		signal uint32
		want   []string
	}{
		{19, []string{"stopped      SIGSTOP in thread 7\n", "  0: 7 (stopped)\n"}},
		{11, []string{"crash        SIGSEGV in thread 7\n", "  0: 7 (crashed)\n"}},
	} {
		var out strings.Builder
		text := &dumpText{out: &out, d: &dump.Dump{Main: -1, System: dump.System{OS: dump.Linux}, Threads: []dump.Thread{{ID: 7}}, Crash: &dump.Crash{Thread: 7, Code: c.signal}}}
		text.crash()
		text.threads(false)
		for _, want := range c.want {
			if got := out.String(); !strings.Contains(got, want) {
				t.Errorf("signal %d: %q, want %q", c.signal, got, want)
			}
		}
	}
}
