package walk

import (
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// For every CPU for which QEMU writes cores, frame pointers or back chains lead to the
// functions in the source, with the return addresses that the compiler's rules give.
func TestOracleFramePointers(t *testing.T) {
	if !testenv.OracleFull() {
		t.Skip("make oracle-full compiles and runs a program for 14 layouts")
	}
	clang := func(target string) []string { return []string{"clang-22", "-fuse-ld=lld", "--target=" + target} }
	gcc := func(compiler string, flags ...string) []string { return append([]string{compiler}, flags...) }
	frames := 0
	for _, c := range []struct {
		name, qemu string
		compiler   []string
	}{
		{"s390x", "s390x", append(clang("s390x-linux-gnu"), "-mbackchain")},
		{"s390x by GCC", "s390x", gcc("s390x-linux-gnu-gcc", "-mbackchain")},
		{"ppc64", "ppc64", gcc("powerpc64-linux-gnu-gcc")},
		{"ppc64le", "ppc64le", clang("powerpc64le-linux-gnu")},
		{"ppc", "ppc", gcc("powerpc-linux-gnu-gcc")},
		{"arm by GCC", "arm", gcc("arm-linux-gnueabihf-gcc", "-marm")},
		{"arm by GCC, APCS", "arm", gcc("arm-linux-gnueabihf-gcc", "-marm", "-mapcs-frame")},
		{"arm by Clang", "arm", append(clang("arm-linux-gnueabihf"), "-marm")},
		{"arm by Clang, Thumb", "arm", clang("thumbv7-linux-gnueabihf")},
		{"arm64", "aarch64", clang("aarch64-linux-gnu")},
		{"arm64 by GCC", "aarch64", gcc("aarch64-linux-gnu-gcc")},
		{"arm64, signed", "aarch64", append(clang("aarch64-linux-gnu"), "-march=armv8.3-a", "-mbranch-protection=pac-ret+leaf")},
		{"x86", "i386", clang("i686-linux-gnu")},
		{"x86-64", "x86_64", clang("x86_64-linux-gnu")},
	} {
		t.Run(c.name, func(t *testing.T) {
			program, core := walktest.ChainCore(t, c.qemu, c.compiler)
			d, sources := walktest.Opened(t, core), binarySources(t, program)
			rules := walkDump(t, sources, d, Config{Techniques: []Technique{ByEHFrame}, Trace: true}).Stacks[0]
			chain := walkDump(t, sources, d, Config{Techniques: []Technique{ByReturn, ByFramePointer}, Trace: true}).Stacks[0]
			want := 8
			if c.name == "s390x by GCC" {
				want = 2 // QEMU's core lacks f0 and f2, where the first function keeps r15 and r11
			}
			if len(rules.Frames) != want || rules.End.Clean() != (want == 8) || len(chain.Frames) != 8 || chain.End != EndStart {
				t.Fatalf("%d frames by rules, %v; %d otherwise, %v\n%s\n%s", len(rules.Frames), rules.End, len(chain.Frames), chain.End,
					strings.Join(rules.Trace, "\n"), strings.Join(chain.Trace, "\n"))
			}
			for i := range chain.Frames {
				name := "deep"
				switch i {
				case 0:
					name = "crash"
				case 7:
					name = "_start"
				}
				if got := chain.Frames[i].Function(); got != name {
					t.Errorf("frame %d is %s, want %s", i, got, name)
				}
				if i < len(rules.Frames) && rules.Frames[i].PC != chain.Frames[i].PC {
					t.Errorf("frame %d: %#x by rules, %#x otherwise", i, rules.Frames[i].PC, chain.Frames[i].PC)
				}
			}
			frames += len(chain.Frames)
		})
	}
	t.Logf("%d frames", frames)
}
