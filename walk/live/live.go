// Package live captures a running process of Linux as a dump: it stops all of its threads for the
// milliseconds that reading their stacks takes. Use Capture.
package live

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/elfcore"
)

// ErrUnsupported is the error on systems and CPUs where processes cannot be captured.
var ErrUnsupported = errors.New("running processes can be captured on Linux on x86-64 and arm64 only")

// ErrNotPermitted is the error if the system does not let this process stop another one.
var ErrNotPermitted = errors.New("ptrace is not permitted: want root, or the same user and 0 in /proc/sys/kernel/yama/ptrace_scope")

// DefaultLimit is the default for Options.Limit.
const DefaultLimit = 5 * time.Second

// quiet is the time after which Options.Waiting is called.
const quiet = time.Second

// Options configure Capture.
type Options struct {
	Core elfcore.Options // how the process is read, as if it were a core
	// Limit is how long Capture waits for threads to stop; 0 means DefaultLimit. Threads that do not stop,
	// for instance in an uninterruptible sleep, are left out and reported as Problems of the dump. It is an
	// error if no thread stops.
	Limit time.Duration
	// Waiting, if non-nil, is called once if a thread has not stopped after a second, with the thread's
	// state as in /proc/PID/status.
	Waiting func(thread int, state string, limit time.Duration)
	// Reads, if non-nil, is called with the dump while the process is stopped: the memory that it reads is
	// kept. Its context ends before the process has been stopped for long.
	Reads func(context.Context, *dump.Dump)
}

// maxReads is how long Options.Reads may take.
const maxReads = time.Second

func (o *Options) limit() time.Duration { return cmp.Or(o.Limit, DefaultLimit) }

// proc is the path of a process's folder in /proc.
type proc string

func procOf(pid int) proc { return proc("/proc/" + strconv.Itoa(pid)) }

func (p proc) path(name string) string { return string(p) + "/" + name }

// process reads what identifies the process.
func (p proc) process() (dump.Process, error) {
	status, err := os.ReadFile(p.path("status"))
	if err != nil {
		return dump.Process{}, err
	}
	d := dump.Process{HasID: true, Name: field(status, "Name"), ID: number(status, "Tgid"), Parent: number(status, "PPid"), UID: number(status, "Uid"), GID: number(status, "Gid")}
	d.Args = p.strings("cmdline")
	d.Env = p.strings("environ")
	return d, nil
}

// strings reads a file of NUL-terminated strings. It returns nil if the file cannot be read.
func (p proc) strings(name string) []string {
	data, err := os.ReadFile(p.path(name))
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

// field returns the value of a line of /proc/PID/status.
func field(status []byte, name string) string {
	for line := range strings.SplitSeq(string(status), "\n") {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// number returns the first number of a line of /proc/PID/status, or 0.
func number(status []byte, name string) uint32 {
	words := strings.Fields(field(status, name))
	if len(words) == 0 {
		return 0
	}
	n, _ := strconv.ParseUint(words[0], 10, 32)
	return uint32(n)
}

// maxMaps limits the mappings of a process. The kernel's own limit is 65,530 by default (vm.max_map_count).
const maxMaps = 1 << 20

// parseMaps reads /proc/PID/maps (proc_pid_maps(5)).
func parseMaps(in io.Reader) (maps []dump.Mapping, err error) {
	lines := bufio.NewScanner(in)
	for lines.Scan() && len(maps) < maxMaps {
		m, ok := dump.ParseMapping(lines.Text())
		if !ok {
			return nil, fmt.Errorf("maps:%d: %q, want an address range, flags, offset, device, inode and path", len(maps)+1, lines.Text())
		}
		maps = append(maps, m)
	}
	return maps, lines.Err()
}
