package symdiff

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestSpoolLimit checks how a text beyond the limit is treated: if it is compressed, the part
// before the limit is compared; otherwise, such as from a pipe, it is an error.
func TestSpoolLimit(t *testing.T) {
	const most = 100
	text := "MODULE Linux x86_64 0 m\n" + strings.Repeat("PUBLIC 1000 0 p\n", 10)
	packed := testenv.Gzip(t, text)
	for _, tt := range []struct {
		name, data  string
		most        int64
		damage, err string
	}{
		{"all of the text", text, int64(len(text)), "", ""},
		{"text", text, most, "", "m.sym: 184 bytes or more, want at most 100"},
		{"all of the packed text", packed, int64(len(text)), "", ""},
		{"packed text", packed, most, "m.sym: 184 bytes or more, want at most 100", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := spool(strings.NewReader(tt.data), "m.sym", tt.most)
			if s != nil {
				defer s.Close()
			}
			if got := errorText(err); got != tt.err {
				t.Fatalf("error %q, want %q", got, tt.err)
			}
			if err != nil {
				return
			}
			if got := errorText(s.damage); got != tt.damage {
				t.Errorf("damage %q, want %q", got, tt.damage)
			}
			if s.size > tt.most {
				t.Errorf("%d bytes of text, want at most %d", s.size, tt.most)
			}
		})
	}
}

// Only a large text needs a temporary file.
func TestSpoolInMemory(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	for _, c := range []struct {
		size int
		ok   bool
	}{{100, true}, {inMemory - 1, true}, {inMemory, runtime.GOOS == "windows"}} {
		s, err := Spool(strings.NewReader(strings.Repeat("\n", c.size)), "m.sym")
		if (err == nil) != c.ok {
			t.Fatalf("%d bytes: error %v", c.size, err)
		}
		if err == nil && s.Bytes() != int64(c.size) {
			t.Errorf("%d bytes of %d", s.Bytes(), c.size)
		}
		if err == nil {
			s.Close()
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
