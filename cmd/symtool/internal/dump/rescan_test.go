package dump

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/supplier"
)

// copies returns n files that differ only in their build-ids.
func copies(t *testing.T, input string, n int) (all [][]byte) {
	t.Helper()
	data := testenv.ReadInput(t, input)
	id, err := hex.DecodeString(supplier.ReadBinaries(bytes.NewReader(data), int64(len(data)), input)[0].BuildID)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		all = append(all, bytes.ReplaceAll(data, id, append(fmt.Appendf(nil, "%08d", i), id[8:]...)))
	}
	return all
}

// writeTar writes an archive of files named by their numbers.
func writeTar(t *testing.T, path, prefix string, files [][]byte) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i, data := range files {
		err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%s%d", prefix, i), Mode: 0o644, Size: int64(len(data))})
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), os.WriteFile(path, b.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// dumpAgain dumps packages, and returns the number of times that each was read again,
// the number of files, and the messages.
func dumpAgain(t *testing.T, scratch int64, paths ...string) (again []int, files, messages string) {
	t.Helper()
	var out bytes.Buffer
	cfg := &dumpConfig{store: t.TempDir(), jobs: 2, files: paths, packages: packageLimits{unpacked: 1 << 30, ratio: 100, scratch: scratch}}
	d := &dumper{dumpConfig: cfg, stdout: io.Discard, msgs: cli.NewMessages(&out)}
	_ = d.run(context.Background()) // findings are in the messages
	names, _ := filepath.Glob(cfg.store + "/*/*/*")
	return d.again, fmt.Sprint(len(names)), out.String()
}

// TestReadAgain checks how often packages are read again: once for debug files without
// binaries, however many do not fit in the scratch space, and a bounded number of times
// for pairs.
func TestReadAgain(t *testing.T) {
	const n = 60
	dir := t.TempDir()
	debug, binaries := copies(t, "soname.debug", n), copies(t, "soname.elf", n)
	pair := int64(len(debug[0]) + len(binaries[0]))
	both, one, other := filepath.Join(dir, "both.tar"), filepath.Join(dir, "one.tar"), filepath.Join(dir, "other.tar")
	writeTar(t, one, "debug", debug)
	writeTar(t, other, "lib", binaries)
	writeTar(t, both, "", append(binaries, debug...))

	again, files, messages := dumpAgain(t, 2*pair, one)
	if again[0] != 1 || files != fmt.Sprint(n) {
		t.Errorf("debug files alone: read %d times again, %s symbol files, want once and %d: %.300s", again, files, n, messages)
	}
	// Ten pairs fit at the same time.
	again, files, messages = dumpAgain(t, 20*pair, other, one)
	if again[0] > 6 || again[1] > 6 || files != fmt.Sprint(n) || messages != "" {
		t.Errorf("pairs in two packages: read %d times again, %s symbol files, want at most 6 times, and %d: %.300s", again, files, n, messages)
	}
	// Two pairs fit. The pairs that are left after maxRescans times are reported.
	again, files, messages = dumpAgain(t, 4*pair, both)
	lost := strings.Count(messages, "needs a larger --scratch")
	if again[0] != maxRescans || lost == 0 || files != fmt.Sprint(n-lost) {
		t.Errorf("pairs that do not fit: read %d times again, %s symbol files, %d lost of %d; want %d times, and no other lost: %.300s", again, files, lost, n, maxRescans, messages)
	}
}
