package oracle

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

// Emulator is qemu, which runs single instructions of arm64 or RISC-V in a process whose memory is one segment.
type Emulator struct {
	conn  net.Conn
	in    *bufio.Reader
	flags bool   // there are some
	tail  []byte // of what qemu says about registers, behind those of EmulatorRegisters and the flags

	Flags uint32 // arm64's PSTATE, of which the upper 4 bits are N, Z, C and V
}

// EmulatorRegisters are x0 to x30, SP and PC of arm64, or x0 to x31 and PC of RISC-V.
type EmulatorRegisters [33]uint64

// EmulatorPC is the number of PC in EmulatorRegisters.
const EmulatorPC = 32

// The memory of an emulator's process. There are two megabytes of code, and more of data behind them.
const (
	emulatorLow  = 0x400000
	EmulatorCode = 0x401000
	EmulatorData = 0x601000
	EmulatorHigh = 0x700000
)

// StartEmulator starts the qemu of a CPU, "aarch64" or "riscv64", which ends with the test.
func StartEmulator(t testing.TB, cpu string) *Emulator {
	t.Helper()
	dir := t.TempDir()
	program, socket := filepath.Join(dir, "program"), filepath.Join(dir, "gdb")
	if err := os.WriteFile(program, oneSegment(machines[cpu]), 0o777); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), testenv.Tool(t, "qemu-"+cpu+"-static"), "-cpu", features[cpu], "-g", socket, program)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	e := &Emulator{flags: cpu == "aarch64"}
	for tries := 0; ; tries++ {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			e.conn, e.in = conn, bufio.NewReader(conn)
			break
		}
		if tries == 500 {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Cleanup(func() { _ = e.conn.Close() })
	e.ask(t, "?")
	e.registers(t, new(EmulatorRegisters))
	return e
}

// The numbers of CPUs in ELF, and their models with the most features.
var (
	machines = map[string]uint16{"aarch64": 183, "riscv64": 243}
	features = map[string]string{"aarch64": "max", "riscv64": "rv64,v=true,zba=true,zbb=true,zbs=true"}
)

// oneSegment returns a program of one segment.
func oneSegment(machine uint16) []byte {
	const (
		header, phdr = 64, 56
		executable   = 2
		all          = 7 // permissions
	)
	le := binary.LittleEndian
	b := make([]byte, header+phdr)
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], executable)
	le.PutUint16(b[18:], machine)
	le.PutUint32(b[20:], 1)
	le.PutUint64(b[24:], emulatorLow+header+phdr)
	le.PutUint64(b[32:], header)
	le.PutUint16(b[52:], header)
	le.PutUint16(b[54:], phdr)
	le.PutUint16(b[56:], 1)
	p := b[header:]
	le.PutUint32(p, 1)
	le.PutUint32(p[4:], all)
	le.PutUint64(p[16:], emulatorLow)
	le.PutUint64(p[24:], emulatorLow)
	le.PutUint64(p[32:], header+phdr)
	le.PutUint64(p[40:], EmulatorHigh-emulatorLow)
	le.PutUint64(p[48:], 0x1000)
	return b
}

// ask sends a packet of gdb's remote protocol, which begins with an acknowledgement of the answer before, and returns the answer.
func (e *Emulator) ask(t testing.TB, what string) string {
	t.Helper()
	sum := byte(0)
	for i := range len(what) {
		sum += what[i]
	}
	if _, err := fmt.Fprintf(e.conn, "+$%s#%02x", what, sum); err != nil {
		t.Fatal(err)
	}
	if _, err := e.in.ReadString('$'); err != nil {
		t.Fatalf("%.60s: %v", what, err)
	}
	answer, err := e.in.ReadString('#')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.in.Discard(2); err != nil {
		t.Fatal(err)
	}
	return answer[:len(answer)-1]
}

// Load stores instructions at EmulatorCode, before any of them runs: qemu protects the pages of what it translated.
func (e *Emulator) Load(t testing.TB, code []uint32) {
	t.Helper()
	const piece = 256
	for i := 0; i < len(code); i += piece {
		var b []byte
		for _, w := range code[i:min(i+piece, len(code))] {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		e.Write(t, EmulatorCode+4*uint64(i), b)
	}
}

// Run executes the instruction at PC, and reads the registers behind it. It reports whether it ran to its end.
func (e *Emulator) Run(t testing.TB, r *EmulatorRegisters) bool {
	t.Helper()
	b := make([]byte, 0, 1024)
	for _, v := range r {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	if e.flags {
		b = binary.LittleEndian.AppendUint32(b, e.Flags)
	}
	if answer := e.ask(t, "G"+hex.EncodeToString(append(b, e.tail...))); answer != "OK" {
		t.Fatalf("registers: %q", answer)
	}
	stop := e.ask(t, "s")
	e.registers(t, r)
	return len(stop) > 2 && stop[1:3] == "05"
}

func (e *Emulator) registers(t testing.TB, r *EmulatorRegisters) {
	t.Helper()
	b, err := hex.DecodeString(e.ask(t, "g"))
	if err != nil || len(b) < 8*len(r) {
		t.Fatal(len(b), err)
	}
	for i := range r {
		r[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	b = b[8*len(r):]
	if e.flags {
		e.Flags = binary.LittleEndian.Uint32(b)
		b = b[4:]
	}
	if e.tail == nil {
		e.tail = append([]byte{}, b...)
	}
}

// Write stores bytes in the process's memory.
func (e *Emulator) Write(t testing.TB, at uint64, data []byte) {
	t.Helper()
	if answer := e.ask(t, fmt.Sprintf("M%x,%x:%x", at, len(data), data)); answer != "OK" {
		t.Fatalf("%d bytes at %#x: %q", len(data), at, answer)
	}
}

// Word returns 8 bytes of memory, or 0.
func (e *Emulator) Word(t testing.TB, at uint64) uint64 {
	t.Helper()
	b, err := hex.DecodeString(e.ask(t, fmt.Sprintf("m%x,8", at)))
	if err != nil || len(b) != 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}
