package upload_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/internal/upload"
)

// uploadAnswer is the document that upload prints.
type uploadAnswer struct {
	Counts map[string]int `json:"counts"`
	Absent []struct {
		Name string `json:"name"`
	} `json:"absent"`
}

// TestUploadSchema checks that the output of --format json matches its schema, with every
// outcome.
func TestUploadSchema(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	have := put("have.sym", "MODULE Linux x86 AB have\n")
	fresh := put("new.sym", "MODULE Linux x86 AB new\n")
	done := put("done.sym", "MODULE Linux x86 AB done\n")
	refused := put("refused.sym", "MODULE Linux x86 AB refused\n")
	damaged := put("damaged.sym", "MODULE Linux x86 AB damaged\nFILE 0 a.c")
	broken := put("broken.sym", "no symbols\n")
	other := put("other.sym", "MODULE Linux x86 AB other\n")
	want := put("want", "have/AB\nnew/AB\ndone/AB\nrefused/AB\ndamaged/AB\nabsent/AB\n")
	list := filepath.Join(dir, "list")
	url := testenv.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, "/refused/"):
			w.WriteHeader(http.StatusForbidden)
		case r.Method == http.MethodHead && strings.Contains(r.URL.Path, "/have/"):
			w.Header().Set("Content-Length", "25")
		case r.Method == http.MethodHead:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	call := func(wantStatus int, args ...string) (doc uploadAnswer) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		args = append([]string{"symtool", "upload", "-p", "put", "--format", "json", "--resume", list}, args...)
		if status := app.Run(t.Context(), args, nil, &stdout, &stderr); status != wantStatus {
			t.Fatalf("status %d, want %d: %s", status, wantStatus, stderr.String())
		}
		err := testenv.Validate(t, stdout.Bytes(), "golden/upload/schema.json")
		if err == nil {
			err = json.Unmarshal(stdout.Bytes(), &doc)
		}
		if err != nil {
			t.Errorf("%v\n%s", err, stdout.String())
		}
		return doc
	}
	call(cli.StatusOK, url, done)
	doc := call(cli.StatusOutput, "--damaged", "--list", want, url, have, fresh, done, refused, damaged, broken, other)
	planned := call(cli.StatusOK, "--dry-run", url, fresh, other)
	for o := upload.Uploaded; o <= upload.Rejected; o++ {
		if doc.Counts[o.String()]+planned.Counts[o.String()] == 0 {
			t.Errorf("no file is %v: %v %v", o, doc.Counts, planned.Counts)
		}
	}
	if doc.Counts["absent"] != 1 || len(doc.Absent) != 1 || doc.Absent[0].Name != "absent" {
		t.Errorf("%v", doc.Absent)
	}
}

// TestUploadTemporaries checks that a signal ends an upload soon, and that no temporary
// files are left.
func TestUploadTemporaries(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	path := filepath.Join(t.TempDir(), "a.sym")
	if err := os.WriteFile(path, []byte("MODULE Linux x86 AB a\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	asked, over := make(chan bool, 10), make(chan bool)
	url := testenv.Serve(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case asked <- true:
		default:
		}
		select {
		case <-r.Context().Done():
		case <-over:
		}
	})
	t.Cleanup(func() { close(over) }) // the server notices that the client is gone only after it has read everything
	for _, args := range [][]string{{"-p", "zip"}, {"-p", "put", "--gzip"}} {
		var stdout, stderr bytes.Buffer
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan int)
		go func() {
			ended <- app.Run(ctx, append([]string{"symtool", "upload", url, path}, args...), nil, &stdout, &stderr)
		}()
		<-asked
		cancel(cli.SignalError{Signal: syscall.SIGINT})
		if status := <-ended; status != 130 {
			t.Errorf("%v: status %d: %s", args, status, stderr.String())
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
			t.Errorf("%v: %q are left over", args, left)
		}
		for len(asked) > 0 {
			<-asked
		}
	}
}
