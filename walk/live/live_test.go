package live

import (
	"reflect"
	"strings"
	"testing"

	"github.com/symtool/symtool/walk/dump"
)

func TestParseMaps(t *testing.T) {
	const text = `5578e0000000-5578e0001000 r--p 00000000 fd:01 123                        /usr/bin/a b (deleted)
7f90-7fa0 rwxs 00002000 00:05 9 /dev/a\012b
7ffc0000-7ffc1000 rw-p 00000000 00:00 0                                  [stack]
7ffd0000-7ffd1000 ---p 00000000 00:00 0
`
	got, err := parseMaps(strings.NewReader(text))
	want := []dump.Mapping{
		{Range: dump.Range{Addr: 0x5578e0000000, Size: 0x1000}, Read: true, Device: "fd:01", Inode: 123, Path: "/usr/bin/a b (deleted)"},
		{Range: dump.Range{Addr: 0x7f90, Size: 0x10}, Read: true, Write: true, Exec: true, Shared: true, Offset: 0x2000, Device: "00:05", Inode: 9, Path: "/dev/a\nb"},
		{Range: dump.Range{Addr: 0x7ffc0000, Size: 0x1000}, Read: true, Write: true, Device: "00:00", Path: "[stack]"},
		{Range: dump.Range{Addr: 0x7ffd0000, Size: 0x1000}, Device: "00:00"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"x", "1-2", "2-1 r--p 0 0 0", "1-2 r--p 0 0 x", "1 2", " ", "1-2 r-p 0 0 0"} {
		if maps, err := parseMaps(strings.NewReader(bad)); err == nil || !strings.HasPrefix(err.Error(), "maps:1: ") {
			t.Errorf("%q: %v, %v", bad, maps, err)
		}
	}
}
