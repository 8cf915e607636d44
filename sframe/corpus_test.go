package sframe_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt/damage"
)

// sample is the section of a file in the shared test data.
type sample struct {
	name string
	data []byte
	opts sframe.Options
	ctx  sframe.Context
}

func (s *sample) decode(t testing.TB) *sframe.Section {
	t.Helper()
	section, err := sframe.Decode(s.data, s.opts)
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	return section
}

// elfSamples returns the sections of ELF files written by tools.
func elfSamples(t testing.TB) (out []sample) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(testenv.Shared(t, "data", "sframe", "elf"), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if s, ok := elfSample(t, path); ok {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		t.Fatal("no files")
	}
	return out
}

// synthSamples returns hand-made sections.
func synthSamples(t testing.TB, pattern string) (out []sample) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(testenv.Shared(t, "data", "sframe", "synth"), pattern+".bin"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, sample{name: strings.TrimSuffix(filepath.Base(path), ".bin"), data: data})
	}
	if len(out) == 0 {
		t.Fatal("no files")
	}
	return out
}

// badSynth says where each damaged section is wrong: the rule, or "" if
// Decode rejects the section, and the offset.
var badSynth = map[string]struct {
	rule string
	at   uint64
}{
	"bad-v2-abi-be":        {"", 0},
	"bad-v2-abi9":          {"", 4},
	"bad-v2-dwsize3":       {"damage", 0x44},
	"bad-v2-fdefreoff":     {"damage", 0x1c},
	"bad-v2-fdeoff":        {"parts", 0x14},
	"bad-v2-flag8":         {"flags", 3},
	"bad-v2-frelen-huge":   {"damage", 0x10},
	"bad-v2-freoff":        {"damage", 0x10},
	"bad-v2-fretype3":      {"row-type", 0x2c},
	"bad-v2-overlap":       {"overlap", 0x30},
	"bad-v2-repzero":       {"block-0", 0x2d},
	"bad-v2-tailheader":    {"headers", 0x58},
	"bad-v2-trunc27":       {"", 0},
	"bad-v2-trunc3":        {"", 0},
	"bad-v2-trunc40":       {"damage", 8},
	"bad-v2-version4":      {"", 2},
	"bad-v3-count15":       {"row-surplus", 0x41},
	"bad-v3-dwsize3":       {"damage", 0x41},
	"bad-v3-fdeoff":        {"parts", 0x14},
	"bad-v3-fdetype5":      {"damage", 0x1c},
	"bad-v3-flag2":         {"flags", 3},
	"bad-v3-flex1word":     {"damage", 0x31},
	"bad-v3-flex7words":    {"row-surplus", 0x31},
	"bad-v3-flexcfa-noreg": {"damage", 0x31},
	"bad-v3-frelen-huge":   {"damage", 0x10},
	"bad-v3-freoff":        {"damage", 0x10},
	"bad-v3-info2bits":     {"info2", 0x2f},
	"bad-v3-tailheader":    {"headers", 0x58},
	"bad-v3-trunc27":       {"", 0},
	"bad-v3-trunc40":       {"damage", 8},
}

func TestCheckBadSynth(t *testing.T) {
	samples := synthSamples(t, "bad-*")
	if len(samples) != len(badSynth) {
		t.Errorf("%d files, want %d", len(samples), len(badSynth))
	}
	for _, sample := range samples {
		want, ok := badSynth[sample.name]
		if !ok {
			t.Errorf("%s: not in the table", sample.name)
			continue
		}
		section, err := sframe.Decode(sample.data, sample.opts)
		if err != nil {
			var at *damage.Error
			if !errors.As(err, &at) || want.rule != "" || at.Offset != want.at {
				t.Errorf("%s: %v, want rule %q at %#x", sample.name, err, want.rule, want.at)
			}
			continue
		}
		found := section.Check(sframe.Spec, sframe.Context{})
		if !slices.ContainsFunc(found, func(f sframe.Finding) bool {
			return f.Rule == want.rule && f.Offset == want.at && f.Severity == E
		}) {
			t.Errorf("%s: %v, want an error of rule %q at %#x", sample.name, found, want.rule, want.at)
		}
	}
}

