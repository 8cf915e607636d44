package formats

import (
	"encoding/binary"
	"errors"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// Options say how files are read and written. Those that only some formats have are listed
// in their rows.
type Options struct {
	Jobs      int
	DebugDirs []string // with separate debug files of binaries
	Source    dwarf2sym.CFISource
	Strict    bool // write nothing if something would be lost
	Verbose   bool
	Quiet     bool
	Renamed   bool // the module gets a name

	Base            *uint64          // Address of RVA 0; nil if it is not given
	ByteOrder       binary.ByteOrder // nil for that of the CPU
	GsymVersion     int
	SymcacheVersion int

	JSONNames  bool
	JSONIndent bool

	Crlf bool // of a symbol file

	// Of SFrame.
	Version uint8
	Address *uint64 // of the section; nil if it is not given
	Binary  string  // that a copy is written of, with the section; "" for the section alone
}

// Job is one use of formats: how to read and write, and what was lost on the way.
type Job struct {
	Options
	Msgs   *cli.Messages
	Status int

	LostCallFiles int    // by the old form of INLINE
	Passed        func() // of the symbols that are written; may be nil
	Image         Image  // of the symbols that are written
	Name          string // of the file that they come from, for messages
	To            *Format
}

// ReportProblems prints problems of a file, and raises the status if there are any.
func (c *Job) ReportProblems(name string, problems []bin.Problem, status int) {
	if len(problems) == 0 {
		return
	}
	c.Status = max(c.Status, status)
	if c.Quiet {
		return
	}
	out := cli.ProblemLines{Msgs: c.Msgs, All: c.Verbose, Hint: cli.VerboseHint}
	for _, p := range problems {
		out.Add(cli.ProblemLine(name, p))
	}
	out.End()
}

// Lose reports what is lost of a file. With --strict it is an error.
func (c *Job) Lose(name string, losses []symfmt.Loss) error {
	for _, l := range losses {
		if c.Quiet {
			break
		}
		c.Msgs.Printf("symtool: %s: lost: %s", name, l)
	}
	if len(losses) > 0 {
		return c.StrictStatus(cli.StatusFindings)
	}
	return nil
}

// Strictly is StrictStatus for losses of a writer.
func (c *Job) Strictly(lost []bin.Problem) error {
	if len(lost) == 0 {
		return nil
	}
	return c.StrictStatus(cli.StatusFindings)
}

// StrictStatus ends the work with --strict, with a status other than success.
func (c *Job) StrictStatus(status int) error {
	if !c.Strict || status == cli.StatusOK {
		return nil
	}
	return &cli.StatusError{Status: status, Err: errors.New("nothing is written: something would be lost, and there is --strict")}
}
