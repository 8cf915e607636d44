package dump

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// dumpStore dumps operands into a store, and returns its files and the messages.
func dumpStore(t *testing.T, jobs int, scratch int64, operands ...string) (files map[string]string, messages string) {
	t.Helper()
	var out bytes.Buffer
	cfg := &dumpConfig{store: t.TempDir(), jobs: jobs, files: operands, packages: packageLimits{unpacked: 1 << 30, ratio: 100, scratch: scratch}}
	d := &dumper{dumpConfig: cfg, stdout: io.Discard, msgs: cli.NewMessages(&out)}
	_ = d.run(context.Background()) // findings are in the messages
	files = map[string]string{}
	filepath.WalkDir(cfg.store, func(path string, e os.DirEntry, err error) error {
		if data, err := os.ReadFile(path); err == nil {
			files[strings.TrimPrefix(path, cfg.store)] = string(data)
		}
		return nil
	})
	return files, out.String()
}

// TestPackages checks that a package gives the symbol files of the folder that was packed, with any number of jobs,
// and where members must be read again; and that a damaged package costs what is damaged.
func TestPackages(t *testing.T) {
	dir := t.TempDir()
	var debug, rest bytes.Buffer
	largest := int64(0)
	first, second := tar.NewWriter(&debug), tar.NewWriter(&rest)
	for _, name := range []string{"eu-strip.debug", "eu-strip.elf", "nodebug.elf", "gcc-O2.elf"} {
		data, err := os.ReadFile(filepath.Join(testenv.Root(t), "golden", "input", name))
		if err != nil {
			continue
		}
		os.WriteFile(filepath.Join(dir, name), data, 0o666)
		largest = max(largest, int64(len(data)))
		w := second
		if strings.HasSuffix(name, ".debug") {
			w = first
		}
		w.WriteHeader(&tar.Header{Name: "usr/lib/" + name, Mode: 0o644, Size: int64(len(data))})
		w.Write(data)
	}
	first.Close()
	second.Close()
	packages := t.TempDir()
	a, b := filepath.Join(packages, "a.tar"), filepath.Join(packages, "b.tar")
	os.WriteFile(a, debug.Bytes(), 0o666)
	os.WriteFile(b, rest.Bytes(), 0o666)
	want, _ := dumpStore(t, 1, 1<<20, dir)
	if len(want) < 2 {
		t.Fatalf("%d symbol files, want some", len(want))
	}
	for _, c := range []struct {
		jobs     int
		scratch  int64
		operands []string
	}{{1, 1 << 24, []string{a, b}}, {4, 1 << 24, []string{b, a}}, {2, 1 << 24, []string{packages}}, {1, largest, []string{a, b}}, {4, largest, []string{a, b}}} {
		if got, messages := dumpStore(t, c.jobs, c.scratch, c.operands...); !maps.Equal(got, want) {
			t.Errorf("%d jobs, scratch of %d: %d symbol files, want the %d of the folder: %s", c.jobs, c.scratch, len(got), len(want), messages)
		}
	}
	os.WriteFile(b, rest.Bytes()[:rest.Len()/2], 0o666)
	if _, messages := dumpStore(t, 1, 1<<24, b); !strings.Contains(messages, b+"(usr/lib/") || !strings.Contains(messages, "unexpected EOF") {
		t.Errorf("of a cut package: %q, want the member and why", messages)
	}
}
