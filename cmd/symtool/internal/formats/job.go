package formats

import (
	"encoding/binary"
	"errors"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// Options control how files are read and written. The rows of the formats list the
// options that apply only to some formats.
type Options struct {
	Jobs      int
	DebugDirs []string // folders with separate debug files of binaries
	CPU       string   // CPU of the binary to read in a universal file
	Source    dwarf2sym.CFISource
	Strict    bool // write nothing if something would be lost
	Verbose   bool
	Quiet     bool
	Renamed   bool // the module is renamed

	Base            *uint64          // address of RVA 0; nil if not given
	ByteOrder       binary.ByteOrder // nil for the CPU's
	GsymVersion     int
	SymcacheVersion int

	JSONNames  bool
	JSONIndent bool

	Crlf bool // for a symbol file

	// For SFrame.
	Version uint8
	Address *uint64 // of the section; nil if not given
	Binary  string  // binary to copy with the section added; "" for the section alone
}

// Job is one conversion: how to read and write, and what was lost.
type Job struct {
	Options
	Msgs   *cli.Messages
	Status int

	LostCallFiles int    // number of call files lost by the old form of INLINE
	Passed        func() // of the symbols being written; may be nil
	Image         Image  // of the symbols being written
	Name          string // name of their file, for messages
	To            *Format
}

// ReportProblems prints problems of a file and raises the status if there are any.
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

// Lose reports losses of a file. With --strict they are an error.
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

// Strictly returns an error if a writer lost something and --strict is set.
func (c *Job) Strictly(lost []bin.Problem) error {
	if len(lost) == 0 {
		return nil
	}
	return c.StrictStatus(cli.StatusFindings)
}

// StrictStatus returns an error with the given status if --strict is set.
func (c *Job) StrictStatus(status int) error {
	if !c.Strict || status == cli.StatusOK {
		return nil
	}
	return &cli.StatusError{Status: status, Err: errors.New("nothing is written: something would be lost, which --strict forbids")}
}
