package hostile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// hostileKind is a family of inputs that grow with n, made so that a careless reader needs
// far more time or memory than their size suggests. The commands run in the folder of the
// files, one after the other, and may read the output of earlier ones, and a file after <
// from standard input.
type hostileKind struct {
	name     string
	n        int // the smaller size; the larger is 4n
	files    hostileFiles
	commands []string
	more     int64 // bytes of memory and output allowed in addition to the limit
}

// hostileFiles maps names to functions that make the input files of a kind.
type hostileFiles map[string]func(n int) []byte

// hostileFamilies has the kinds by what they attack. Each family has its own file.
var hostileFamilies = map[string]func() []hostileKind{
	"symbols":  hostileSymbols,
	"dumps":    hostileDumps,
	"sframe":   hostileSFrame,
	"packed":   hostilePacked,
	"package":  hostilePackages,
	"walk":     hostileWalks,
	"lists":    hostileLists,
	"elf":      hostileELF,
	"caches":   hostileCaches,
	"holders":  hostileHolders,
	"cores":    hostileCores,
	"vars":     hostileVars,
	"pdb":      hostilePDBs,
	"macho":    hostileMachO,
	"logs":     hostileLogs,
	"names":    hostileNames,
	"configs":  hostileConfigs,
	"lines":    hostileLines,
	"frames":   hostileFrames,
	"members":  hostileMembers,
	"texts":    hostileTexts,
	"profiles": hostileProfiles,
	"archives": hostileArchives,
	"streams":  hostileStreams,
	"dies":     hostileDIEs,
	"regsets":  hostileRegsets,
	"jit":      hostileJIT,
}

// Limits for a command that reads a hostile input. From n to 4n, the processor
// time may grow by hostileGrowth, so that quadratic growth fails; times below
// hostileQuick are noise. Memory and output have one limit, which depends on
// the size of the files that the command names.
const (
	hostileGrowth = 8
	hostileQuick  = 150 * time.Millisecond
	hostileCPU    = 60 // seconds, the kernel's limit
	hostileFloor  = 64 << 20
	hostileFactor = 8

	// The memory that symcaches and GSYM may take in addition: a row of four bytes becomes a FUNC
	// with lines, and in GSYM a FUNC inside others has the lines of all from there on, up to 32
	// times.
	hostileRows = 16 << 20
)

// TestHostileKinds runs every command of every kind at n and 4n, each in its
// own process, and checks the limits. `make hostile` calls it;
// SYMTOOL_HOSTILE_KIND restricts it to the kinds with that text in the name.
func TestHostileKinds(t *testing.T) {
	if os.Getenv("SYMTOOL_HOSTILE_RUNS") == "" {
		t.Skip("takes minutes: make hostile sets SYMTOOL_HOSTILE_RUNS")
	}
	if name, program, one := strings.Cut(os.Getenv("SYMTOOL_HOSTILE_ONE"), " "); one {
		for _, kind := range hostileKinds(t) {
			if kind.name == name {
				kind.run(t, program)
			}
		}
		return
	}
	program := copyOfProgram(t)
	for _, kind := range hostileKinds(t) {
		if strings.Contains(kind.name, os.Getenv("SYMTOOL_HOSTILE_KIND")) {
			t.Run(kind.name, func(t *testing.T) { kind.runAlone(t, program) })
		}
	}
}

// copyOfProgram returns the path of a copy of the program that is written page by page. For a file
// that Go's linker wrote, the page cache has large blocks, so that up to 8 MB more count as
// resident.
func copyOfProgram(t *testing.T) string {
	data, err := os.ReadFile(testenv.Symtool(t))
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.OpenFile(filepath.Join(t.TempDir(), "symtool"), os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	for page := range slices.Chunk(data, os.Getpagesize()) {
		if _, err := out.Write(page); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Name()
}

// runAlone runs the kind in its own process, because the kernel includes a process's peak of
// memory in the peaks of the processes that it starts: the output of one kind would count for
// those after it.
func (k *hostileKind) runAlone(t *testing.T, program string) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestHostileKinds$", "-test.v")
	cmd.Env = append(os.Environ(), "SYMTOOL_HOSTILE_ONE="+k.name+" "+program)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// TestHostileKindSizes checks that the inputs grow as n does. A kind that does not
// grow tests nothing, and one that grows faster than n fails although the program is
// not at fault. TestHostileKinds checks the sizes that it uses; these are smaller.
func TestHostileKindSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("makes every input")
	}
	for _, kind := range hostileKinds(t) {
		if len(kind.commands) == 0 {
			t.Errorf("%s: no commands", kind.name)
		}
		kind.checkSizes(t, max(1, kind.n/16))
	}
}

