package dropin

import (
	"strings"
	"testing"
)

func TestSymbolServers(t *testing.T) {
	const system = " --debug-dir=/usr/lib/debug"
	folder := t.TempDir()
	for _, c := range []struct{ config, want string }{
		{"", ""},
		{"srv*https://a/b", "--symbol-url=https://a/b"},
		{"SRV*" + folder + "*https://a/b", "--symbol-url=https://a/b --symbol-cache=" + folder + " --debug-dir=" + folder + system},
		{"srv**nosuch*http://a;srv*http://b", "--symbol-url=http://a --symbol-url=http://b --symbol-cache=nosuch"},
		{"cache*nosuch; srv*http://b ;", "--symbol-url=http://b --symbol-cache=nosuch"},
		{"srv*" + folder, "--debug-dir=" + folder + system},
		{folder, "--debug-dir=" + folder + system},
		{"nosuch", ""},
		{"srv*", `--symbol-server has "srv*", want srv*CACHE*URL, cache*CACHE or a folder`},
		{"srv", `--symbol-server has "srv", want srv*CACHE*URL, cache*CACHE or a folder`},
		{"ftp*x*y", `--symbol-server has "ftp*x*y", want srv*CACHE*URL, cache*CACHE or a folder`},
		{"srv*http://a*http://b", `--symbol-server has the cache "http://a", want a folder`},
	} {
		flags, err := symbolServers(c.config)
		got := strings.Join(flags, " ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.config, got, c.want)
		}
	}
}
