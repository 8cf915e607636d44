package integration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// farmPackages is the number of packages, with ten targets each.
const farmPackages = 20

// farmModule is a binary of the build, as the test expects it.
type farmModule struct {
	path    string // PACKAGE/FILE
	shipped bool   // belongs to a cc_binary, so it goes into the store
}

// farmModules returns the binaries of all packages.
func farmModules() (all []farmModule) {
	for p := range farmPackages {
		for _, lib := range []string{"liblib.so", "libclib.so"} {
			all = append(all, farmModule{path: fmt.Sprintf("p%02d/%s", p, lib)})
		}
		for _, name := range []string{"libplug.so", "libcore.so", "app0", "app1", "app2", "app3", "app4", "app5"} {
			all = append(all, farmModule{fmt.Sprintf("p%02d/%s", p, name), true})
		}
	}
	return all
}

// farmWants returns the inputs that symtool's actions must have, by mnemonic and output. bin is
// the output folder.
func farmWants(bin string) map[string][]string {
	const program = "tools/symtool"
	wants := map[string][]string{}
	var stored []string
	for _, m := range farmModules() {
		binary, sym := bin+m.path, bin+m.path+".sym"
		if m.shipped {
			stored = append(stored, sym)
		}
		wants["SymtoolDump "+sym] = []string{program, binary}
		wants["SymtoolCheck "+sym+".checked"] = []string{program, binary, sym}
		wants["SymtoolReport "+sym+".json"] = []string{program, binary, sym}
	}
	pair := bin + "ship/pair.sym"
	wants["SymtoolDump "+pair] = []string{program, bin + "ship/ship.stripped", bin + "ship/ship.debug"}
	wants["SymtoolCheck "+pair+".checked"] = []string{program, bin + "ship/ship.stripped", pair}
	wants["SymtoolReport "+pair+".json"] = []string{program, bin + "ship/ship.stripped", pair}
	wants["SymtoolStore "+bin+"ship/store"] = append(stored, program, pair)
	return wants
}

const farmBuild = `
cc_library(name = "lib", srcs = ["lib.cc"], hdrs = ["lib.h"], visibility = ["//visibility:public"])
cc_library(name = "clib", srcs = ["clib.c"], hdrs = ["clib.h"], visibility = ["//visibility:public"])
cc_binary(name = "libplug.so", srcs = ["plug.cc"], deps = [":lib"], linkshared = True, visibility = ["//visibility:public"])
cc_binary(name = "libcore.so", srcs = ["core.c"], deps = [":clib"], linkshared = True, visibility = ["//visibility:public"])
`

const farmHeader = `#pragma once

namespace %[1]s {
struct Item { int key; double weight; };
template <class T, int N> class Few {
	T items[N];
	int n = 0;
public:
	void push(const T& v) { if (n < N) items[n++] = v; }
	T* begin() { return items; }
	T* end() { return items + n; }
};
using Items = Few<Item, %[2]d>;
template <class T> inline T clamp(T v, T low, T high) { return v < low ? low : v > high ? high : v; }
inline double mix(const Item& a, const Item& b) { return clamp(a.weight * b.key - b.weight * a.key, -%[2]d.0, %[2]d.0); }
double total(Items items);
}
`

const farmLibrary = `#include "%[1]s/lib.h"

#include <algorithm>

namespace %[1]s {
double total(Items items) {
	std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return mix(a, b) < 0; });
	double sum = %[2]d;
	for (const Item& i : items)
		sum += mix(i, *items.begin());
	return sum;
}
}
`

const farmUser = `#include "%[1]s/lib.h"

static int %[2]s_rank(int n) { return %[1]s::clamp(n * %[3]d, -1000, 1000); }

int %[4]s(int argc) {
	%[1]s::Items items;
	for (int i = 0; i < argc + %[3]d; i++)
		items.push({%[2]s_rank(i), i / 3.0});
	return int(%[1]s::total(items)) & 1;
}
`

const farmC = `#include "%[1]s/clib.h"

static inline int twice_%[2]s(int n) { return n + n; }

int %[3]s(int argc)
{
	int sum = %[4]d;
	for (int i = 0; i < argc; i++)
		sum ^= twice_%[2]s(sum) + %[1]s_work(i);
	return sum & 1;
}
`

