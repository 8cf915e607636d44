package dropin_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/internal/testenv"
)

// switchingRows has, for each row of the tables in docs/switching-*.md, pairs of command lines that execute it: one of
// the other program, and one of symtool with the same output. Text after "says " is instead contained in the other
// program's output or messages.
var switchingRows = map[string][][2]string{
	// Breakpad's dump_syms
	"`dump_syms FILE`":   {{"dump_syms --dialect breakpad a.elf", "dump --no-generator --no-inlines a.elf"}},
	"`-i`":               {{"dump_syms -i a.elf", "dump --no-generator --module-only a.elf"}},
	"`-c`":               {{"dump_syms -c a.elf", "dump --no-generator --no-inlines --no-cfi a.elf"}},
	"`-d`":               {{"dump_syms -d a.elf", "dump --no-generator a.elf"}},
	"`-r`, `-m`":         {{"dump_syms -r -m a.elf", "dump --no-generator --no-inlines a.elf"}},
	"`-n NAME`, `-o OS`": {{"dump_syms -i -n other -o Android a.elf", "dump --no-generator --module-only --name other --os Android a.elf"}},
	"`-v`":               {{"dump_syms -r -v a.elf", "says functions, "}},
	"`FILE DIR`":         {{"dump_syms -r stripped.elf debug", "dump --no-generator --no-inlines stripped.elf debug/eu-strip.debug"}},
	// Mozilla's
	"`dump_syms FILE`, Mozilla's":                   {{"dump_syms a.elf", "dump --no-inlines a.elf"}},
	"`--inlines`":                                   {{"dump_syms --inlines a.elf", "dump a.elf"}},
	"`-o FILE`, `-s DIR`":                           {{"dump_syms --inlines -o - a.elf", "dump --output - a.elf"}, {"dump_syms --inlines -s one a.elf", "dump --store two a.elf"}, {"dump_syms --inlines one/a.elf/A27E41F938E3932E94FB8368AAFCB6300/a.elf.sym", "says not a binary but a symbol file"}},
	"`FILE DEBUGFILE`, in any order":                {{"dump_syms --inlines debug/eu-strip.debug stripped.elf", "dump stripped.elf debug/eu-strip.debug"}, {"dump_syms --inlines stripped.elf debug/eu-strip.debug", "dump stripped.elf debug/eu-strip.debug"}},
	"`--check-cfi`":                                 {{"dump_syms --inlines --check-cfi a.elf", "dump --check-cfi --min-cfi 1 a.elf"}},
	"`--mapping-var VAR=VALUE`":                     {{"dump_syms --mapping-var r=1 --mapping-src ^/src/(.*)$ --mapping-dest x:{1}:{r} a.elf", "dump --no-inlines --map-var r=1 --map ^/src/(.*)$=x:{1}:{r} a.elf"}},
	"`--mapping-src REGEX --mapping-dest TEMPLATE`": {{"dump_syms --mapping-src ^/src/(.*)$ --mapping-dest x:{1} a.elf", "dump --no-inlines --map ^/src/(.*)$=x:{1} a.elf"}},
	"`--mapping-file FILE`":                         {{"dump_syms --mapping-file map.json a.elf", "dump --no-inlines --map-file map.json a.elf"}},
	"`--extra-info TEXT`, `--no-generator`":         {{"dump_syms --no-generator --extra-info CHANNEL_nightly a.elf", "says --info is \"CHANNEL_nightly\", want a keyword"}, {"dump_syms --inlines --no-generator a.elf", "dump --no-generator a.elf"}},
	"`--keep-mangled`":                              {{"dump_syms --keep-mangled stripped.elf debug/eu-strip.debug", "dump --no-inlines --demangle none stripped.elf debug/eu-strip.debug"}},
	"`-a ARCH`, `-j N`, `--verbose LEVEL`":          {{"dump_syms --inlines -a arm64 -j 2 --verbose error fat", "dump --arch arm64 --jobs 2 --log-level error fat"}},
	"`--list-arch`":                                 {{"dump_syms --list-arch fat", "says x86_64, arm64"}},
	"`--symbol-server 'srv*CACHE*URL'`":             {{"dump_syms --inlines --symbol-server srv*cache*http://localhost:1 a.elf", "dump --symbol-url http://localhost:1 --symbol-cache cache a.elf"}},
	"`-t`":                                          {{"dump_syms --inlines -t elf a.elf", "dump a.elf"}},
	"`--debug-id`, `--code-id`":                     {{"dump_syms --debug-id A27E41F938E3932E94FB8368AAFCB6300 a.pdb", "says --debug-id is not supported"}, {"dump_syms --code-id F9417EA2 a.pdb", "says --code-id is not supported"}},
	// Breakpad's minidump_stackwalk
	"`minidump_stackwalk DUMP DIR...`": {{"minidump_stackwalk crash.dmp symbols", "walk --hermetic --symbols symbols crash.dmp"}},
	"`-m`":                             {{"minidump_stackwalk -m crash.dmp symbols", "walk --hermetic --symbols symbols --format machine crash.dmp"}},
	"`-s`, `-c`, `-b`":                 {{"minidump_stackwalk -s -c crash.dmp symbols", "walk --hermetic --symbols symbols --stack-bytes --crashed-only crash.dmp"}, {"minidump_stackwalk -b crash.dmp symbols", "walk --hermetic --symbols symbols --brief crash.dmp"}},
	// rust-minidump's
	"`--human`, `--json`":                        {{"minidump-stackwalk --human crash.dmp symbols", "walk --hermetic --symbols symbols --format text crash.dmp"}, {"minidump-stackwalk --json crash.dmp symbols", "walk --hermetic --symbols symbols --format json crash.dmp"}},
	"`--cyborg FILE`":                            {{"minidump-stackwalk --cyborg both.json crash.dmp symbols", "walk --hermetic --symbols symbols crash.dmp"}},
	"`--dump`":                                   {{"minidump-stackwalk --dump crash.dmp", "inspect crash.dmp"}},
	"`--brief`, `--output-file FILE`":            {{"minidump-stackwalk --brief crash.dmp symbols", "walk --hermetic --symbols symbols --brief crash.dmp"}, {"minidump-stackwalk --output-file three.txt crash.dmp symbols", "walk --hermetic --symbols symbols --output four.txt crash.dmp"}},
	"`--symbols-path DIR`":                       {{"minidump-stackwalk --symbols-path symbols crash.dmp", "walk --hermetic --symbols symbols crash.dmp"}},
	"`--symbols-url URL`, `--symbols-cache DIR`": {{"minidump-stackwalk --symbols-url URL --symbols-cache c1 crash.dmp", "walk --hermetic --symbol-url URL --symbol-cache c2 crash.dmp"}},
	"`--use-local-debuginfo`":                    {{"minidump-stackwalk --use-local-debuginfo crash.dmp", "walk crash.dmp"}},
	"`--verbose LEVEL`":                          {{"minidump-stackwalk --verbose error crash.dmp symbols", "walk --hermetic --symbols symbols --log-level error crash.dmp"}},
	"`--log-file FILE`":                          {{"minidump-stackwalk --log-file log.txt --brief crash.dmp symbols nosuch", "walk --hermetic --symbols symbols --brief crash.dmp"}},
	"`--recover-function-args`, `--features`":    {{"minidump-stackwalk --recover-function-args crash.dmp symbols", "says symtool walk --vars prints those of symbols with variables"}, {"minidump-stackwalk --features stable-all crash.dmp symbols", "walk --hermetic --symbols symbols crash.dmp"}},
	"`--symbols-tmp`, `--symbols-download-timeout-secs`, `--pretty`, `--no-color`, `--no-interactive`": {{"minidump-stackwalk --json --pretty --symbols-tmp t --symbols-download-timeout-secs 9 --no-color --no-interactive crash.dmp symbols", "walk --hermetic --symbols symbols --format json crash.dmp"}},
	"`--evil-json FILE`": {{"minidump-stackwalk --evil-json f crash.dmp", "says --evil-json is not supported"}, {"minidump-stackwalk --raw-json f crash.dmp", "says --raw-json is not supported"}},
	// llvm-symbolizer; TestOracleLLVMSymbolizer and others compare the answers with the program's.
	"`--obj`, `--exe`, `-e`; lines `FILE ADDR`, `CODE FILE ADDR`": {{"llvm-symbolizer -e c.elf 0x15d8", "as llvm-symbolizer --obj=c.elf 0x15d8"}, {"llvm-symbolizer CODE\\ c.elf\\ 0x15d8", "as llvm-symbolizer --exe c.elf 0x15d8"}},
	"`DATA FILE ADDR`":  {{"llvm-symbolizer DATA\\ c.elf\\ 0x3718", "says sink\n14104 4\n/src/nest.c:3\n"}},
	"`FRAME FILE ADDR`": {{"llvm-symbolizer FRAME\\ c.elf\\ 0x15d8", "says FRAME is not supported: local variables are not listed"}},
	"`--functions`, `--demangle`, `--inlines`, `--pretty-print`, `--addresses`, `--basenames`, `--relativenames`, `--verbose`": {
		{"llvm-symbolizer --functions=short --demangle --inlines --pretty-print --addresses --basenames -e c.elf 0x15d8", "says 0x15d8: level3 at nest.h:7:7\n (inlined by) second at second.c:10:21"},
		{"llvm-symbolizer --verbose --relativenames -e c.elf 0x15d8", "says   Function start line: 5"}},
	"`SYMBOL`, `SYMBOL+OFFSET` in place of ADDR; `BUILDID:DIGITS` in place of FILE; `--build-id`": {{"llvm-symbolizer -e c.elf second+8", "says second"}, {"llvm-symbolizer --debug-file-directory=ids BUILDID:0afc68bbff3818a9c9054a069ff7eadce4f5aa8c\\ 0x15d8", "as llvm-symbolizer --debug-file-directory=ids --build-id=0afc68bbff3818a9c9054a069ff7eadce4f5aa8c 0x15d8"}},
	"`--output-style`": {{"llvm-symbolizer --output-style=GNU -e c.elf 0x15d8", "says /src/./nest.h:7\n"}, {"llvm-symbolizer --output-style=JSON -e c.elf 0x15d8", "says \"StartLine\":5"}},
	"`--adjust-vma`, `--debug-file-directory`, `--dwp`, `--print-source-context-lines`": {{"llvm-symbolizer --adjust-vma=0x1000 --debug-file-directory=ids --print-source-context-lines=2 --dwp=none.dwp -e c.elf 0x25d8", "as llvm-symbolizer -e c.elf 0x15d8"}},
	"`--filter-markup`, `--color`":                                         {{"llvm-symbolizer --filter-markup --color=never", "says main\n"}},
	"`--default-arch`, `FILE:ARCH`: a binary of a universal file of macOS": {{"llvm-symbolizer --default-arch=x86_64 -e c.elf 0x15d8", "as llvm-symbolizer -e c.elf:x86_64 0x15d8"}, {"llvm-symbolizer --default-arch=arm64 -e fat.dSYM 0x1000006ec", "says macho_names.mm:8:58"}},
	"`--cache-size`, `--untag-addresses`, `--relative-address`":            {{"llvm-symbolizer --cache-size=9 --untag-addresses --relative-address -e c.elf 0x15d8", "as llvm-symbolizer -e c.elf 0x15d8"}},
	"`--debuginfod`, `--no-debuginfod`, `DEBUGINFOD_URLS`":                 {{"llvm-symbolizer --debuginfod -e c.elf 0x15d8", "says level3"}, {"llvm-symbolizer --no-debuginfod -e c.elf 0x15d8", "says level3"}},
	"`--skip-line-zero`, `--dsym-hint`, `--gsym-file-directory`, `--dia`":  {{"llvm-symbolizer --skip-line-zero", "says --skip-line-zero is not supported"}, {"llvm-symbolizer --dsym-hint=d", "says --dsym-hint is not supported"}, {"llvm-symbolizer --gsym-file-directory=d", "says --gsym-file-directory is not supported"}, {"llvm-symbolizer --dia", "says --dia is not supported"}},
	// addr2line
	"`-e`, `-f`, `-s`, `-C`, `-i`, `-p`, `-a`, `-j`; ADDR, `SYMBOL`, `SYMBOL+OFFSET`": {{"addr2line -e c.elf -fs second+8", "as addr2line -e c.elf -fs 15d8"}, {"addr2line -e c.elf -fsCipa 15d8", "says 0x00000000000015d8: level3 at nest.h:7\n (inlined by) second at second.c:10\n"}, {"addr2line -e c.elf -j .text 118", "says /src/./nest.h:7"}},
	"`--target`, `--recurse-limit`": {{"addr2line --target=elf64-x86-64 --recurse-limit -e c.elf 15d8", "as addr2line -e c.elf 15d8"}},
	// elfutils
	"`-e`, `-a`, `-A`, `-C`, `-f`, `-i`, `-j`, `-s`, `-S`, `-x`, `--relative`, `--pretty-print`, `--debuginfo-path`": {{"eu-addr2line -e c.elf -a -A -C -f -i -S --debuginfo-path=debug --pretty-print 0x15d8", "says 0x00000000000015d8: level3 second+0x8 at /src/./nest.h:7:7\n (inlined by) second at"}, {"eu-addr2line -e c.elf -f -x -s -j .text 0x118", "says nest.h:7:7"}, {"eu-addr2line -e c.elf --relative 0x15d8", "says ./nest.h:7:7"}},
	"`-p PID`, `-M FILE`, `--core FILE`": {{"eu-addr2line -p 1 0", "says use symtool resolve --filter --maps FILE"}, {"eu-addr2line -M maps 0", "says use symtool resolve --filter --maps FILE"}, {"eu-addr2line --core core 0", "says use symtool resolve --filter --core FILE"}},
	"`-F`, `-k`, `-K`":                   {{"eu-addr2line -F 0", "says flags of the line table are not printed"}, {"eu-addr2line -k 0", "says name the file: -e vmlinux"}, {"eu-addr2line -K 0", "says name the file: -e vmlinux"}},
	"`--core`, `-e`, `-a`, `-b`, `-d`, `-i`, `-m`, `-n`, `-q`, `-r`, `-s`, `-v`, `--debuginfo-path`": {{"eu-stack --core sources.core -e sources -d -n 2", "says  crash\n#1  "}, {"eu-stack --core sources.core -e sources -v -b --debuginfo-path=debug -n 1", "says  crash - "}, {"eu-stack --core sources.core -e sources -i -s -n 1", "says /src/walk_sources.c:20"}, {"eu-stack --core sources.core -q -a -n 1 -e sources -r -m", "says #0  0x00000000004001f3     - "}},
	"`-p PID`, `-1`, `-l`":                                 {{"eu-stack -p 0", "says -p is \"0\", want the id of a process"}, {"eu-stack -1 --core sources.core", "says -1 is for -p"}, {"eu-stack --core sources.core -e sources -l -q -n 1", "says module memory map\n0x0000000000400000-"}},
	"`eu-unstrip -n -p PID`":                               {{"eu-unstrip -n", "says want the id of a process"}},
	"`eu-unstrip` with `--core`, `-e`, `-M`, `-k` or `-K`": {{"eu-unstrip -n --core core", "says symtool inspect FILE lists the modules of a core"}, {"eu-unstrip -n -e a.elf", "says symtool doctor FILE"}},
	"`eu-unstrip` without `-n`":                            {{"eu-unstrip a b", "says symtool dump FILE DEBUGFILE reads both"}},
}