func (k *hostileKind) checkSizes(t *testing.T, n int) {
	t.Helper()
	size := func(n int) (sum int64) {
		for _, data := range k.files {
			sum += int64(len(data(n)))
		}
		return sum
	}
	k.checkGrowth(t, n, size(n), size(4*n))
}

func (k *hostileKind) checkGrowth(t *testing.T, n int, small, large int64) {
	t.Helper()
	if large <= small || large > 5*small+1<<16 || large > 16<<20 {
		t.Errorf("%s: %d bytes for n = %d, %d bytes for 4n", k.name, small, n, large)
	}
}

// hostileKinds returns the kinds of all families, named FAMILY/KIND.
func hostileKinds(t *testing.T) (all []hostileKind) {
	t.Helper()
	for family, kinds := range hostileFamilies {
		for _, kind := range kinds() {
			kind.name = family + "/" + kind.name
			all = append(all, kind)
		}
	}
	slices.SortFunc(all, func(a, b hostileKind) int { return strings.Compare(a.name, b.name) })
	for i := range all[1:] {
		if all[i].name == all[i+1].name {
			t.Fatalf("two kinds %s", all[i].name)
		}
	}
	return all
}

// run runs the commands at both sizes.
func (k *hostileKind) run(t *testing.T, program string) {
	small, large := k.makeFiles(t, k.n), k.makeFiles(t, 4*k.n)
	k.checkGrowth(t, k.n, folderSize(t, small), folderSize(t, large))
	for _, command := range k.commands {
		a := measureHostile(t, program, small, command)
		b := measureHostile(t, program, large, command)
		t.Logf("%-44s %s | %s", command, a, b)
		for _, m := range []hostileCost{a, b} {
			if why := m.wrong(k.more); why != "" {
				t.Errorf("%s: %s: %s", command, m, why)
			}
		}
		if b.cpu > hostileGrowth*max(a.cpu, hostileQuick) {
			t.Errorf("%s: from n to 4n the time grows %.1f times: %s, %s", command, float64(b.cpu)/float64(a.cpu), a, b)
		}
	}
}

