package dropin

import "os"

// breakpadStackwalk is Breakpad's program.
var breakpadStackwalk = program{
	name:  "minidump_stackwalk",
	title: "Breakpad's minidump_stackwalk, which prints the stacks of a minidump",
	usage: []string{"[-m] [-s] [-c] [-b] DUMP [SYMBOLS...]"},
	options: []option{
		{short: "m", flag: "--format=machine", text: "print fields separated by |, as walk --format machine; -s, -c and -b then\nhave no effect"},
		{short: "s", text: "print the bytes of the stack between frames"},
		{short: "c", text: "print only the thread that crashed, or asked for the dump"},
		{short: "b", text: "print only the frames of that thread"},
		{short: "h", long: "help", text: "print this help"},
		{long: "version", text: "print the version"},
	},
	plan: func(l *commandLine) (*plan, error) {
		args := append([]string{"walk"}, l.flags()...)
		for _, o := range []struct{ option, flag string }{{"c", "--crashed-only"}, {"s", "--stack-bytes"}, {"b", "--brief"}} {
			if l.has(o.option) && !l.has("m") {
				args = append(args, o.flag)
			}
		}
		p := &plan{}
		args = append(args, p.symbols(l.operands[1:])...)
		p.calls = [][]string{append(args, "--", l.operands[0])}
		return p, nil
	},
	failed: 1, misused: 1,
}

// symbols returns walk's flags for symbols from paths. A path that does not exist is an error for
// walk, so it is only noted. Without any symbols, walk would search this machine for them, which
// these programs do not do.
func (p *plan) symbols(paths []string) (flags []string) {
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			p.notes = append(p.notes, path+": no such file or folder")
			continue
		}
		flags = append(flags, "--symbols="+path)
	}
	return append(flags, "--hermetic")
}
