// Package oracle is for tests only: clients of tools whose answers symtool's are compared with.
package oracle

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// Frame is a function at an address, or a call inlined into the next one of a list.
type Frame struct {
	Function, File string
	Line           int
}

// Linkage are the options with which llvm-symbolizer prints names as they are in the debug information: linkage names, or
// plain names of functions that have none.
var Linkage = []string{"--no-demangle", "--functions=linkage", "--inlines"}

// LLVM returns llvm-symbolizer's frames at each of addrs in a file, innermost first. Without options it demangles names.
func LLVM(t testing.TB, path string, addrs []uint64, options ...string) [][]Frame {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, "llvm-symbolizer-22"), append([]string{"--output-style=JSON", "--no-debuginfod", "--obj=" + path}, options...)...)
	cmd.Stdin = bytes.NewReader(questions(addrs))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	all, err := readLLVM(out, addrs)
	if err != nil {
		_ = cmd.Process.Kill()
	}
	if ended := cmd.Wait(); err == nil {
		err = ended
	}
	if err != nil {
		t.Fatalf("llvm-symbolizer %s: %v", path, err)
	}
	return all
}

// readLLVM reads an answer for each address: a line of JSON.
func readLLVM(r io.Reader, addrs []uint64) ([][]Frame, error) {
	texts := map[string]string{} // one copy of each name
	once := func(s string) string {
		if have, ok := texts[s]; ok {
			return have
		}
		s = strings.Clone(s)
		texts[s] = s
		return s
	}
	all := make([][]Frame, len(addrs))
	dec := json.NewDecoder(bufio.NewReaderSize(r, 1<<20))
	for i := range addrs {
		var a struct {
			Address string
			Error   *struct{ Message string }
			Symbol  []struct {
				FunctionName, FileName string
				Line                   int
			}
		}
		if err := dec.Decode(&a); err != nil {
			return nil, fmt.Errorf("answer %d of %d: %w", i, len(addrs), err)
		}
		if a.Error != nil {
			return nil, fmt.Errorf("%s: %s", a.Address, a.Error.Message)
		}
		if got, err := strconv.ParseUint(a.Address, 0, 64); err != nil || got != addrs[i] {
			return nil, fmt.Errorf("answer for %s, want one for %#x", a.Address, addrs[i])
		}
		for _, s := range a.Symbol {
			all[i] = append(all[i], Frame{once(s.FunctionName), once(s.FileName), s.Line})
		}
	}
	return all, nil
}