const farmShip = `load("//tools:symtool.bzl", "breakpad_split", "breakpad_store", "breakpad_symbols", "breakpad_symbols_test")

package(default_visibility = ["//visibility:public"])

breakpad_split(name = "ship", binary = "//p00:app0")

breakpad_symbols(
    name = "pair",
    binary = ":ship.stripped",
    debug = ":ship.debug",
    module_name = "app0",
)

breakpad_symbols_test(name = "pair_test", symbols = ":pair")

breakpad_store(name = "store", deps = [":pair", %s])
`

// farmBazelrc has the settings for a build with a shared cache.
const farmBazelrc = `build -c opt --copt=-g
build --incompatible_strict_action_env
build --spawn_strategy=sandboxed --nosandbox_debug
build --remote_cache=%s
build --aspects=//tools:symtool.bzl%%breakpad_symbols_aspect
build --output_groups=+symbols,+check-symbols,+symbol-reports
build --noshow_progress
`

// writeFarm writes the project with 200 targets.
func writeFarm(t *testing.T, dir, program, cache string) {
	t.Helper()
	files := map[string]string{"WORKSPACE": "", "tools/BUILD": `exports_files(["symtool"])` + "\n"}
	files["tools/symtool.bzl"] = integrationOf(t, "bazel")
	files[".bazelrc"] = fmt.Sprintf(farmBazelrc, cache)
	repositories, err := filepath.Abs(filepath.Join("testdata", "bazel", "repositories"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rules_cc", "rules_java", "remote_coverage_tools"} {
		files[".bazelrc"] += fmt.Sprintf("build --override_repository=%s=%s\n", name, filepath.Join(repositories, name))
	}
	var stored []string
	for p := range farmPackages {
		farmPackage(files, p)
		for _, target := range []string{"libplug.so", "libcore.so", "app0", "app1", "app2", "app3", "app4", "app5"} {
			stored = append(stored, fmt.Sprintf("%q", fmt.Sprintf("//p%02d:%s", p, target)))
		}
	}
	files["ship/BUILD"] = fmt.Sprintf(farmShip, strings.Join(stored, ", "))
	for name, text := range files {
		writeIn(t, dir, name, text)
	}
	if err := placeFile(program, filepath.Join(dir, "tools", "symtool")); err != nil {
		t.Fatal(err)
	}
}

func writeIn(t *testing.T, dir, name, text string) {
	t.Helper()
	to := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// farmPackage writes ten targets: two libraries, two shared libraries and six programs.
func farmPackage(files map[string]string, p int) {
	pkg := fmt.Sprintf("p%02d", p)
	build := farmBuild
	add := func(name, format string, args ...any) { files[pkg+"/"+name] = fmt.Sprintf(format, args...) }
	add("lib.h", farmHeader, pkg, p+2)
	add("lib.cc", farmLibrary, pkg, p)
	add("clib.h", "int %s_work(int n);\n", pkg)
	add("clib.c", "#include \"%[1]s/clib.h\"\n\nint %[1]s_work(int n)\n{\n\treturn n * %[2]d + 1;\n}\n", pkg, p+3)
	add("plug.cc", farmUser, pkg, "plug", p+5, "plug_"+pkg)
	add("core.c", farmC, pkg, "core", "core_"+pkg, p+7)
	for i := range 6 {
		name := fmt.Sprintf("app%d", i)
		if i < 4 {
			add(name+".cc", farmUser, pkg, name, p*10+i, "use")
			files[pkg+"/"+name+".cc"] += "\nint main(int argc, char**) { return use(argc); }\n"
			build += fmt.Sprintf("cc_binary(name = %q, srcs = [%q], deps = [\":lib\"], linkstatic = %s, visibility = [\"//visibility:public\"])\n",
				name, name+".cc", map[bool]string{true: "True", false: "False"}[i < 3])
			continue
		}
		add(name+".c", farmC, pkg, name, "use", p*10+i)
		files[pkg+"/"+name+".c"] += "\nint main(int argc, char **argv)\n{\n\t(void)argv;\n\treturn use(argc);\n}\n"
		build += fmt.Sprintf("cc_binary(name = %q, srcs = [%q], deps = [\":clib\"], visibility = [\"//visibility:public\"])\n", name, name+".c")
	}
	files[pkg+"/BUILD"] = build
}