// What objdump 2.47 rejects or crashes on is an error for the profile.
func TestCheckBinutils(t *testing.T) {
	results, err := os.ReadFile(testenv.Shared(t, "data", "sframe", "synth", "RESULTS.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]bool{}
	for line := range strings.Lines(string(results)) {
		fields := strings.Split(line, "\t")
		refused[fields[0]] = fields[4] != "ok"
	}
	n := 0
	for _, sample := range synthSamples(t, "*") {
		if !refused[sample.name] {
			continue
		}
		n++
		section, err := sframe.Decode(sample.data, sample.opts)
		if err == nil && !hasErrors(section.Check(sframe.Binutils, sframe.Context{})) {
			t.Errorf("%s: no error", sample.name)
		}
	}
	if n == 0 {
		t.Error("objdump refuses nothing")
	}
	t.Logf("%d sections that objdump refuses", n)
}

func hasErrors(found []sframe.Finding) bool {
	return slices.ContainsFunc(found, func(f sframe.Finding) bool { return f.Severity == E })
}

func TestCheckGoodSynth(t *testing.T) {
	for _, sample := range synthSamples(t, "ok-*") {
		for _, f := range sample.decode(t).Check(sframe.Spec, sframe.Context{}) {
			if f.Severity == E {
				t.Errorf("%s: %s", sample.name, f)
			}
		}
	}
}

// brokenELF lists the rules that find errors in tools' output, with the reasons.
var brokenELF = map[string][]string{
	// ld.lld concatenates its inputs.
	"amd64-v3-lld.so":     {"headers"},
	"amd64-v2llvm-lld.so": {"headers"},
	// So does ld 2.44 with sections of a type that it does not know.
	"amd64-v2llvm-in-v2ld": {"headers"},
	// Their starts, written by as 2.44, are relative to their fields, but the
	// flag is not set.
	"amd64-v2-lld.so": {"headers", "field-relative"},
	// ld 2.40 writes an FDE for .plt.sec at the wrong address.
	"amd64-v1-pltgot-ibt.so": {"overlap"},
	// ld -r of 2.40 and 2.44 sorts FDEs, but does not move their relocations: if
	// applied, these overwrite anything.
	"aarch64-v1-reloc.o": {"ld-r", anyOther},
	"aarch64-v2-reloc.o": {"ld-r", anyOther},
	"amd64-v2-reloc.o":   {"ld-r", anyOther},
}

const anyOther = "and any other"

func TestCheckELF(t *testing.T) {
	samples := elfSamples(t)
	for _, sample := range samples {
		want := brokenELF[sample.name]
		broken := map[string]bool{anyOther: true}
		for _, f := range sample.decode(t).Check(sframe.Spec, sample.ctx) {
			if f.Severity == E {
				broken[f.Rule] = true
				if !slices.Contains(want, f.Rule) && !slices.Contains(want, anyOther) {
					t.Errorf("%s: %s", sample.name, f)
				}
			}
		}
		for _, rule := range want {
			if !broken[rule] {
				t.Errorf("%s: no error of %s", sample.name, rule)
			}
		}
	}
	t.Logf("%d sections", len(samples))
}

// The test lists where known mistakes of producers are found.
func TestCheckProducers(t *testing.T) {
	want := map[string]string{
		"amd64-v2-pltgot.so": "plt", "amd64-v2-pltgot-ibt.so": "plt", "amd64-v3-pltgot.so": "plt", "amd64-v3-pltgot-ibt.so": "plt",
		"amd64-v1-pltgot-ibt.so": "plt", "amd64-v1-lib-ibtplt.so": "plt",
		"aarch64-v1-unrep.o": "row-fp-as-ra",
		"s390x-v3-unrep.o":   "cfa-low",
		"amd64-v1-unrep.o":   "size-0",
		"amd64-v2-unrep.o":   "row-end",
		"amd64-v3-drap.o":    "flex-top",
	}
	for _, sample := range elfSamples(t) {
		found := sample.decode(t).Check(sframe.Spec, sample.ctx)
		has := func(rule string) bool {
			return slices.ContainsFunc(found, func(f sframe.Finding) bool { return f.Rule == rule })
		}
		if rule := want[sample.name]; rule != "" && !has(rule) {
			t.Errorf("%s: no %s in %v", sample.name, rule, found)
		} else if rule != "plt" && has("plt") {
			t.Errorf("%s: %v", sample.name, found)
		}
	}
}

// Both readers accept what GNU's tools of the profiles' version link.
func TestCheckLinkedV3(t *testing.T) {
	n := 0
	for _, sample := range elfSamples(t) {
		linker := strings.Contains(sample.name, "-v3-") && !sample.ctx.Object && !strings.Contains(sample.name, "lld")
		if !linker {
			continue
		}
		n++
		for _, p := range []sframe.Profile{sframe.Binutils, sframe.Kernel} {
			for _, f := range sample.decode(t).Check(p, sample.ctx) {
				if f.Severity == E {
					t.Errorf("%s: %s: %s", sample.name, p, f)
				}
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d files", n)
	}
}
