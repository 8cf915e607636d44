package dumpfile

import (
	"strings"
	"testing"
)

// Dumps of a kernel in formats that are not read are named, with what to do.
func TestKernelDumps(t *testing.T) {
	for head, want := range map[string]string{
		"KDUMP   \x06\x00\x00\x00Linux": "makedumpfile compresses", "DISKDUMP\x00": "diskdump", "makedumpfile\x00\x00\x00\x00": "makedumpfile -R",
	} {
		_, err := Read([]byte(head), "vmcore", Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", head, err, want)
		}
	}
}
