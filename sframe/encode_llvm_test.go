package sframe

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestOracleEncodeLLVM is like TestOracleEncode, with llvm-readobj, which
// supports neither rows of version 2 without data words nor s390x.
func TestOracleEncodeLLVM(t *testing.T) {
	testenv.Oracle(t)
	readobj := testenv.Tool(t, "llvm-readobj-22")
	for _, abi := range []ABI{AArch64BE, AArch64LE, AMD64} {
		t.Run(abi.String(), func(t *testing.T) {
			rows := 0
			for _, funcs := range madeUp(abi, 2) {
				funcs = withoutOutermost(funcs)
				data, problems := mustEncode(t, funcs, Target{Version: 2, ABI: abi, Addr: 0x2000})
				if problems != nil {
					t.Fatal(problems)
				}
				path := filepath.Join(t.TempDir(), "a")
				if err := os.WriteFile(path, miniELF(abi, "sid", data, 0x2000), 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := exec.Command(readobj, "--sframe", path).CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				var want []string
				for _, i := range byAddress(funcs) {
					lines := llvmFunc(abi, &funcs[i])
					want = append(want, lines...)
					rows += len(spans(funcs[i]))
				}
				compareLines(t, llvmLines(string(out)), want)
			}
			t.Logf("%d rows", rows)
		})
	}
}

func withoutOutermost(funcs []Func) (out []Func) {
	for _, f := range funcs {
		var rows []Row
		for _, r := range f.Rows {
			if !r.Outermost() {
				rows = append(rows, r)
			}
		}
		if f.Rows = rows; rows != nil {
			out = append(out, f)
		}
	}
	return out
}

// llvmLines returns the lines of llvm-readobj's output that describe functions and rows.
func llvmLines(text string) (lines []string) {
	_, text, _ = strings.Cut(text, "Function Index [")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch key, value, _ := strings.Cut(line, ": "); key {
		case "Repetitive block size":
			lines = append(lines, "block "+value)
		case "PC", "Size", "Num FREs", "PAuth Key", "Start Address", "Return Address Signed", "Base Register", "CFA Offset", "RA Offset", "FP Offset":
			value, _, _ = strings.Cut(value, " ")
			lines = append(lines, key+" "+value)
		case "FuncDescEntry", "Header":
		default:
			if strings.Contains(line, "rror") || strings.Contains(line, "arning") {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

func llvmFunc(abi ABI, f *Func) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	rows := spans(*f)
	add("PC 0x%X", f.Start)
	add("Size 0x%X", f.Size)
	add("Num FREs %d", len(rows))
	if abi != AMD64 {
		add("PAuth Key %s", map[bool]string{false: "A", true: "B"}[f.KeyB])
	}
	if f.Block != 0 {
		add("block 0x%X", f.Block)
	}
	for _, r := range rows {
		start := uint64(r.Start)
		if f.Block == 0 {
			start += f.Start
		}
		add("Start Address 0x%X", start)
		add("Return Address Signed %s", map[bool]string{false: "No", true: "Yes"}[r.Signed])
		add("Base Register %s", map[bool]string{false: "FP", true: "SP"}[r.CFA.Reg == abi.SP()])
		add("CFA Offset %d", r.CFA.Offset)
		if r.RA.Kind == Memory {
			add("RA Offset %d", r.RA.Offset)
		}
		if r.FP.Kind == Memory {
			add("FP Offset %d", r.FP.Offset)
		}
	}
	return lines
}
