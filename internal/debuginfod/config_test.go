package debuginfod

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestFromEnv(t *testing.T) {
	home := t.TempDir()
	old := filepath.Join(home, "old")
	if err := os.MkdirAll(filepath.Join(old, ".debuginfod_client_cache"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env  string // NAME=value, separated by ";"
		want Config
		err  string
	}{
		{"", Config{Timeout: 90 * time.Second, MaxSize: 16 << 30}, ""},
		{"DEBUGINFOD_URLS= http://a  https://b/c ;HOME=" + home,
			Config{URLs: []string{"http://a", "https://b/c"}, Cache: home + "/.cache/debuginfod_client", Timeout: 90 * time.Second, MaxSize: 16 << 30}, ""},
		{"XDG_CACHE_HOME=/x;HOME=" + home, Config{Cache: "/x/debuginfod_client", Timeout: 90 * time.Second, MaxSize: 16 << 30}, ""},
		{"XDG_CACHE_HOME=/x;HOME=" + old, Config{Cache: old + "/.debuginfod_client_cache", Timeout: 90 * time.Second, MaxSize: 16 << 30}, ""},
		{"DEBUGINFOD_CACHE_PATH=/y;XDG_CACHE_HOME=/x;HOME=" + old, Config{Cache: "/y", Timeout: 90 * time.Second, MaxSize: 16 << 30}, ""},
		{"DEBUGINFOD_TIMEOUT=5;DEBUGINFOD_MAXTIME=7;DEBUGINFOD_MAXSIZE=9", Config{Timeout: 5 * time.Second, MaxTime: 7 * time.Second, MaxSize: 9}, ""},
		{"DEBUGINFOD_TIMEOUT=-1;DEBUGINFOD_MAXTIME=0;DEBUGINFOD_MAXSIZE=0", Config{}, ""},
		{"DEBUGINFOD_URLS=ima:ignore http://a ima:permissive http://b", Config{URLs: []string{"http://a", "http://b"}, Timeout: 90 * time.Second, MaxSize: 16 << 30}, ""},
		{"DEBUGINFOD_URLS=ima:enforcing http://a", Config{}, `DEBUGINFOD_URLS has "ima:enforcing"`},
		{"DEBUGINFOD_TIMEOUT=soon", Config{}, `DEBUGINFOD_TIMEOUT is "soon", want a number of seconds`},
		{"DEBUGINFOD_MAXTIME=9223372036854775807", Config{}, `DEBUGINFOD_MAXTIME is "9223372036854775807"`},
		{"DEBUGINFOD_MAXSIZE=-1", Config{}, `DEBUGINFOD_MAXSIZE is "-1", want a number of bytes`},
	} {
		env := map[string]string{}
		for _, one := range strings.Split(c.env, ";") {
			name, value, _ := strings.Cut(one, "=")
			env[name] = value
		}
		got, err := FromEnv(func(name string) string { return env[name] })
		if c.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.env, err, c.err)
			}
			continue
		}
		if len(got.URLs) == 0 {
			got.URLs = nil
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", c.env, got, err, c.want)
		}
	}
}

func TestParseBuildID(t *testing.T) {
	if id, err := ParseBuildID("00aBff"); err != nil || string(id) != "\x00\xab\xff" {
		t.Errorf("%x, %v", id, err)
	}
	for _, bad := range []string{"", "a", "xy", "../..", strings.Repeat("ab", 65)} {
		if id, err := ParseBuildID(bad); err == nil {
			t.Errorf("%q: %x", bad, id)
		}
	}
}
