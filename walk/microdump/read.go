// Package microdump reads microdumps: lines of text in which Breakpad's client library writes a crash to
// Android's log, as its users often send no files. A line has a letter for its kind and hexadecimal
// numbers:
//
//	O A arm 04 armv8l VERSION   system (A: Android, L: Linux), CPU, number of CPUs, uname's or the build's text
//	V PRODUCT:VERSION           the program
//	P browser                   the kind of process
//	R 0000000B SIGSEGV 0        signal, its name, address
//	G VERSION|VENDOR|RENDERER   OpenGL, or UNKNOWN
//	S 0 SP START LENGTH         the stack: stack pointer, start and length of what follows
//	S ADDR BYTES                bytes of the stack
//	C BYTES                     the registers of the thread, as in a minidump
//	M START OFFSET SIZE ID NAME a module; ID is Breakpad's
//	H ...                       figures about the address space, which are not read
//
// The facts are from Breakpad's src/client/linux/microdump_writer and src/processor/microdump.cc.
//
// # Where we differ
//
//   - from Breakpad, which takes the stack for contiguous: bytes are where their line says, so that a lost line
//     costs its bytes only, and the loss is a Problem (TestDamage);
//   - from Breakpad: lines of another process between those of the crash are not read (TestInterleaved), and
//     further microdumps in the file are reported, not passed over in silence (TestSeveral).
package microdump

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/walk/dump"
)

// Format is the name of the format in dump.Dump.
const Format = "microdump"

// The tag of the lines in the log, and the texts of the first and the last line.
const (
	tag   = "google-breakpad"
	begin = "-----BEGIN BREAKPAD MICRODUMP-----"
	end   = "-----END BREAKPAD MICRODUMP-----"
)

// Sniff reports whether a file that begins with these bytes may have a microdump: a line of Breakpad's, or logcat's first.
func Sniff(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.Contains(line, []byte(tag)) || bytes.HasPrefix(line, []byte("--------- beginning of "))
}

// Read reads the first microdump in data, which is the text of a log; path is used in messages. If there is
// none, the error is a *bin.Error. Other damage is reported in Dump.Problems.
func Read(data []byte, path string) (*dump.Dump, error) {
	r := &reader{path: path, crash: dump.Crash{Unknown: true}, d: &dump.Dump{Format: Format, Order: binary.LittleEndian, Main: -1}}
	for n := 1; len(data) > 0; n++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		r.line = n
		r.text(string(bytes.TrimRight(line, "\r")))
	}
	if r.first == 0 {
		return nil, &bin.Error{File: path, Msg: "no line " + begin + " in the log"}
	}
	r.finish()
	return r.d, nil
}

// reader holds the state of reading a microdump.
type reader struct {
	path string
	d    *dump.Dump
	line int // number of the current line, from 1

	first   int    // line of the beginning; 0 before it
	done    bool   // the end was found
	process string // what the tag of its lines says about the process
	more    int    // number of further microdumps

	crash    dump.Crash
	thread   dump.Thread
	context  []byte
	declared dump.Range // the stack, as its first line says
	stack    []dump.Region
	modules  []dump.Module
	mappings []dump.Mapping // mappings of the modules
	problems int
}

// maxProblems is the number of problems that are reported one by one.
const maxProblems = 20

func (r *reader) problemf(lost, format string, args ...any) {
	if r.problems++; r.problems > maxProblems {
		return
	}
	msg := fmt.Sprintf("line %d: ", r.line) + fmt.Sprintf(format, args...)
	r.d.Problems = append(r.d.Problems, damage.Problem{Lost: lost, Err: &bin.Error{File: r.path, Msg: msg}})
}

// text reads a line of the log.
func (r *reader) text(line string) {
	_, rest, found := strings.Cut(line, tag)
	if !found {
		return
	}
	process, text, found := strings.Cut(rest, ": ")
	if !found {
		process, text = strings.TrimSuffix(rest, ":"), "" // a line without text
	}
	switch {
	case text == begin && r.first > 0:
		r.more++
	case text == begin:
		r.first, r.process = r.line, process
		r.processID(process)
	case r.first == 0 || r.done || process != r.process:
	case text == end:
		r.done = true
	default:
		r.record(text)
	}
}

// processID reads "( 3745)", which follows the tag in logcat's brief format.
func (r *reader) processID(text string) {
	var id uint32
	if _, err := fmt.Sscanf(strings.Trim(text, "() "), "%d", &id); err == nil {
		r.d.Process.ID, r.d.Process.HasID = id, true
	}
}

// record reads a line of the microdump.
func (r *reader) record(text string) {
	kind, rest, _ := strings.Cut(text, " ")
	switch kind {
	case "O":
		r.system(rest)
	case "V":
		r.annotate("version", rest)
	case "P":
		r.annotate("process_type", rest)
	case "R":
		r.reason(rest)
	case "G":
		r.gpu(rest)
	case "S":
		r.stackLine(rest)
	case "C":
		r.registers(rest)
	case "M":
		r.module(rest)
	case "H":
	default:
		r.problemf("a line", "%.40q: want a line O, V, P, R, G, S, C, M or H", text)
	}
}

func (r *reader) annotate(key, value string) {
	if value != "" {
		r.d.Annotations = append(r.d.Annotations, dump.Annotation{Key: key, Value: value})
	}
}

// finish combines what the lines contained.
func (r *reader) finish() {
	d := r.d
	if !r.done {
		r.problemf("what follows", "the log ends before %s", end)
	}
	if r.more > 0 {
		r.problemf("other crashes", "further microdumps in the file: %d; only the first is read, that of line %d", r.more, r.first)
	}
	r.decodeRegisters()
	r.checkStack()
	d.Memory = dump.NewMemory(d.Order, r.stack)
	d.Threads = []dump.Thread{r.thread}
	d.Crash = &r.crash
	r.setModules()
	if extra := r.problems - maxProblems; extra > 0 {
		d.Problems = append(d.Problems, damage.Problem{Err: &bin.Error{File: r.path, Msg: fmt.Sprintf("%d more problems", extra)}})
	}
}

// setModules sets the modules, which the writer took from mappings: it drops parts of a file that the program mapped
// again. On Android, mappings of a file often reach into others; Breakpad cuts them, too.
func (r *reader) setModules() {
	dump.SortMappings(r.mappings)
	listed := dump.Dump{Maps: r.mappings}
	listed.SetListed(r.modules, -1, nil)
	r.d.Modules = listed.Modules
}
