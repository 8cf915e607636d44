package follow

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// In this machine's libraries, instructions that the follower finds begin where objdump's do.
func TestStartsAMD64(t *testing.T) {
	testenv.Oracle(t)
	if !testenv.OracleFull() {
		t.Skip("takes 50 libraries: SYMTOOL_ORACLE=full")
	}
	instructions, why := 0, map[string]int{}
	for _, path := range someLibraries(t, 50) {
		n, apart := comparedStarts(t, path, why)
		if instructions += n; n == 0 {
			t.Errorf("%s: nothing was followed", path)
		}
		for _, addr := range apart {
			t.Errorf("%s: %#x is within an instruction of objdump's", path, addr)
		}
	}
	t.Logf("%d instructions; elsewhere than objdump's, with a reason: %v", instructions, why)
	if instructions < 1_000_000 {
		t.Error("too few instructions")
	}
}

// someLibraries returns n libraries of this machine, spread over the alphabet, that are neither tiny nor huge.
func someLibraries(t *testing.T, n int) (some []string) {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/x86_64-linux-gnu/*.so.*")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, path := range found {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() > 64<<10 && info.Size() < 4<<20 && isELF(path) {
			all = append(all, path)
		}
	}
	if len(all) < n {
		t.Skipf("%d libraries, want %d", len(all), n)
	}
	for i := range n {
		some = append(some, all[i*len(all)/n])
	}
	return some
}

func isELF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4)
	_, err = f.Read(head)
	return err == nil && bytes.Equal(head, []byte("\x7fELF"))
}

// comparedStarts follows the code of a library. It returns the number of instructions, and the addresses of
// instructions that begin elsewhere than objdump's without a known reason. It counts those with a known reason in why.
func comparedStarts(t *testing.T, path string, why map[string]int) (n int, apart []uint64) {
	t.Helper()
	file, cpu := opened(t, path)
	binary, rows := binaryOf(file), rowsOf(t, testenv.Dump(t, path), file.Arch)
	starts, unread := map[uint64]bool{}, map[uint64]bool{}
	testenv.Disassemble(t, "objdump", path, func(addr uint64, code []byte, text string) {
		starts[addr] = true
		if bytes.Contains([]byte(text), []byte("(bad)")) {
			for i := range code {
				unread[addr+uint64(i)] = true
			}
		}
	})
	f := newFollower(cpu, rows, binary.Base)
	f.codeAt, f.begins = binary.Code, binary.Begins
	for i := range rows.Blocks {
		block := &rows.Blocks[i]
		addr := binary.Base + uint64(block.RVA)
		code := binary.Code(addr)
		if len(code) == 0 {
			continue
		}
		code = code[:min(block.Size, uint64(len(code)))]
		f.order = f.order[:0] // of the previous block, if this one is not followed
		f.check(block, code, addr)
		n += len(f.order)
		for _, at := range f.order {
			start := addr + uint64(at)
			switch {
			case starts[start]:
			case at > 0 && code[at-1] == 0xf0:
				why["code jumps over a lock prefix"]++
			case !starts[addr] && at < 16:
				why["objdump reads data before the block as instructions that reach into it"]++
			case unread[start]:
				why["objdump does not know the instruction"]++
			default:
				apart = append(apart, start)
			}
		}
	}
	return n, apart
}
