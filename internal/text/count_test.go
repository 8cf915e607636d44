package text

import "testing"

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 files": Count(0, "file"), "1 file": Count(1, "file"), "2 addresses": Count(uint64(2), "address"),
	} {
		if got != want {
			t.Errorf("Count is %q, want %q", got, want)
		}
	}
}

func TestBase(t *testing.T) {
	for path, want := range map[string]string{"": "", "a": "a", "/usr/lib/a.so": "a.so", `C:\x/y\a.dll`: "a.dll", "a/": ""} {
		if got := Base(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
