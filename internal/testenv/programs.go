package testenv

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Dump returns the output of symtool dump for a binary.
func Dump(t testing.TB, path string, options ...string) []byte {
	t.Helper()
	var out, problems bytes.Buffer
	cmd := exec.Command(Symtool(t), append(append([]string{"dump"}, options...), path)...)
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil && out.Len() == 0 {
		t.Fatalf("dump %s: %v: %s", path, err, problems.Bytes())
	}
	return out.Bytes()
}

// Output returns what symtool prints, and fails if it does not end with a status.
func Output(t testing.TB, status int, args ...string) string {
	t.Helper()
	c := exec.Command(Symtool(t), args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if got := c.ProcessState.ExitCode(); got != status {
		t.Fatalf("symtool %q: status %d, want %d: %v %s", args, got, status, err, stderr.String())
	}
	return string(out)
}

// Validate reports whether a document has the schema that the arguments of .ci/validate name.
func Validate(t testing.TB, document []byte, args ...string) error {
	t.Helper()
	cmd := exec.Command("go", append([]string{"run", "./.ci/validate"}, args...)...)
	cmd.Dir, cmd.Stdin = Root(t), bytes.NewReader(document)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// Disassemble calls fn for each instruction that objdump finds in a binary.
func Disassemble(t testing.TB, objdump, path string, fn func(addr uint64, code []byte, text string)) {
	t.Helper()
	cmd := exec.Command(Tool(t, objdump), "-dw", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	for in := bufio.NewScanner(out); in.Scan(); {
		place, rest, ok := strings.Cut(strings.TrimSpace(in.Text()), ":")
		addr, err := strconv.ParseUint(place, 16, 64)
		if !ok || err != nil {
			continue
		}
		raw, text, ok := strings.Cut(strings.TrimSpace(rest), "\t")
		raw = strings.TrimSpace(raw)
		code, err := hex.DecodeString(strings.ReplaceAll(raw, " ", ""))
		if ok && err == nil {
			fn(addr, code, text)
		}
	}
}

// DOM loads a page in Chromium, and returns the document after its scripts.
func DOM(t testing.TB, page string) string {
	t.Helper()
	browser := Tool(t, "chromium")
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+Scratch(t), "--window-size=1280,1600",
		"--virtual-time-budget=20000", "--dump-dom", "file://"+file)
	cmd.Stderr = &stderr
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v\n%s", err, stderr.String())
	}
	return string(dom)
}

// StartReady starts a program, which ends with the test, and waits for its first line: it is ready then.
func StartReady(t testing.TB, path string, args ...string) (c *exec.Cmd, line string) {
	t.Helper()
	c = exec.Command(path, args...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	if line, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%s: %v after %q", path, err, line)
	}
	return c, line
}
