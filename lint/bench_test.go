package lint

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/symfmt"
)

// bigText repeats the functions, lines and rules of a real symbol file, each time at
// higher addresses, until there are size bytes.
func bigText(t testing.TB, path string, size int) []byte {
	text := readSym(t, path)
	var b bytes.Buffer
	var body []string
	top := uint64(0)
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch f[0] {
		case "MODULE", "INFO", "FILE", "INLINE_ORIGIN":
			b.WriteString(line)
			continue
		case "FUNC":
			rva, _ := strconv.ParseUint(f[1], 16, 64)
			n, _ := strconv.ParseUint(f[2], 16, 64)
			top = max(top, rva+n)
		}
		body = append(body, line)
	}
	if len(body) == 0 || top == 0 {
		t.Fatal("no functions in", path)
	}
	for shift := uint64(0); b.Len() < size; shift += (top + 0xfff) &^ 0xfff {
		for _, line := range body {
			b.WriteString(shifted(line, shift))
		}
	}
	return b.Bytes()
}

// shifted returns a record with its addresses moved up.
func shifted(line string, by uint64) string {
	f := strings.Split(strings.TrimSuffix(line, "\n"), " ")
	add := func(i int) {
		v, err := strconv.ParseUint(f[i], 16, 64)
		if err != nil {
			panic(err)
		}
		f[i] = fmt.Sprintf("%x", v+by)
	}
	switch {
	case f[0] == "INLINE":
		for i := 5; i < len(f); i += 2 {
			add(i)
		}
	case f[0] == "STACK" && f[2] == "INIT", f[0] == "STACK" && f[1] == "WIN":
		add(3)
	case f[0] == "STACK":
		add(2)
	case (f[0] == "FUNC" || f[0] == "PUBLIC") && f[1] == "m":
		add(2)
	case f[0] == "FUNC" || f[0] == "PUBLIC":
		add(1)
	default:
		add(0)
	}
	return strings.Join(f, " ") + "\n"
}

// cpuTime returns the processor time of this process in nanoseconds. It depends less on other work
// on the machine than wall time does.
func cpuTime() int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return r.Utime.Nano() + r.Stime.Nano()
}

// BenchmarkRun measures all rules, each family alone, and no rules: the difference from no rules is
// the cost of a family.
func BenchmarkRun(b *testing.B) {
	text := bigText(b, filepath.Join(testenv.Root(b), "golden", "dwarf2sym", "clang-dwarf5.sym"), 32<<20)
	run := func(name string, rules []*finding.Rule) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			records := 0
			start := cpuTime()
			for b.Loop() {
				p, err := run(context.Background(), symfmt.TextRecords(bytes.NewReader(text)), Options{Rules: rules}, nil)
				if err != nil || p.Records == 0 {
					b.Fatal(err)
				}
				records = p.Records
			}
			cpu := float64(cpuTime()-start) / float64(b.N)
			b.ReportMetric(cpu/float64(records), "cpu-ns/record")
			b.ReportMetric(float64(len(text))/cpu*1e3, "MB/cpu-s")
		})
	}
	run("none", []*finding.Rule{})
	for _, family := range finding.Families {
		var rules []*finding.Rule
		for _, r := range Rules() {
			if r.Family() == family {
				rules = append(rules, r)
			}
		}
		if len(rules) > 0 {
			run(family.Name, rules)
		}
	}
	run("all", nil)
}
