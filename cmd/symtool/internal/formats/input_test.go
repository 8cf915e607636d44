package formats

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestOpenDamaged checks that the format is detected by what comes before an error of reading, and that the error is
// reported where that does not suffice.
func TestOpenDamaged(t *testing.T) {
	for _, c := range []struct{ text, from, format, want string }{
		{"MODULE Linux x86_64 0 x\n", "", "breakpad", ""},
		{"MODULE Linux x86_64 0 x\n", "breakpad", "breakpad", ""},
		{"some text", "", "", "checksum"},
		{"some text", "pdb", "", "checksum"},
	} {
		path := filepath.Join(t.TempDir(), "x.gz")
		testenv.WriteFile(t, path, testenv.DamagedGzip(t, c.text))
		in, err := Open(path, c.from)
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q, --from %q: error %v, want %q", c.text, c.from, err, c.want)
			}
		case err != nil || in.Format.Name != c.format:
			t.Errorf("%q, --from %q: %v, want the format %s", c.text, c.from, err, c.format)
		default:
			in.Close()
		}
	}
}
