package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// These tests cannot use internal/testenv: goldie, which it imports, and Beam's runner
// for Dataflow both have a flag -update. The variables are the same.

// rootDir returns the folder of symtool's own module.
func rootDir(t testing.TB) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// sharedData returns the folder of shared test data; without it the test is skipped.
func sharedData(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("SYMTOOL_SHARED")
	if dir == "" {
		dir = filepath.Join(rootDir(t), "..", "shared")
	}
	dir = filepath.Join(dir, "data")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no shared test data: %v", err)
	}
	return dir
}

// oracle reports whether to compare with other tools' answers, and whether with all.
func oracle(t testing.TB) (full bool) {
	t.Helper()
	switch value := os.Getenv("SYMTOOL_ORACLE"); value {
	case "1", "full":
		return value == "full"
	}
	t.Skip("compares with other tools: runs with SYMTOOL_ORACLE=1")
	return false
}

func tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%v: install it with apt-get", err)
	}
	return path
}