// TestSwitchingTables executes each row of the tables in the pages about switching from another program.
func TestSwitchingTables(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(testenv.Root(t), "docs", "switching-*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	var text []byte
	for _, page := range pages { // in the order of their names
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, data...)
	}
	url := switchingFiles(t)
	row, executed := regexp.MustCompile(`(?m)^\| (.*?) \| .* \|$`), map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		name := m[1]
		if !strings.Contains(name, "`") {
			continue // the head of a table
		}
		if executed[name] {
			name += ", Mozilla's" // the first row of two tables
		}
		if executed[name] = true; len(switchingRows[name]) == 0 {
			t.Errorf("no command line executes the row %s", name)
		}
		for _, c := range switchingRows[name] {
			executeRow(t, strings.ReplaceAll(c[0], "URL", url), strings.ReplaceAll(c[1], "URL", url))
		}
	}
	for name := range switchingRows {
		if !executed[name] {
			t.Errorf("no table has the row %s", name)
		}
	}
}

// executeRow compares the output of another program's command line with symtool's.
func executeRow(t *testing.T, theirs, ours string) {
	t.Helper()
	out, said := executed(t, "as "+theirs)
	if want, ok := strings.CutPrefix(ours, "says "); ok {
		if !strings.Contains(out+said, want) {
			t.Errorf("%s: no %q in\n%s%s", theirs, want, out, said)
		}
		return
	}
	want, _ := executed(t, ours)
	if out != want || out == "" && !strings.Contains(theirs, "-s ") && !strings.Contains(theirs, "--output-file") {
		t.Errorf("%s: %d bytes, %s: %d bytes; %s", theirs, len(out), ours, len(want), said)
	}
}

