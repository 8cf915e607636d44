package debugset

import (
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
)

func TestSplitObjects(t *testing.T) {
	s := Split{Files: []*object.File{{Path: "bin/a"}, nil, {Path: "dbg/a"}}, Dirs: []string{"far"}}
	for _, c := range []struct {
		dir, name, want string
	}{
		{"/src", "a.dwo", "/src/a.dwo bin/a.dwo dbg/a.dwo far/a.dwo"},
		{"/src", "obj/a.dwo", "/src/obj/a.dwo bin/obj/a.dwo bin/a.dwo dbg/obj/a.dwo dbg/a.dwo far/obj/a.dwo far/a.dwo"},
		{"/src", "/obj/a.dwo", "/obj/a.dwo bin/a.dwo dbg/a.dwo far/obj/a.dwo far/a.dwo"},
		{"", "a.dwo", "bin/a.dwo dbg/a.dwo far/a.dwo"},
		{"/src", strings.Repeat("x", maxPath), ""},
	} {
		if got := strings.Join(s.Objects(c.dir, c.name), " "); got != c.want {
			t.Errorf("%.20s, %.20s: %s, want %s", c.dir, c.name, got, c.want)
		}
	}
}
