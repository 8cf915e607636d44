package dump

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// packagers lists scripts that make an archive of a folder with the usual programs. Each script gets FOLDER, the file
// to write as OUTPUT, and a NAME, and runs in an empty folder.
var packagers = []struct{ name, script, tool string }{
	{"xz.deb", deb("xz"), "dpkg-deb"},
	{"zst.deb", deb("zstd"), "dpkg-deb"},
	{"gz.ddeb", deb("gzip"), "dpkg-deb"},
	{"plain.deb", deb("none"), "dpkg-deb"},
	{"xz.rpm", rpm("w6.xzdio"), "rpmbuild"},
	{"zst.rpm", rpm("w3.zstdio"), "rpmbuild"},
	{"gz.rpm", rpm("w9.gzdio"), "rpmbuild"},
	{"bz2.rpm", rpm("w9.bzdio"), "rpmbuild"},
	{"apk", `# Alpine's: pieces of a tar archive, of which the last alone has its end
		echo pkgname = x >.PKGINFO
		tar -c .PKGINFO | head -c 1024 | gzip >$OUTPUT
		tar -cz -C $FOLDER . >>$OUTPUT`, "tar"},
	{"aar", zipped, "python3"},
	{"android.apk", zipped, "python3"},
	{"whl", zipped, "python3"},
	{"zip", zipped, "python3"},
	{"tar", `tar -cf $OUTPUT -C $FOLDER .`, "tar"},
	{"tgz", `tar -czf $OUTPUT -C $FOLDER .`, "tar"},
	{"tar.xz", `tar -cJf $OUTPUT -C $FOLDER .`, "xz"},
	{"tar.bz2", `tar -c -C $FOLDER . | python3 -c 'import bz2,sys; sys.stdout.buffer.write(bz2.compress(sys.stdin.buffer.read()))' >$OUTPUT`, "python3"},
	{"tar.zst", `tar -c -C $FOLDER . | zstd -q >$OUTPUT`, "zstd"},
	{"tar.lz4", `tar -c -C $FOLDER . | lz4 -q >$OUTPUT`, "lz4"},
	{"layers.tar", `# docker save: layers in an archive
		tar -cf layer.tar -C $FOLDER .
		echo '[{"Config":"c.json","RepoTags":null,"Layers":["layer.tar"]}]' >manifest.json
		tar -cf $OUTPUT manifest.json layer.tar`, "tar"},
	{"ipk", `# OpenWrt's: archives in an archive
		echo 2.0 >debian-binary
		tar -czf data.tar.gz -C $FOLDER .
		tar -czf control.tar.gz -T /dev/null
		tar -czf $OUTPUT ./debian-binary ./data.tar.gz ./control.tar.gz`, "tar"},
	{"pkg.tar.zst", `# Arch's
		cp -a $FOLDER/. .
		echo pkgname = x >.PKGINFO
		tar -c .PKGINFO usr | zstd -q >$OUTPUT`, "zstd"},
	{"conda", `# a zip archive of archives that are not compressed again
		tar -c -C $FOLDER . | zstd -q >pkg-x-1-0.tar.zst
		echo '{"conda_pkg_format_version": 2}' >metadata.json
		python3 -m zipfile -c $OUTPUT metadata.json pkg-x-1-0.tar.zst`, "zstd"},
	{"npm.tgz", `mkdir package && cp -a $FOLDER/. package && tar -czf $OUTPUT package`, "tar"},
	{"zstd.oci.tar", `# an OCI image with layers in zstd, as buildah --compression-format zstd writes them
		mkdir -p blobs/sha256
		tar -c -C $FOLDER . | zstd -q >layer
		mv layer blobs/sha256/$(sha256sum layer | cut -c 1-64)
		echo '{"imageLayoutVersion":"1.0.0"}' >oci-layout
		tar -cf $OUTPUT oci-layout blobs`, "zstd"},
	{"oci.tar", `# an OCI image: compressed layers that are named after their contents
		mkdir -p blobs/sha256
		tar -cz -C $FOLDER . >layer
		mv layer blobs/sha256/$(sha256sum layer | cut -c 1-64)
		echo '{"imageLayoutVersion":"1.0.0"}' >oci-layout
		tar -cf $OUTPUT oci-layout blobs`, "sha256sum"},
}

func deb(compression string) string {
	return `cp -a $FOLDER tree
		mkdir tree/DEBIAN
		printf 'Package: %s\nVersion: 1\nArchitecture: amd64\nMaintainer: A <a@b.c>\nDescription: x\n' $NAME >tree/DEBIAN/control
		dpkg-deb --root-owner-group -Z` + compression + ` -b tree $OUTPUT`
}

func rpm(payload string) string {
	return `{
			echo "Name: $NAME"
			printf '%s\n' 'Version: 1' 'Release: 1' 'Summary: x' 'License: x' 'AutoReqProv: no' '%description' x '%install' 'mkdir -p %{buildroot}'
			printf '%s\n' "cp -a $FOLDER/. %{buildroot}" '%files' /usr
		} >x.spec
		rpmbuild -bb --quiet --target x86_64 --define "_topdir $PWD/top" --define 'debug_package %{nil}' --define '__os_install_post %{nil}' \
			--define '_build_id_links none' --define '_binary_payload ` + payload + `' x.spec
		mv top/RPMS/*/*.rpm $OUTPUT`
}

