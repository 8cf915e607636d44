package integration_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// replay runs an action of the log again as on a remote machine with nothing installed: in a root
// folder with only the declared inputs, without environment and network. It returns how the result
// differs from the log.
func (s *spawn) replay(t *testing.T, execRoot string) string {
	t.Helper()
	root, err := os.MkdirTemp(filepath.Dir(execRoot), "replay")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	for _, in := range s.Inputs {
		if err := placeFile(filepath.Join(execRoot, in.Path), filepath.Join(root, in.Path)); err != nil {
			t.Fatal(err)
		}
	}
	for _, out := range s.ListedOutputs {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, out)), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	cmd := &exec.Cmd{
		Path: "/" + s.CommandArgs[0], Args: s.CommandArgs, Env: []string{}, Dir: "/", Stdout: &said, Stderr: &said,
		SysProcAttr: &syscall.SysProcAttr{Chroot: root, Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}},
	}
	if err := cmd.Run(); err != nil {
		return fmt.Sprintf("%s: %v: %s", filepath.Base(s.ListedOutputs[0]), err, strings.TrimSpace(said.String()))
	}
	return s.compare(t, root)
}

// placeFile links or copies a file of the build into the folder.
func placeFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(from)
	if err != nil {
		return err
	}
	if os.Link(real, to) == nil {
		return nil
	}
	data, err := os.ReadFile(real)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o777)
}

// compare compares all outputs with the log.
func (s *spawn) compare(t *testing.T, root string) string {
	t.Helper()
	want := map[string]string{}
	for _, out := range s.ActualOutputs {
		want[out.Path] = out.Digest.Hash
	}
	for _, out := range s.ListedOutputs {
		err := filepath.WalkDir(filepath.Join(root, out), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(data)
			rel, _ := filepath.Rel(root, name)
			if want[rel] != hex.EncodeToString(sum[:]) {
				return fmt.Errorf("%s: %d bytes that differ from the build's", filepath.Base(rel), len(data))
			}
			delete(want, rel)
			return nil
		})
		if err != nil {
			return err.Error()
		}
	}
	if len(want) > 0 {
		return fmt.Sprintf("%s: %d files of the build are missing", filepath.Base(s.ListedOutputs[0]), len(want))
	}
	return ""
}