// executed runs symtool. In its arguments, "\ " stands for a blank.
func executed(t *testing.T, line string) (out, said string) {
	args := []string{"symtool"}
	for _, arg := range strings.Fields(strings.ReplaceAll(line, `\ `, "\x00")) {
		args = append(args, strings.ReplaceAll(arg, "\x00", " "))
	}
	var stdout, stderr bytes.Buffer
	app.Run(t.Context(), args, strings.NewReader("{{{symbol:main}}}\n"), &stdout, &stderr)
	return stdout.String(), stderr.String()
}

// switchingFiles makes the files for the command lines in the current folder, and returns the URL of a symbol server.
func switchingFiles(t *testing.T) (url string) {
	t.Chdir(t.TempDir())
	const ids = "ids/.build-id/0a"
	for _, dir := range []string{"debug", ids} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, input := range map[string]string{
		"a.elf": "gcc-dwarf5.elf", "c.elf": "clang-dwarf5.elf", "fat.dSYM": "macho-fat.dSYM", ids + "/fc68bbff3818a9c9054a069ff7eadce4f5aa8c.debug": "clang-dwarf5.elf",
		"stripped.elf": "eu-strip.elf", "debug/eu-strip.debug": "eu-strip.debug", "fat": "macho-fat", "a.pdb": "pdb-x64.pdb.gz",
		"crash.dmp": "crashes/stacks.dmp.gz", "stacks": "crashes/stacks", "libnet.so.1": "crashes/libnet.so.1",
		"sources.core": "walk-sources.core.gz", "sources": "walk-sources.elf",
	} {
		testenv.WriteFile(t, name, testenv.PlainInput(t, input))
	}
	testenv.WriteFile(t, "map.json", []byte(`{"variables": {"rev": "1"}, "mappings": [{"source": "^/src/(n.*)$", "destination": "hg:h/r:{1}:{rev}", "files": []}]}`))
	if _, said := executed(t, "dump --store symbols stacks libnet.so.1"); said != "" {
		t.Fatal(said)
	}
	server := httptest.NewServer(http.FileServer(http.Dir("symbols")))
	t.Cleanup(server.Close)
	return server.URL
}