// makeFiles writes the inputs into a new folder, in another process: the kernel includes a
// process's peak of memory in the peaks of the processes that it starts.
func (k *hostileKind) makeFiles(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHostileMakeFiles$")
	cmd.Env = append(os.Environ(), "SYMTOOL_HOSTILE_FILES="+k.name+" "+strconv.Itoa(n)+" "+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// TestHostileMakeFiles runs in the process that writes the files of a kind.
func TestHostileMakeFiles(t *testing.T) {
	name, rest, _ := strings.Cut(os.Getenv("SYMTOOL_HOSTILE_FILES"), " ")
	number, dir, found := strings.Cut(rest, " ")
	if !found {
		t.Skip("TestHostileKinds calls it")
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range hostileKinds(t) {
		if kind.name != name {
			continue
		}
		for file, data := range kind.files {
			testenv.WriteFile(t, filepath.Join(dir, file), data(n))
		}
	}
}

// hostileCost is the cost of a command.
type hostileCost struct {
	input, output int64 // bytes of the files that the command names, and of its output
	memory        int64
	cpu           time.Duration
	status        int
	printed       int64
	stderr        string
}

func (c hostileCost) String() string {
	return fmt.Sprintf("%.2f MB: %.2fs, %.0f MB of memory, %.1f MB of output, status %d", float64(c.input)/(1<<20), c.cpu.Seconds(),
		float64(c.memory)/(1<<20), float64(c.output)/(1<<20), c.status)
}

// wrong returns the limit that a command exceeded, or "".
func (c hostileCost) wrong(more int64) string {
	limit := hostileFloor + hostileFactor*c.input + more
	switch {
	case strings.Contains(c.stderr, "panic") || strings.Contains(c.stderr, "goroutine ") || strings.Contains(c.stderr, "internal error"):
		return fmt.Sprintf("a panic: %.2000s", c.stderr)
	case c.status != cli.StatusOK && c.status != cli.StatusFindings && c.status != cli.StatusInput:
		return fmt.Sprintf("status %d: %.500s", c.status, c.stderr)
	case c.status == cli.StatusInput && c.stderr == "" && c.printed == 0: // lint reports the damage as a finding
		return "status 3 without a message"
	case c.memory > limit:
		return fmt.Sprintf("memory is over %d MB", limit>>20)
	case c.output > limit:
		return fmt.Sprintf("output is over %d MB", limit>>20)
	}
	return ""
}

// measureHostile runs one command in a folder.
func measureHostile(t *testing.T, program, dir, command string) hostileCost {
	t.Helper()
	command, stdin, _ := strings.Cut(command, " < ")
	args := strings.Fields(command)
	cost := hostileCost{input: hostileInput(dir, append(args, stdin))}
	before := folderSize(t, dir)
	var stderr bytes.Buffer
	cmd := exec.Command(program, args...)
	if stdin != "" {
		in, err := os.Open(filepath.Join(dir, stdin))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cmd.Stdin = in
	}
	cmd.Dir, cmd.Stderr = dir, &stderr
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+dir, "DEBUGINFOD_URLS=")
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	limitProcess(t, cmd.Process.Pid)
	var printed int64
	if args[0] == "serve" {
		printed = askHostile(t, stdout)
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	} else {
		printed, _ = io.Copy(io.Discard, stdout)
	}
	if err := cmd.Wait(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	cost.status, cost.memory = cmd.ProcessState.ExitCode(), peakMemory(cmd.ProcessState)
	cost.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	cost.output = printed + int64(stderr.Len()) + max(0, folderSize(t, dir)-before)
	cost.printed, cost.stderr = printed, stderr.String()
	return cost
}

// askHostile asks a server, whose URL is on the first line of stdout, for addresses in the module
// m, and returns the size of the answer.
func askHostile(t *testing.T, stdout io.Reader) (size int64) {
	t.Helper()
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	frames := strings.TrimSuffix(strings.Repeat("[0,4096],[0,4097],[0,4104],[0,8192],[0,36864],", 200), ",")
	request := fmt.Sprintf(`{"memoryMap":[["m",%q]],"stacks":[[%s]]}`, smallDumpID, frames)
	client := &http.Client{Timeout: hostileCPU * time.Second}
	for range 2 {
		r, err := client.Post(strings.TrimSpace(url)+"/symbolicate/v5", "application/json", strings.NewReader(request))
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != http.StatusOK {
			t.Errorf("%s after %d bytes: %v", r.Status, n, err)
		}
		size += n
	}
	return size
}

// limitProcess sets limits of the kernel that end a runaway process.
func limitProcess(t *testing.T, pid int) {
	t.Helper()
	for resource, limit := range map[int]uint64{unix.RLIMIT_CPU: hostileCPU, unix.RLIMIT_FSIZE: 1 << 30, unix.RLIMIT_AS: 8 << 30} {
		err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: limit, Max: limit}, nil)
		if err != nil && err != syscall.ESRCH {
			t.Fatal(err)
		}
	}
}

// hostileInput returns the size of the files and folders that a command names, including NAME.vars
// beside NAME.sym, which is read with it.
func hostileInput(dir string, args []string) (sum int64) {
	for _, arg := range args {
		if arg == "" {
			continue
		}
		if name, found := strings.CutSuffix(arg, ".sym"); found {
			sum += hostileInput(dir, []string{name + ".vars"})
		}
		path := filepath.Join(dir, arg)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				if info, err := entry.Info(); err == nil {
					sum += info.Size()
				}
			}
			return nil
		})
	}
	return sum
}

// folderSize returns the size of all files in a folder.
func folderSize(t *testing.T, dir string) int64 {
	t.Helper()
	return hostileInput(dir, []string{"."})
}
