package main

import (
	"encoding/binary"
	"errors"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// formatOptions say how files are read and written. Those that only some formats have are listed
// in their rows.
type formatOptions struct {
	jobs      int
	debugDirs []string // with separate debug files of binaries
	source    dwarf2sym.CFISource
	strict    bool // write nothing if something would be lost
	verbose   bool
	quiet     bool
	renamed   bool // the module gets a name

	base            *uint64          // address of RVA 0; nil if it is not given
	byteOrder       binary.ByteOrder // nil for that of the CPU
	gsymVersion     int
	symcacheVersion int

	jsonNames  bool
	jsonIndent bool

	crlf bool // of a symbol file

	// Of SFrame.
	version uint8
	address *uint64 // of the section; nil if it is not given
	binary  string  // that a copy is written of, with the section; "" for the section alone
}

// formatJob is one use of formats: how to read and write, and what was lost on the way.
type formatJob struct {
	formatOptions
	msgs   *messages
	status int

	lostCallFiles int    // by the old form of INLINE
	passed        func() // of the symbols that are written; may be nil
}

// reportProblems prints problems of a file, and raises the status if there are any.
func (c *formatJob) reportProblems(name string, problems []bin.Problem, status int) {
	if len(problems) == 0 {
		return
	}
	c.status = max(c.status, status)
	if c.quiet {
		return
	}
	out := problemLines{msgs: c.msgs, all: c.verbose, hint: verboseHint}
	for _, p := range problems {
		out.add(problemLine(name, p))
	}
	out.end()
}

func (c *formatJob) lose(name string, losses []symfmt.Loss) error {
	for _, l := range losses {
		if c.quiet {
			break
		}
		c.msgs.printf("symtool: %s: lost: %s", name, l)
	}
	if len(losses) > 0 {
		return c.strictStatus(statusFindings)
	}
	return nil
}

// strictly is strictStatus for losses of a writer.
func (c *formatJob) strictly(lost []bin.Problem) error {
	if len(lost) == 0 {
		return nil
	}
	return c.strictStatus(statusFindings)
}

// strictStatus ends the work with --strict, with a status other than success.
func (c *formatJob) strictStatus(status int) error {
	if !c.strict || status == statusOK {
		return nil
	}
	return &statusError{status, errors.New("nothing is written: something would be lost, and there is --strict")}
}
