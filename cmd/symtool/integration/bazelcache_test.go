package integration_test

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// httpCache is nginx with WebDAV, for Bazel's --remote_cache.
type httpCache struct {
	url, dir, log string
	read          int // bytes of the log that have been counted
}

const nginxConfig = `daemon off;
worker_processes 2;
pid %[1]s/pid;
error_log %[1]s/error.log;
events { worker_connections 512; }
http {
	log_format short '$request_method $status';
	access_log %[1]s/access.log short;
	client_max_body_size 0;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	keepalive_requests 100000;
	server {
		listen %[2]s;
		root %[1]s/cache;
		location / {
			dav_methods PUT;
			create_full_put_path on;
		}
	}
}
`

// newHTTPCache starts nginx on a port of its own, with all its files in dir.
func newHTTPCache(t *testing.T, dir string) *httpCache {
	t.Helper()
	nginx := testenv.Tool(t, "nginx")
	if err := os.MkdirAll(filepath.Join(dir, "cache"), 0o777); err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", testenv.FreePort(t))
	config := fmt.Sprintf(nginxConfig, dir, address)
	if os.Getuid() == 0 {
		config = "user root;\n" + config // nginx's folders belong to the user who runs the test
	}
	name := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(name, []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(nginx, "-c", name, "-p", dir, "-e", filepath.Join(dir, "error.log"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	awaitServer(t, address, filepath.Join(dir, "error.log"))
	return &httpCache{url: "http://" + address, dir: filepath.Join(dir, "cache"), log: filepath.Join(dir, "access.log")}
}

func awaitServer(t *testing.T, address, log string) {
	t.Helper()
	testenv.Until(t, "nginx, whose log is "+log, func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// requests counts the requests since the last call, by method and status.
func (c *httpCache) requests(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile(c.log)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(text[c.read:])) {
		counts[strings.TrimSpace(line)]++
	}
	c.read = len(text)
	return counts
}

// size returns the number of entries in the cache, and their size in bytes.
func (c *httpCache) size(t *testing.T) (files int, bytes int64) {
	t.Helper()
	err := filepath.WalkDir(c.dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			files, bytes = files+1, bytes+info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, bytes
}
