// The program of `make dist`: archives with the program for each CPU, its licences and manuals, a Debian package, a
// container image and an SBOM for each, and their checksums. For one commit and one version of Go the bytes are the same,
// in any folder, at any time.
package main

import (
	"debug/buildinfo"
	"flag"
	"fmt"
	"log"
	"net/mail"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix(".ci/dist: ")
	output := flag.String("o", "build/dist", "`folder` that is made anew")
	cpus := flag.String("cpus", "amd64,arm64", "`list` of CPUs")
	var by origin
	flag.StringVar(&by.maintainer, "maintainer", "the authors of symtool <symtool@example.org>", "`NAME <ADDRESS>` of whoever answers for the packages")
	flag.StringVar(&by.homepage, "homepage", "https://github.com/symtool/symtool", "`URL` of the home page in the packages")
	list := flag.Bool("list", false, "print the documents of an archive, and make nothing")
	flag.Parse()
	if *list {
		files, err := documents()
		if err != nil {
			log.Fatal(err)
		}
		for _, f := range files {
			fmt.Println(f.name)
		}
		return
	}
	if err := by.check(); err != nil {
		log.Fatal(err)
	}
	if err := run(*output, strings.Split(*cpus, ","), by); err != nil {
		log.Fatal(err)
	}
}

// origin says who makes the release. The Makefile takes it from MAINTAINER and HOMEPAGE.
type origin struct{ maintainer, homepage string }

// check returns an error unless the values are valid in the fields of a Debian package (Debian Policy, 5.6.2 and
// 5.6.23).
func (o origin) check() error {
	if a, err := mail.ParseAddress(o.maintainer); err != nil || a.Name == "" || strings.ContainsAny(o.maintainer, "\r\n") {
		return fmt.Errorf("-maintainer is %q, want NAME <ADDRESS>", o.maintainer)
	}
	if u, err := url.Parse(o.homepage); err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("-homepage is %q, want a URL with https", o.homepage)
	}
	return nil
}

// release is the release for one CPU.
type release struct {
	origin
	name    string // of the folder in the archive
	cpu     string
	version string
	date    time.Time
	program string // path
	info    *buildinfo.BuildInfo
	notices []notice
}

func run(output string, cpus []string, by origin) error {
	date, err := sourceDate()
	if err != nil {
		return err
	}
	// Remove files of an older release.
	if err := os.RemoveAll(output); err != nil {
		return err
	}
	if err := os.MkdirAll(output, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "dist")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	host := filepath.Join(work, "host")
	if err := build(host, runtime.GOARCH); err != nil {
		return err
	}
	version, err := versionOf(host)
	if err != nil {
		return err
	}
	common, err := commonFiles(host)
	if err != nil {
		return err
	}
	for _, cpu := range cpus {
		r := &release{origin: by, name: "symtool-" + version + "-linux-" + cpu, cpu: cpu, version: version, date: date, program: filepath.Join(work, cpu)}
		if err := r.write(output, common); err != nil {
			return fmt.Errorf("%s: %w", cpu, err)
		}
	}
	return checksums(output)
}

func (r *release) write(output string, common []file) error {
	if err := build(r.program, r.cpu); err != nil {
		return err
	}
	var err error
	if r.info, err = buildinfo.ReadFile(r.program); err != nil {
		return err
	}
	if r.notices, err = notices(r.cpu, r.info); err != nil {
		return err
	}
	program, err := os.ReadFile(r.program)
	if err != nil {
		return err
	}
	files := append([]file{{"symtool", program, 0o755}, {"THIRD-PARTY-LICENSES", noticeText(r.info, r.notices), 0o644}}, common...)
	archive, err := packed(r.name, files, r.date)
	if err != nil {
		return err
	}
	if err := r.deb(output, files); err != nil {
		return err
	}
	if err := r.image(output, files); err != nil {
		return err
	}
	bom, err := r.bom(program)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(output, r.name+".cdx.json"), bom, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(output, r.name+".tar.gz"), archive, 0o644)
}

// build builds the program for a CPU.
func build(program, cpu string) error {
	cmd := exec.Command(".ci/release", program)
	cmd.Env = append(os.Environ(), "GOARCH="+cpu)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf(".ci/release: %w", err)
	}
	return nil
}

// versionOf asks the program: "symtool 1.2.3 (go1.26 linux/amd64)".
func versionOf(program string) (string, error) {
	out, err := exec.Command(program, "--version").Output()
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(out))
	if len(words) < 2 || words[0] != "symtool" {
		return "", fmt.Errorf("no version in %q", out)
	}
	return words[1], nil
}

// sourceDate returns $SOURCE_DATE_EPOCH, or else the date of the last commit.
func sourceDate() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.Command("git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("no SOURCE_DATE_EPOCH, and git log: %w", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, want seconds since 1970", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// commonFiles returns the files that every archive has. host is the program for this machine.
func commonFiles(host string) ([]file, error) {
	files, err := documents()
	if err != nil {
		return nil, err
	}
	pages, err := filepath.Glob("docs/man/*.1")
	if err != nil || len(pages) == 0 {
		return nil, fmt.Errorf("no manual pages in docs/man: %v", err)
	}
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"share/man/man1/" + filepath.Base(page), data, 0o644})
	}
	for shell, name := range map[string]string{
		"bash": "share/bash-completion/completions/symtool",
		"zsh":  "share/zsh/site-functions/_symtool",
		"fish": "share/fish/vendor_completions.d/symtool.fish",
	} {
		text, err := exec.Command(host, "completion", shell).Output()
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, text, 0o644})
	}
	return files, nil
}
