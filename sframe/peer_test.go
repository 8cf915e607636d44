package sframe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

// peerRuns is the number of runs. The fastest counts, so that other load on the machine
// matters little. testdata/libsframe.c has the same number.
const peerRuns = 15

// BenchmarkLibsframe decodes, looks up and encodes a section of version 3, does the same
// with binutils' libsframe, and compares each answer. For version 2, libsframe's answers
// are wrong.
func BenchmarkLibsframe(b *testing.B) {
	testenv.SuiteTool(b, "sid", "objdump")
	const addr = 0x400000
	data, _ := mustEncode(b, program(benchFuncs), Target{Version: 3, ABI: AMD64, Addr: addr})
	s, _ := decodeClean(b, data, addr)
	pcs := addresses(s)
	dir := b.TempDir()
	section, pcFile, answers := filepath.Join(dir, "section"), filepath.Join(dir, "pcs"), filepath.Join(dir, "answers")
	relative := new(bytes.Buffer)
	for _, pc := range pcs {
		relative.Write(binary.NativeEndian.AppendUint64(nil, pc-addr))
	}
	for path, content := range map[string][]byte{section: data, pcFile: relative.Bytes()} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	command := append(buildPeer(b, dir), section, pcFile, answers)
	size, millions := float64(len(data))/1e6, float64(len(pcs))/1e6
	for b.Loop() {
		var decode, find, encode float64
		out := mustRun(b, command...)
		if _, err := fmt.Sscan(out, &decode, &find, &encode); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		b.ReportMetric(size/decode, "libsframe-decode-MB/s")
		b.ReportMetric(millions/find, "libsframe-Mlookups/s")
		b.ReportMetric(size/encode, "libsframe-encode-MB/s")
		funcs, _ := s.Funcs()
		b.ReportMetric(size/fastest(func() { allRows(b, data, addr) }), "decode-MB/s")
		b.ReportMetric(millions/fastest(func() { findAll(b, s, pcs) }), "Mlookups/s")
		b.ReportMetric(size/fastest(func() { mustEncode(b, funcs, Target{Version: 3, ABI: AMD64, Addr: addr}) }), "encode-MB/s")
	}
	comparePeer(b, s, pcs, answers)
}

// fastest returns the duration of the fastest of several runs, in seconds.
func fastest(run func()) float64 {
	var least time.Duration
	for i := range peerRuns {
		start := time.Now()
		run()
		if d := time.Since(start); i == 0 || d < least {
			least = d
		}
	}
	return least.Seconds()
}

func findAll(b *testing.B, s *Section, pcs []uint64) {
	for _, pc := range pcs {
		if _, _, err := s.Find(pc); err != nil {
			b.Fatal(err)
		}
	}
}

// buildPeer returns the command line that runs the program with the suite's
// libraries.
func buildPeer(b *testing.B, dir string) []string {
	root := strings.TrimSpace(mustRun(b, filepath.Join(testenv.Root(b), ".ci", "suite-tool"), "sid", "--root"))
	libs, program := filepath.Join(root, "usr", "lib", "x86_64-linux-gnu"), filepath.Join(dir, "peer")
	mustRun(b, testenv.Tool(b, "gcc"), "-O2", "-Wall", "-Werror", "-o", program, filepath.Join("testdata", "libsframe.c"),
		"-Wl,--allow-shlib-undefined", filepath.Join(libs, "libsframe.so.3"))
	return []string{filepath.Join(libs, "ld-linux-x86-64.so.2"), "--library-path", libs, program}
}

func mustRun(b *testing.B, command ...string) string {
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	if err != nil {
		b.Fatalf("%s: %v: %s", command, err, out)
	}
	return string(out)
}

// comparePeer compares the rows that were found.
func comparePeer(b *testing.B, s *Section, pcs []uint64, answers string) {
	content, err := os.ReadFile(answers)
	if err != nil || len(content) != 8*len(pcs) {
		b.Fatal(err, len(content))
	}
	for i, pc := range pcs {
		got := [2]int32{int32(binary.NativeEndian.Uint32(content[8*i:])), int32(binary.NativeEndian.Uint32(content[8*i+4:]))}
		_, row, err := s.Find(pc)
		if want := [2]int32{int32(row.Start), int32(row.CFA.Offset)}; err != nil || got != want {
			b.Fatalf("at %#x libsframe finds %d, we find %d, %v", pc, got, want, err)
		}
	}
	b.Logf("%d equal answers", len(pcs))
}
