package walktest

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// GDBFrame is a frame as gdb prints it.
type GDBFrame struct {
	Function, File string
	Line           int
	PC             uint64 // 0 if the frame is at the beginning of a line, where gdb does not print it
}

var (
	gdbThread = regexp.MustCompile(`^Thread \d+ \(.*LWP (\d+)\)+:`)
	GDBLine   = regexp.MustCompile(`^#(\d+) +(?:0x([0-9a-f]+) in )?(.*)$`)
	GDBPlace  = regexp.MustCompile(`^(.*) at (.*):(\d+)$`)
)

// GDBStacks reads gdb's backtraces, by thread. What gdb prints before the
// first "Thread" is the frame where it stopped.
func GDBStacks(t testing.TB, path string) map[uint32][]GDBFrame {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	stacks := map[uint32][]GDBFrame{}
	thread := uint32(0)
	for _, line := range strings.Split(string(text), "\n") {
		if m := gdbThread.FindStringSubmatch(line); m != nil {
			id, _ := strconv.ParseUint(m[1], 10, 32)
			thread = uint32(id)
			continue
		}
		m := GDBLine.FindStringSubmatch(line)
		if m == nil || thread == 0 {
			continue
		}
		f := GDBFrame{Function: m[3]}
		f.PC, _ = strconv.ParseUint(m[2], 16, 64)
		if p := GDBPlace.FindStringSubmatch(m[3]); p != nil {
			f.Function, f.File = p[1], p[2]
			f.Line, _ = strconv.Atoi(p[3])
		}
		stacks[thread] = append(stacks[thread], f)
	}
	return stacks
}

// GDBName returns the function in gdb's text, which ends with the function's
// arguments.
func GDBName(text string) string {
	if i := strings.LastIndex(text, " ("); i >= 0 && strings.HasSuffix(text, ")") {
		text = text[:i]
	}
	return PlainName(text)
}

// PlainName returns the part of a function's name that gdb and we agree on:
// without parameters, template arguments, namespaces, and the marks of glibc's
// internal names.
func PlainName(name string) string {
	name = strings.TrimSuffix(strings.ReplaceAll(name, "operator()", "operator"), " const")
	depth, end := 0, len(name)
	for i := len(name) - 1; i >= 0 && strings.HasSuffix(name, ")"); i-- { // the last closing parenthesis ends the parameters
		switch name[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				end = i
			}
		}
		if end < len(name) {
			break
		}
	}
	name = strings.TrimSpace(name[:end])
	var plain strings.Builder
	depth = 0
	for _, c := range name {
		switch c {
		case '<', '(', '{':
			depth++
		case '>', ')', '}':
			depth--
		default:
			if depth == 0 {
				plain.WriteRune(c)
			}
		}
	}
	name = plain.String()
	name = name[strings.LastIndexAny(name, ": ")+1:]
	return strings.TrimPrefix(name, "__GI_")
}

// LastBacktrace returns the last stack in a file with gdb's output of one thread.
func LastBacktrace(t testing.TB, text string) (frames []GDBFrame) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		m := GDBLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if m[1] == "0" {
			frames = nil
		}
		f := GDBFrame{Function: m[3]}
		f.PC, _ = strconv.ParseUint(m[2], 16, 64)
		if p := GDBPlace.FindStringSubmatch(m[3]); p != nil {
			f.Function, f.File = p[1], p[2]
			f.Line, _ = strconv.Atoi(p[3])
		}
		frames = append(frames, f)
	}
	return frames
}
