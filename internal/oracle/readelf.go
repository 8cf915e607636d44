package oracle

import (
	"bytes"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// Readelf returns the lines that binutils' readelf prints about a file. It exits with status 1 where it only warns, so
// that it fails only if it prints nothing but messages.
func Readelf(t testing.TB, file string, options ...string) []string {
	t.Helper()
	return readelf(t, "readelf", file, options)
}

// EUReadelf is like Readelf, for eu-readelf of elfutils.
func EUReadelf(t testing.TB, file string, options ...string) []string {
	t.Helper()
	return readelf(t, "eu-readelf", file, options)
}

// LLVMReadelf is like Readelf, for llvm-readelf.
func LLVMReadelf(t testing.TB, file string, options ...string) []string {
	t.Helper()
	return readelf(t, "llvm-readelf-22", file, options)
}

func readelf(t testing.TB, tool, file string, options []string) []string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(testenv.Tool(t, tool), append(options, file)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && len(out) == 0 && stderr.Len() > 0 {
		t.Fatalf("%s %q %s: %v\n%s", tool, options, file, err, &stderr)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// Symbol is an entry of a symbol table as readelf prints it.
type Symbol struct {
	Addr, Size          uint64
	Type, Bind, Section string // such as FUNC, GLOBAL, and a number or UND
	Name                string
}

// ReadSymbols reads the symbols of one table from lines of Readelf or EUReadelf.
func ReadSymbols(lines []string, table string) (symbols []Symbol) {
	in := false
	for _, line := range lines {
		if strings.HasPrefix(line, "Symbol table") {
			in = strings.Contains(line, "'"+table+"'")
		}
		f := strings.Fields(line)
		if !in || len(f) < 8 || !strings.HasSuffix(f[0], ":") {
			continue
		}
		addr, err := strconv.ParseUint(f[1], 16, 64)
		size, err2 := strconv.ParseUint(f[2], 0, 64)
		if err != nil || err2 != nil {
			continue
		}
		s := Symbol{addr, size, f[3], f[4], f[6], strings.Join(f[7:], " ")}
		if strings.HasPrefix(s.Section, "[") { // [<other>: 8]  12
			s.Section, s.Name = f[len(f)-2], f[len(f)-1]
		}
		symbols = append(symbols, s)
	}
	return symbols
}
