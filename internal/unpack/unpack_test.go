package unpack

import (
	"bytes"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

func mustUnpack(t *testing.T, data []byte) io.Reader {
	t.Helper()
	z, err := Find(data).Open(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// Files written by the programs themselves are read, in each format variant that they can write.
func TestOraclePackers(t *testing.T) {
	testenv.Oracle(t)
	data := testenv.Gunzip(t, testenv.Input(t, "crashes", "stacks.core.gz"))
	for _, args := range [][]string{
		{"zstd"}, {"zstd", "-19"}, {"zstd", "--ultra", "-20"}, {"zstd", "--ultra", "-22", "--stream-size=270336"}, {"zstd", "--no-check"}, {"xz"}, {"xz", "-9"}, {"xz", "-T2", "--block-size=65536"},
		{"xz", "--check=none"}, {"xz", "--check=sha256"}, {"lz4"}, {"lz4", "-9", "-B4", "-BD"}, {"lz4", "--no-frame-crc", "-BX"}, {"gzip"},
	} {
		cmd := exec.Command(testenv.Tool(t, args[0]), append(args[1:], "-c")...)
		cmd.Stdin = bytes.NewReader(data)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(args, err)
		}
		got, err := io.ReadAll(mustUnpack(t, out))
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%v: %d bytes, want %d: %v", args, len(got), len(data), err)
		}
	}
}

// A window of 128 MiB for a small file, for which zstd --long asks if it reads from a pipe, is
// rejected.
func TestOracleWindow(t *testing.T) {
	testenv.Oracle(t)
	cmd := exec.Command(testenv.Tool(t, "zstd"), "--long=27", "-c")
	cmd.Stdin = strings.NewReader(strings.Repeat("text and more\n", 10000))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	const want = "a frame asks for more than 32 MiB of memory"
	if _, err := io.ReadAll(mustUnpack(t, out)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// bzip2 data are read, also in several streams, as pbzip2 writes them; damaged data are an error.
func TestBzip2(t *testing.T) {
	data := []byte("\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\xcb\x28\xd3\x2d\x00\x00\x00\x81\x80\x02\x00\x04\x40\x20\x00\x21\x98\x19\x83\x2c\x2e\xe4\x8a\x70\xa1\x21\x96\x51\xa6\x5a\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\xee\x68\xc6\xba\x00\x00\x00\x11\x80\x40\x00\x26\x03\x90\x00\x20\x00\x31\x0c\x08\x21\x82\x68\x91\x94\xce\xbe\x2e\xe4\x8a\x70\xa1\x21\xdc\xd1\x8d\x74")
	if got, err := io.ReadAll(mustUnpack(t, data)); err != nil || string(got) != "text and more" {
		t.Errorf("got %q, %v, want both streams", got, err)
	}
	data[12] ^= 1 // of the first block's checksum
	if got, err := io.ReadAll(mustUnpack(t, data)); err == nil {
		t.Errorf("damaged: got %q, want an error", got)
	}
}

// Other data have no compression.
func TestFind(t *testing.T) {
	for _, data := range []string{"", "\x1f", "BZ", "\x7fELF", "PK\x03\x04"} {
		if p := Find([]byte(data)); p != nil {
			t.Errorf("%q: %s, want none", data, p.Name)
		}
	}
}