const zipped = `(cd $FOLDER && python3 -m zipfile -c $OUTPUT usr)`

// installed makes three folders, like the packages of a distribution: libraries and a program without debug
// information, their debug files, and the file into which dwz moved what two of them share.
const installed = `
	{
		for i in $(seq 40); do echo "struct wide$i { int first$i; long second$i; struct wide$i *next; char name[$i]; };"; done
		echo "struct all {"; for i in $(seq 40); do echo "struct wide$i m$i;"; done; echo "};"
	} >shared.h
	mkdir -p bin/usr/lib/x debug/usr/lib/debug/.build-id dwz/usr/lib/debug/.dwz
	for name in a b; do
		printf '#include "shared.h"\nint %s_get(struct all *a, int i) { return a->m%s.first%s + i; }\n' $name $((${#name} + 3)) $((${#name} + 3)) >$name.c
		gcc -g -O1 -shared -fPIC -Wl,--build-id -Wl,-soname,lib$name.so.1 -o lib$name.so.1.0 $name.c
		objcopy --only-keep-debug lib$name.so.1.0 $name.debug
		strip lib$name.so.1.0
		cp lib$name.so.1.0 bin/usr/lib
		ln -s lib$name.so.1.0 bin/usr/lib/lib$name.so.1
	done
	dwz -m common.debug -M /usr/lib/debug/.dwz/common.debug a.debug b.debug
	cp common.debug dwz/usr/lib/debug/.dwz
	printf 'int main(int n, char **v) { return n; }\n' >main.c
	gcc -g -O1 -Wl,--build-id -o bin/usr/lib/x/tool main.c
	objcopy --only-keep-debug --compress-debug-sections bin/usr/lib/x/tool tool.debug
	strip bin/usr/lib/x/tool
	for pair in a:liba.so.1.0 b:libb.so.1.0 tool:x/tool; do
		id=$(readelf -n bin/usr/lib/${pair#*:} | sed -n 's/.*Build ID: //p')
		mkdir -p debug/usr/lib/debug/.build-id/$(echo $id | cut -c 1-2)
		cp ${pair%%:*}.debug debug/usr/lib/debug/.build-id/$(echo $id | cut -c 1-2)/$(echo $id | cut -c 3-).debug
	done
	echo text >bin/usr/lib/x/text
	mkdir all && cp -a bin/usr debug/usr dwz/usr all
`

// TestPackagesOracle checks that packages made by the programs of distributions give the symbol files of the folder
// that was packed: with the binaries, their debug files and dwz's file in a package each, in every order.
func TestPackagesOracle(t *testing.T) {
	testenv.Oracle(t)
	for _, tool := range []string{"gcc", "objcopy", "dwz", "readelf"} {
		testenv.Tool(t, tool)
	}
	dir := t.TempDir()
	inShell(t, dir, installed)
	want, messages := dumpStore(t, 2, 1<<30, filepath.Join(dir, "all"))
	if len(want) != 3 || messages != "" {
		t.Fatalf("the folder: %d symbol files, want 3: %s", len(want), messages)
	}
	for name, text := range want {
		if !strings.Contains(text, "\nFUNC ") {
			t.Errorf("%s has no functions", name)
		}
	}
	for i, p := range packagers {
		t.Run(p.name, func(t *testing.T) {
			if p.tool == "rpmbuild" && !testenv.OracleFull() {
				t.Skip("SYMTOOL_ORACLE=full runs rpmbuild")
			}
			testenv.Tool(t, p.tool)
			packed := t.TempDir()
			check := func(operands ...string) {
				t.Helper()
				jobs := 1 + i%3
				if got, messages := dumpStore(t, jobs, 1<<30, operands...); !maps.Equal(got, want) || messages != "" {
					t.Errorf("%q, %d jobs: %d symbol files, %q; want the %d of the folder", operands, jobs, len(got), messages, len(want))
				}
			}
			var paths []string
			for _, folder := range []string{"bin", "debug", "dwz"} {
				path := filepath.Join(packed, folder+"."+p.name)
				inShell(t, t.TempDir(), p.script, "FOLDER="+filepath.Join(dir, folder), "NAME="+folder, "OUTPUT="+path)
				paths = append(paths, path)
			}
			check(packed)
			orders := [][3]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}, {2, 0, 1}, {1, 2, 0}}
			if i > 0 { // the first packager gets all orders
				orders = orders[i%len(orders):][:1]
			}
			for _, order := range orders {
				check(paths[order[0]], paths[order[1]], paths[order[2]])
			}
		})
	}
}

// inShell runs a script in a folder.
func inShell(t *testing.T, dir, script string, env ...string) {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", strings.TrimSpace(script))
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "LC_ALL=C"), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
