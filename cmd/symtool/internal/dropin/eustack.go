package dropin

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/symtool/symtool/cmd/symtool/internal/symbolizer"
)

// euStack is the program of elfutils.
var euStack = program{
	name:  "eu-stack",
	title: "elfutils' eu-stack, which prints the stacks of a process or a core",
	usage: []string{"[OPTION...] -p PID", "[OPTION...] [-e FILE] --core FILE"},
	options: []option{
		{short: "p", long: "pid", value: "PID", text: "print the stacks of a process"},
		{long: "core", value: "FILE", text: "print the stacks in a core"},
		{short: "e", long: "executable", value: "FILE", text: "FILE is the program of the core"},
		{long: "debuginfo-path", value: "PATH", text: "also look for debug files in the folders of PATH, which colons separate"},
		{short: "1", text: "print only the thread with the id of the process"},
		{short: "a", long: "activation", text: "mark the frames that a call entered"},
		{short: "b", long: "build-id", text: "print build-ids, and addresses in modules"},
		{short: "d", long: "debugname", text: "print the names of the debug information"},
		{short: "i", long: "inlines", text: "print inlined functions, too"},
		{short: "l", long: "list-modules", text: "print the modules first"},
		{short: "m", long: "module", text: "print the file of each frame"},
		{short: "n", value: "MAXFRAMES", text: "print at most MAXFRAMES of a thread (default: 256; 0 for all)"},
		{short: "q", long: "quiet", text: "print no names"},
		{short: "r", long: "raw", text: "print names as they are mangled"},
		{short: "s", long: "source", text: "print files and lines"},
		{short: "v", long: "verbose", text: "as -a -d -i -m -s"},
		{short: "?", long: "help", text: "print this help"},
		{long: "usage", text: "print this help"},
		{short: "V", long: "version", text: "print the version"},
	},
	plan:       planStack,
	noOperands: true, attached: true,
	abbreviated: true,
	failed:      2, misused: 64,
}

func planStack(l *commandLine) (*plan, error) {
	if l.has("usage") {
		return &plan{answer: "see symtool as eu-stack --help\n"}, nil
	}
	all := l.has("verbose")
	o := symbolizer.StackOptions{
		Core: l.last("core"), Executable: l.last("executable"), DebugDirs: append(foldersOf(l.last("debuginfo-path")), systemDebug), MaxFrames: 256,
		One: l.has("1"), Activation: all || l.has("activation"), BuildID: l.has("build-id"), List: l.has("list-modules"), Module: all || l.has("module"),
		Inlines: all || l.has("inlines"), Quiet: l.has("quiet"), Raw: l.has("raw"), Source: all || l.has("source"),
	}
	o.DebugName = o.Inlines || l.has("debugname")
	if text := l.last("n"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("-n is %q, want a number of frames", text)
		}
		if o.MaxFrames = n; n == 0 {
			o.MaxFrames = math.MaxInt
		}
	}
	switch pid := l.last("pid"); {
	case len(l.operands) > 0:
		return nil, fmt.Errorf("%q: want options only", l.operands[0])
	case (pid == "") == (o.Core == ""):
		return nil, errors.New("one of -p PID and --core FILE is wanted")
	case pid != "" && o.Executable != "":
		return nil, errors.New("-e is for --core")
	case o.One && pid == "":
		return nil, errors.New("-1 is for -p")
	case pid != "":
		var err error
		if o.PID, err = strconv.Atoi(pid); err != nil || o.PID <= 0 {
			return nil, fmt.Errorf("-p is %q, want the id of a process", pid)
		}
	}
	return &plan{stacks: &o}, nil
}

// euUnstrip is the program of elfutils. Only its list of modules is supported.
var euUnstrip = program{
	name:  "eu-unstrip",
	title: "elfutils' eu-unstrip -n, which lists the modules of a process",
	usage: []string{"-n -p PID"},
	options: []option{
		{short: "n", long: "list-only", text: "print the modules: addresses, build-id, file, debug file, name"},
		{short: "p", long: "pid", value: "PID", text: "the process"},
		{long: "debuginfo-path", value: "PATH", text: "also look for debug files in the folders of PATH, which colons separate"},
		{long: "core", value: "FILE", refused: "symtool inspect FILE lists the modules of a core, with their ids"},
		{short: "e", long: "executable", value: "FILE", refused: "symtool doctor FILE says what FILE has, and where its debug file is"},
		{short: "M", long: "linux-process-map", value: "FILE", refused: onlyProcesses},
		{short: "k", long: "kernel", refused: onlyProcesses},
		{short: "K", long: "offline-kernel", value: "RELEASE", optional: true, refused: onlyProcesses},
		{short: "f", long: "match-file-names", refused: allModules},
		{short: "i", long: "ignore-missing", text: "nothing: missing files are no error"},
		{short: "a", long: "all", refused: noJoining},
		{short: "d", long: "output-directory", value: "DIR", refused: noJoining},
		{short: "F", long: "force", refused: noJoining},
		{short: "m", long: "module-names", refused: noJoining},
		{short: "o", long: "output", value: "FILE", refused: noJoining},
		{short: "R", long: "relocate", refused: noJoining},
		{short: "?", long: "help", text: "print this help"},
		{long: "usage", text: "print this help"},
		{short: "V", long: "version", text: "print the version"},
	},
	plan: func(l *commandLine) (*plan, error) {
		switch {
		case l.has("usage"):
			return &plan{answer: "see symtool as eu-unstrip --help\n"}, nil
		case !l.has("list-only"):
			return nil, errors.New(noJoining + "; -n lists modules")
		case len(l.operands) > 0:
			return nil, fmt.Errorf("%q: %s", l.operands[0], allModules)
		}
		pid, err := strconv.Atoi(l.last("pid"))
		if err != nil || pid <= 0 {
			return nil, fmt.Errorf("-p is %q, want the id of a process", l.last("pid"))
		}
		return &plan{stacks: &symbolizer.StackOptions{PID: pid, DebugDirs: append(foldersOf(l.last("debuginfo-path")), systemDebug), Unstrip: true}}, nil
	},
	noOperands: true, attached: true,
	abbreviated: true,
	failed:      1, misused: 64,
}

const (
	noJoining     = "files are not joined: symtool dump FILE DEBUGFILE reads both"
	onlyProcesses = "only the modules of a process are listed"
	allModules    = "all modules are listed"
)
