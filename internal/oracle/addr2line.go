package oracle

import (
	"bytes"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// Addr2line returns the frames of binutils' addr2line at each of addrs in a file: one or, with the option -i, also the
// callers that it is inlined into, innermost first. Names are not demangled; what is unknown is "??" and line 0.
func Addr2line(t testing.TB, file string, addrs []uint64, options ...string) [][]Frame {
	t.Helper()
	return addr2line(t, "addr2line", file, addrs, options)
}

// EUAddr2line is like Addr2line, for eu-addr2line of elfutils. File names have no "." and "..", which elfutils keeps.
func EUAddr2line(t testing.TB, file string, addrs []uint64, options ...string) [][]Frame {
	t.Helper()
	all := addr2line(t, "eu-addr2line", file, addrs, options)
	for _, frames := range all {
		for i := range frames {
			frames[i].File = path.Clean(frames[i].File)
		}
	}
	return all
}

func addr2line(t testing.TB, tool, file string, addrs []uint64, options []string) [][]Frame {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, tool), append([]string{"-a", "-f", "-e", file}, options...)...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(questions(addrs)), &stderr
	out, err := cmd.Output()
	if err != nil && stderr.Len() > 0 { // elfutils 0.188 fails without a message for some addresses that only a symbol has
		t.Fatalf("%s %s: %v\n%s", tool, file, err, &stderr)
	}
	return readAddr2line(t, tool, out, addrs)
}

// position is FILE:LINE, followed by a column in elfutils' output, and by a discriminator in binutils'.
var position = regexp.MustCompile(`^(.*?):(\d+|\?)(?::\d+)?(?: \(discriminator \d+\))?$`)

// readAddr2line reads answers: the address, then two lines for each function, its name and its position. elfutils adds
// " inlined at ..." to the name.
func readAddr2line(t testing.TB, tool string, out []byte, addrs []uint64) [][]Frame {
	t.Helper()
	var all [][]Frame
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for i := 0; i < len(lines); {
		if addr, err := strconv.ParseUint(lines[i], 0, 64); err == nil && strings.HasPrefix(lines[i], "0x") {
			if n := len(all); n == len(addrs) || addrs[n] != addr {
				t.Fatalf("%s: answer %d is for %#x, which is not the address asked for", tool, n, addr)
			}
			all = append(all, nil)
			i++
			continue
		}
		if len(all) == 0 || i+1 == len(lines) {
			t.Fatalf("%s: %q is no answer", tool, lines[i])
		}
		m := position.FindStringSubmatch(lines[i+1])
		if m == nil {
			t.Fatalf("%s: %q is no position", tool, lines[i+1])
		}
		name, _, _ := strings.Cut(lines[i], " inlined at ")
		line, _ := strconv.Atoi(m[2]) // "?" is 0
		all[len(all)-1] = append(all[len(all)-1], Frame{name, m[1], line})
		i += 2
	}
	if len(all) != len(addrs) {
		t.Fatalf("%s: %d answers for %d addresses", tool, len(all), len(addrs))
	}
	return all
}

// questions returns addresses as tools read them from standard input.
func questions(addrs []uint64) (text []byte) {
	for _, a := range addrs {
		text = append(strconv.AppendUint(append(text, "0x"...), a, 16), '\n')
	}
	return text
}
