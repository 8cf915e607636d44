package elfcore

import (
	"os"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
)

// realCores are the cores among the shared test data: the kernel's, QEMU's (arm,
// arm64) and gdb's of a process elsewhere (mips64, riscv64).
var realCores = []string{
	"crashes/coldsplit", "crashes/cxxtmpl", "crashes/deeprec", "crashes/inlines", "crashes/nullcall", "crashes/omitfp",
	"crashes/sharedlib", "crashes/sighandler", "crashes/threads",
	"arch/arm", "arch/arm64", "arch/mips64", "arch/riscv64", "arch/x86",
}

func sharedCore(t testing.TB, folder string) []byte {
	t.Helper()
	data, err := os.ReadFile(testenv.Shared(t, "data", folder, "core"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readShared(t testing.TB, folder string, o Options) *dump.Dump {
	t.Helper()
	d, err := Read(sharedCore(t, folder), folder, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
