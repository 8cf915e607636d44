#!/bin/sh
# Builds every fixture of this folder again, from src/ to *.elf and *.debug.
#
#   ./build.sh          all of them
#   ./build.sh NAME...  these (the words after "want" below)
#
# Debian packages (bookworm, versions as checked in):
#   gcc g++ binutils                       gcc 12.2, binutils 2.40
#   elfutils xz-utils                      0.188, 5.4
#   clang-22 lld-22 llvm-22                22 from apt.llvm.org
#   dwz                                    0.15
#   mold bolt-22                           1.10, 22 from apt.llvm.org
#   gcc-i686-linux-gnu gcc-arm-linux-gnueabihf g++-arm-linux-gnueabihf gcc-aarch64-linux-gnu gcc-riscv64-linux-gnu
#   gcc-mips-linux-gnu gcc-mips64-linux-gnuabi64 gcc-powerpc-linux-gnu gcc-powerpc64-linux-gnu gcc-powerpc64le-linux-gnu
#   gcc-s390x-linux-gnu, and qemu-user-static 7.2 for cores
#   gnat-12 gfortran-12 gdc-12 gobjc-12 gm2-12 fp-compiler ocaml-nox   12.2; 3.2.2; 4.13.1
#   rustc: 1.95 (rustup, stable; nightly for legacy mangling)
#
# The build runs in a copy of src/, whose path is mapped to /src; the last step refuses a binary that names this machine's folders.
set -eu
export LC_ALL=C SOURCE_DATE_EPOCH=0
here=$(cd "$(dirname "$0")" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/src/* "$work"
cd "$work"

wanted="$*"
out=

# want NAME: true when this fixture is to be built; sets $out.
want() {
	out=$1.elf
	test -z "$wanted" && return 0
	for w in $wanted; do test "$w" = "$1" && return 0; done
	return 1
}

map="-ffile-prefix-map=$work=/src"
gflags="-g -gno-record-gcc-switches $map -frandom-seed=0"
link="-nostdlib -Wl,--build-id=sha1 -Wl,-z,noseparate-code -Wl,-z,max-page-size=4096 -Wl,--hash-style=gnu"
so="-shared -fPIC $link"
exe="-static -no-pie $link"
cexe="-static $link"

lld=$(command -v ld.lld-22)

# The compilers, with what all fixtures have in common. A later flag wins.
GCC="gcc $gflags -O2"
GXX="g++ $gflags -O2 -std=c++17"
CLANG="clang-22 -g $map -O2 --ld-path=$lld -fdebug-compilation-dir=/src -no-canonical-prefixes"
CLANGXX="clang++-22 -g $map -O2 -std=c++17 --ld-path=$lld -fdebug-compilation-dir=/src"
nest="nest.c second.c"


# cross TRIPLET: a cross compiler with the same flags.
cross() { t=$1; shift; "$t-gcc" $gflags -O2 -fasynchronous-unwind-tables "$@"; }

# --- DWARF versions -------------------------------------------------------
for v in 2 3 4 5; do
	if want gcc-dwarf$v; then $GCC -gdwarf-$v -gstrict-dwarf $so $nest -o $out; fi
done
# GNU extensions of version 4: DW_TAG_GNU_call_site and its kin.
if want gcc-dwarf4-gnu; then $GCC -gdwarf-4 $so $nest -o $out; fi
if want gcc-dwarf5-types; then $GXX -gdwarf-5 -fdebug-types-section $so scopes.cc -o $out; fi
if want gcc-dwarf4-types; then $GXX -gdwarf-4 -fdebug-types-section $so scopes.cc -o $out; fi
for v in 4 5; do
	if want clang-dwarf$v; then $CLANG -gdwarf-$v $so $nest -o $out; fi
done
if want gcc-dwarf64; then $GCC -gdwarf-5 -gdwarf64 $so $nest -o $out; fi
if want gcc-dwarf64-v4; then $GCC -gdwarf-4 -gdwarf64 $so $nest -o $out; fi
if want clang-dwarf64; then $CLANG -gdwarf-5 -gdwarf64 $so $nest -o $out; fi
if want gcc-O0; then $GCC -O0 $so $nest -o $out; fi

# --- ranges ---------------------------------------------------------------
if want hotcold-gcc4; then $GCC -gdwarf-4 $so hotcold.c sink.c -o $out; fi
if want hotcold-gcc5; then $GCC -gdwarf-5 $so hotcold.c sink.c -o $out; fi
if want hotcold-clang5; then $CLANG -gdwarf-5 -ffunction-sections -fPIC -mllvm -enable-split-machine-functions -mllvm -hot-cold-split $so hotcold.c sink.c -o $out; fi

# --- names ----------------------------------------------------------------
if want scopes-gcc5; then $GXX -gdwarf-5 $so scopes.cc -o $out; fi
if want scopes-gcc4; then $GXX -gdwarf-4 -O0 $so scopes.cc -o $out; fi
if want scopes-clang5; then $CLANGXX -gdwarf-5 $so scopes.cc -o $out; fi
# DW_AT_MIPS_linkage_name, as before DWARF 4.
if want scopes-mips-gcc3; then $GXX -gdwarf-3 -gstrict-dwarf $so scopes.cc -o $out; fi
# Linkage names for inlined functions only, and for none.
if want scopes-abstract-clang5; then $CLANGXX -gdwarf-5 -mllvm -dwarf-linkage-names=Abstract $so scopes.cc -o $out; fi
if want scopes-nolink-clang5; then $CLANGXX -O0 -gdwarf-5 -mllvm -dwarf-linkage-names=Abstract $so scopes.cc -o $out; fi
# Classes that the unit itself only declares, without a name: it is in the type units. No symbol tells the names, either.
for v in 4 5; do
	if want types-nolink-clang$v; then
		$CLANGXX -O0 -gdwarf-$v -fdebug-types-section -fvisibility=hidden -mllvm -dwarf-linkage-names=Abstract $so scopes.cc -o $out
		objcopy --wildcard --strip-symbol='*' $out
	fi
done
if want nestedfn; then $GCC $so nestedfn.c -o $out; fi
if want lto-gcc; then $GXX -flto -flto-partition=none $so lto_a.cc lto_b.cc -o $out; fi
if want lto-clang; then $CLANGXX -flto $so lto_a.cc lto_b.cc -o $out; fi

# --- what the linker does -------------------------------------------------
gc="-ffunction-sections -Wl,--gc-sections"
for v in 4 5; do
	if want dead-bfd-v$v; then $GCC -gdwarf-$v $exe $gc dead.c -o $out; fi
	if want dead-lld-v$v; then $CLANG -gdwarf-$v $cexe $gc dead.c -o $out; fi
done
if want dead-lld-minus1; then $CLANG -gdwarf-5 $cexe $gc -Wl,-z,dead-reloc-in-nonalloc='.debug_*=0xffffffffffffffff' dead.c -o $out; fi
if want dead-lld-minus2; then $CLANG -gdwarf-4 $cexe $gc -Wl,-z,dead-reloc-in-nonalloc='.debug_*=0xfffffffffffffffe' dead.c -o $out; fi
if want zero-x86_64; then $GCC $exe -Wl,-Ttext=0 $nest start.c -o $out; fi
if want zero-arm; then cross arm-linux-gnueabihf -fno-asynchronous-unwind-tables -fno-unwind-tables -mthumb $exe -Wl,-Ttext=0 $nest start.c -o $out; fi
# Code at 0 and dropped functions, whose addresses the linker made 0 as well.
if want zero-dead; then $GCC -gdwarf-4 $exe $gc -Wl,-Ttext=0 dead.c -o $out; fi
if want icf-lld; then $CLANG $cexe -ffunction-sections -Wl,--icf=all icf.c -o $out; fi
# Functions that are folded in C++, two of them without linkage names. gold knows no -z noseparate-code.
fold="-ffunction-sections -Wl,--gc-sections -Wl,--icf=all folded.cc"
if want icf-gold; then $GXX -static -no-pie -nostdlib -Wl,--build-id=sha1 -fuse-ld=gold $fold -o $out; fi
if want icf-mold; then $GXX $exe -fuse-ld=mold $fold -o $out; fi
# bolt FLAGS...: lets BOLT write plain.elf anew. It spoils the files of DWARF 5 by GNU as (llvm-project's issue 209184).
bolt() { llvm-bolt-22 plain.elf -o $out -update-debug-sections -no-huge-pages "$@" >/dev/null; }
if want icf-bolt; then
	$GXX -gdwarf-4 $exe -Wl,--emit-relocs folded.cc -o plain.elf
	bolt -icf=all
fi
if want bolt-clang5; then
	$CLANG -gdwarf-5 $so -Wl,--emit-relocs hotcold.c sink.c -o plain.elf
	bolt -split-functions -split-strategy=all
fi
if want bbsections; then $CLANG -gdwarf-5 $so -fbasic-block-sections=all hotcold.c sink.c -o $out; fi
if want bbsections-lines; then $CLANG -gdwarf-5 -gline-tables-only $so -fbasic-block-sections=all $nest -o $out; fi
if want init-parts; then gcc $gflags $so init_head.s init_tail.s -o $out; fi
if want machine-split; then
	# How often the lines of split ran; blocks below the threshold are cold.
	printf 'split:90000:9000\n 1: 9000\n 2: 9000\n 3: 9000\n 4: 9000\n 9: 9000\n' >profile.txt
	$CLANG -gdwarf-5 $so -fsplit-machine-functions -fprofile-sample-use=profile.txt -mllvm -mfs-count-threshold=100 hotcold.c sink.c -o $out
fi
if want emit-relocs; then $GCC $exe -Wl,--emit-relocs $nest start.c -o $out; fi
if want exec-high; then $GCC $exe -Wl,-Ttext-segment=0x40000000 $nest start.c -o $out; fi
if want kernel-high; then $GCC -mcmodel=kernel -fno-pic $exe -Wl,-T,kernel.ld $nest start.c -o $out; fi
if want kernel-core; then # needs kernel-high
	test -e kernel-high.elf || cp "$here/kernel-high.elf" .
	as vmcore.s -o vmcore.o
	objcopy -O binary -j .data vmcore.o vmcore
	gzip -9nc vmcore >kernel-high.core.gz
fi
if want xen-note; then
	as xennote.s -o xennote.o
	$GCC $exe -Wl,-T,notes.ld xennote.o $nest start.c -o $out
fi
if want no-build-id; then $GCC $so -Wl,--build-id=none $nest -o $out; fi
if want no-dot-text; then
	$GCC -c -ffreestanding $nest
	for u in nest second; do objcopy --rename-section .text=.flash.text $u.o; done
	ld -e outside nest.o second.o -o $out
fi
# Relocations in Android's packed forms, and the same without; all have .text at one address.
for p in none android+relr; do
	for t in arm64=aarch64-linux-android29 arm=armv7a-linux-androideabi29; do
		if want "pack-${p%+*}-${t%=*}"; then
			$CLANG --target=${t#*=} $so -Wl,--hash-style=sysv -Wl,--pack-dyn-relocs=$p -Wl,-Ttext=0x10000 relocs.c -o $out
		fi
	done
done
if want symver; then $GCC $so -Wl,--version-script=symver.map symver.c -o $out; fi
if want nodebug; then $GCC -g0 $so $nest -o $out; fi
if want nodebug-dynsym; then $GCC -g0 -s $so $nest -o $out; fi

# --- compression, separate file -------------------------------------------
for z in zlib zlib-gnu zstd; do
	if want compressed-$z; then
		$GCC $so $nest -o plain.elf
		objcopy --compress-debug-sections=$z plain.elf $out
	fi
done
if want pair; then
	$GXX $so scopes.cc -o plain.elf
	objcopy --only-keep-debug plain.elf pair.debug
	objcopy --strip-all --add-gnu-debuglink=pair.debug plain.elf $out
fi
if want soname; then
	$GCC $so -Wl,-soname,libnest.so.1 $nest -o plain.elf
	objcopy --only-keep-debug plain.elf soname.debug
	objcopy --strip-debug --add-gnu-debuglink=soname.debug plain.elf $out
fi
if want minidebug; then
	# As RPM's find-debuginfo makes it: what .dynsym does not have, and .debug_frame.
	$GXX -fno-asynchronous-unwind-tables -fno-exceptions -fvisibility-inlines-hidden $so scopes.cc -o plain.elf
	nm -D plain.elf --format=posix --defined-only | cut -d ' ' -f 1 | sort >dynsyms
	nm plain.elf --format=posix --defined-only | awk '$2 == "T" || $2 == "t" { print $1 }' | sort | comm -13 dynsyms - >keep
	objcopy --only-keep-debug plain.elf plain.debug
	objcopy -S --keep-symbols=keep --keep-section=.debug_frame --remove-section .comment plain.debug mini
	xz -k -f mini
	objcopy --strip-all --add-section .gnu_debugdata=mini.xz plain.elf $out
fi
# Moved after they were parted, as prelink does; .debug_frame is in the debug file.
if want moved; then
	$GCC -fno-asynchronous-unwind-tables $so $nest -o plain.elf
	objcopy --only-keep-debug plain.elf moved.debug
	objcopy --strip-all --add-gnu-debuglink=moved.debug plain.elf unmoved.elf
	objcopy --change-addresses=0x33000000 unmoved.elf $out
	rm unmoved.elf
fi
# The debug file is the one that lies elsewhere: two links of the same objects.
if want moved-exec; then
	$GCC -fno-asynchronous-unwind-tables $exe -Wl,--build-id=0x6d6f766564,-Ttext-segment=0x40000000 $nest start.c -o plain.elf
	objcopy --only-keep-debug plain.elf moved-exec.debug
	$GCC -fno-asynchronous-unwind-tables $exe -Wl,--build-id=0x6d6f766564,-Ttext-segment=0x400000 $nest start.c -o plain.elf
	objcopy --strip-all plain.elf $out
fi
if want eu-strip; then
	$GXX $so scopes.cc -o $out
	eu-strip --reloc-debug-sections -f eu-strip.debug $out 2>/dev/null || eu-strip -f eu-strip.debug $out
fi

# What scopes.cc gives in two programs moves to a file of its own; DWARF 5 has other forms for it. Before that they are scopes-gccN.
dwz_pair() {
	v=$1 opt=$2; shift 2
	if want dwz$v; then
		$GXX -gdwarf-$v $opt $so scopes.cc -o $out
		$GXX -gdwarf-$v $opt $so scopes.cc except.cc -o other.elf
		dwz "$@" -m dwz$v-common.debug -M dwz$v-common.debug $out other.elf
		rm other.elf
	fi
}
dwz_pair 4 -O0
dwz_pair 5 -O2 --dwarf-5

# --- split DWARF ----------------------------------------------------------
# The skeletons name their .dwo files NAME.elf-SOURCE.dwo in /src, where they are not: they lie beside the fixture.
halves="nest.c second.c hotcold.c"
# pack TOOL: puts the .dwo files of the fixture into a package.
pack() { "$1" -o $out.dwp $out-*.dwo && rm $out-*.dwo; }
for v in 4 5; do
	if want split-gcc$v; then $GCC -gdwarf-$v -gsplit-dwarf $so $halves -o $out; fi
	if want split-clang$v; then $CLANG -gdwarf-$v -gsplit-dwarf -ffunction-sections $so $halves -o $out; fi
	# Type units; no linkage names, so that they are needed.
	if want split-types-gcc$v; then $GXX -gdwarf-$v -gsplit-dwarf -fdebug-types-section $so scopes.cc -o $out; fi
	if want split-types-clang$v; then
		$CLANGXX -O0 -gdwarf-$v -gsplit-dwarf -fdebug-types-section -fvisibility=hidden -mllvm -dwarf-linkage-names=Abstract $so scopes.cc -o $out
		objcopy --wildcard --strip-symbol='*' $out
	fi
	if want split-types-dwp-clang$v; then
		$CLANGXX -O0 -gdwarf-$v -gsplit-dwarf -fdebug-types-section -fvisibility=hidden -mllvm -dwarf-linkage-names=Abstract $so scopes.cc -o $out
		objcopy --wildcard --strip-symbol='*' $out
		if test $v = 4; then pack dwp; else pack llvm-dwp-22; fi
	fi
	# Packages: GNU's dwp writes index version 2, and fails on DWARF 5; llvm-dwp writes both.
	if want split-dwp-clang$v; then
		$CLANG -gdwarf-$v -gsplit-dwarf -ffunction-sections $so $halves -o $out
		pack llvm-dwp-22
	fi
done
if want split-dwp-gcc4; then
	$GCC -gdwarf-4 -gsplit-dwarf $so $halves -o $out
	pack dwp
fi
# Sections .debug_*.dwo inside of the object file; compressed.
if want split-single; then
	$CLANG -gdwarf-5 -gsplit-dwarf=single -gz=zlib -Wno-unused-command-line-argument -fPIC -c nest.c -o split-single-nest.o
	$CLANG -gdwarf-5 $so split-single-nest.o second.c -o $out
fi
# Skeletons with inlined functions, once with and once without their other halves.
if want split-inlining; then $CLANG -gdwarf-5 -gsplit-dwarf -fsplit-dwarf-inlining $so $nest -o $out; fi
if want split-missing; then
	$CLANG -gdwarf-5 -gsplit-dwarf -fsplit-dwarf-inlining $so $nest -o $out
	rm split-missing.elf-nest.dwo
	# The other one is that of another program.
	$CLANG -gdwarf-5 -gsplit-dwarf -O0 -Wno-unused-command-line-argument -fPIC -c second.c -o other.o
	mv other.dwo split-missing.elf-second.dwo
fi
# Stripped, with the skeletons in the debug file and a package of the binary's name.
if want split-pair; then
	$CLANG -gdwarf-5 -gsplit-dwarf $so $nest -o split-pair.elf
	pack llvm-dwp-22
	objcopy --only-keep-debug split-pair.elf split-pair.debug
	objcopy --strip-all --add-gnu-debuglink=split-pair.debug split-pair.elf
fi

# --- CPUs -----------------------------------------------------------------
cpu() { if want cpu-$1; then t=$2; shift 2; cross $t $so "$@" $nest hotcold.c -o $out; fi; }
cpu i686 i686-linux-gnu
if want cpu-x32; then $GCC -mx32 $so $nest hotcold.c -o $out; fi
cpu arm arm-linux-gnueabihf -marm
cpu thumb arm-linux-gnueabihf -mthumb
cpu arm64 aarch64-linux-gnu
cpu arm64-pac aarch64-linux-gnu -mbranch-protection=standard
cpu arm64-ilp32 aarch64-linux-gnu -mabi=ilp32
cpu arm64-bkey aarch64-linux-gnu -mbranch-protection=pac-ret+b-key+leaf
# aarch64 NAME TRIPLE FLAGS...: what only clang knows.
aarch64() { if want $1; then t=$2; shift 2; $CLANG --target=$t "$@" $so $nest hotcold.c -o $out; fi; }
aarch64 cpu-arm64-pac-pc aarch64-linux-gnu -march=armv9.5-a+pauth-lr -mbranch-protection=pac-ret+pc+leaf
aarch64 cpu-arm64-mte aarch64-linux-android29 -march=armv8.5-a+memtag -fsanitize=memtag-stack -mbranch-protection=pac-ret+b-key
cpu riscv64 riscv64-linux-gnu
cpu mips mips-linux-gnu
cpu mips64 mips64-linux-gnuabi64
cpu ppc powerpc-linux-gnu
cpu ppc64 powerpc64-linux-gnu
cpu s390x s390x-linux-gnu
cpu ppc64le powerpc64le-linux-gnu
cpu mipsel mips-linux-gnu -EL
if want cpu-riscv; then $CLANG --target=riscv32-linux-gnu -march=rv32gc -fasynchronous-unwind-tables $so $nest hotcold.c -o $out; fi

# --- line tables ----------------------------------------------------------
if want line0; then $CLANG -gdwarf-5 $so line0.c -o $out; fi
if want embed-source; then $CLANG -gdwarf-5 -gembed-source $so $nest -o $out; fi
# unit NAME SOURCE FLAGS...: an assembly unit on its own.
unit() {
	name=$1 src=$2; shift 2
	if want "$name"; then
		as --debug-prefix-map "$work=/src" "$@" $src -o unit.o
		ld -shared -z noseparate-code -z max-page-size=4096 --build-id=sha1 unit.o -o $out
	fi
}
unit line-v2 line_v2.s
unit line-v4-vliw line_v4_vliw.s
unit line-v5-forms line_v5.s
unit line-view locview.s
unit symbols symbols.s
unit symbols-gas5 symbols.s -gdwarf-5
unit asm-gas2 asm.s -gdwarf-2
unit asm-gas4 asm.s -gdwarf-4
unit asm-gas5 asm.s -gdwarf-5
if want asm-thumb; then
	arm-linux-gnueabihf-as --debug-prefix-map "$work=/src" -march=armv7-a -g asm_thumb.s -o unit.o
	arm-linux-gnueabihf-ld -shared -z max-page-size=4096 --build-id=sha1 unit.o -o $out
fi
# A unit with labels, and no functions.
if want asm-clang5; then $CLANG -gdwarf-5 $so asm.s -o $out; fi
# A unit with lines and neither labels nor functions.
if want asm-notype; then
	sed '/\.type/d' asm.s >asm_notype.s
	as -gdwarf-4 --debug-prefix-map "$work=/src" asm_notype.s -o unit.o
	ld -shared -z noseparate-code -z max-page-size=4096 --build-id=sha1 unit.o -o $out
fi

# --- units that compilers do not write ------------------------------------
unit forms forms.s
unit bad-form badform.s
unit bad-cycle cycle.s

# --- call frame information -----------------------------------------------
# A program with its start-up files, and assembly without rules that is most of its code.
uncovered() {
	as uncovered.s -o unit.o
	$GCC -Wl,--build-id=sha1 -Wl,-z,max-page-size=4096 -Wl,-z,noseparate-code uncovered.c unit.o "$@" -o $out
}
if want uncovered; then uncovered; fi
if want uncovered-stripped; then uncovered -s; fi
unit eh eh.s 2>/dev/null # ld says that it cannot make a table for it
unit frame-both-cie1 frame_both.s --gdwarf-cie-version=1
unit frame-both-cie3 frame_both.s --gdwarf-cie-version=3
unit frame-both-cie4 frame_both.s --gdwarf-cie-version=4
unit debug-frame debug_frame.s
if want debug-frame-only; then $GCC -fno-asynchronous-unwind-tables $so $nest -o $out; fi
if want eh-encodings; then
	as encodings.s -o unit.o
	ld -static -z noseparate-code --no-ld-generated-unwind-info --build-id=sha1 -Ttext=0x4002f0 -e text_base unit.o -o $out 2>/dev/null
fi
if want except; then $GXX -fexceptions $so except.cc -o $out; fi
if want realign-x86_64; then $GCC $so realign.c -o $out; fi
if want realign-i686; then cross i686-linux-gnu $so realign.c -o $out; fi

# --- exception index tables of ARM -----------------------------------------
# exidx NAME FLAG-OF-AS FLAG-OF-LD
exidx() {
	if want "$1"; then
		arm-linux-gnueabihf-as $2 exidx.s -o unit.o
		arm-linux-gnueabihf-ld $2 $3 -shared -z noseparate-code -z max-page-size=4096 --build-id=sha1 unit.o -o $out
	fi
}
exidx exidx -EL ""
exidx exidx-be8 -EB --be8
if want exidx-cxx; then arm-linux-gnueabihf-g++ $gflags -g0 -O2 -mthumb $so exidx.cc -o $out; fi
if want exidx-lld; then $CLANGXX --target=armv7a-linux-gnueabihf -g0 -marm -fexceptions -no-canonical-prefixes $so exidx.cc -o $out; fi

# --- Rust -----------------------------------------------------------------
rust() {
	name=$1; shift
	if want "$name"; then
		rustc "$@" -g -O -C panic=abort --crate-type=lib --crate-name=fixture --emit=obj --remap-path-prefix "$work=/src" lib.rs -o unit.o
		ld -shared -z noseparate-code -z max-page-size=4096 --build-id=sha1 --gc-sections unit.o -o $out
	fi
}
rust rust-legacy +nightly -Zunstable-options -C symbol-mangling-version=legacy
rust rust-v0 +stable -C symbol-mangling-version=v0

# --- relocatable files ----------------------------------------------------
# COMDAT groups, and a .debug_info for each type in one of its own.
if want object-gcc5-types; then $GXX -gdwarf-5 -fdebug-types-section -ffunction-sections -c scopes.cc -o $out; fi
if want object-gcc4-gz; then $GXX -gdwarf-4 -gz=zlib -c scopes.cc -o $out; fi
if want object-clang5; then $CLANG -Wno-unused-command-line-argument -gdwarf-5 -ffunction-sections -c hotcold.c -o $out; fi
# Functions of the second unit that "ld -r" dropped, since the first has them.
if want object-ld-r; then
	for u in 1 2; do $GXX -O0 -DPART=$u -c comdat.cc -o comdat$u.o; done
	ld -r comdat1.o comdat2.o -o $out
fi
object() { if want object-$1; then t=$2; shift 2; cross $t "$@" -c nest.c -o $out; fi; }
object i686 i686-linux-gnu
object arm arm-linux-gnueabihf
object arm64 aarch64-linux-gnu
object mips mips-linux-gnu
object mips64 mips64-linux-gnuabi64
object ppc powerpc-linux-gnu
object ppc64 powerpc64-linux-gnu
object s390x s390x-linux-gnu
object riscv64 riscv64-linux-gnu
# Differences as ULEB128, which the linker is to calculate.
if want object-riscv64-clang; then $CLANG -Wno-unused-command-line-argument --target=riscv64-linux-gnu -mrelax -gdwarf-5 -ffreestanding -ffunction-sections -c nest.c -o $out; fi
crel() { if want object-crel-$1; then $CLANG -Wno-unused-command-line-argument --target=$2 -gdwarf-5 -ffreestanding -Wa,--crel,--allow-experimental-crel -c nest.c -o $out; fi; }
crel i686 i686-linux-gnu
crel arm64 aarch64-linux-gnu
if want object-nodebug; then $GCC -g0 -c second.c -o $out; fi
if want object-bpf; then $CLANG -Wno-unused-command-line-argument --target=bpfel -c bpf.c -o $out; fi
if want module; then
	$GCC -mcmodel=kernel -fno-pic -fno-asynchronous-unwind-tables -c module.c -o unit.o
	ld -r --build-id=sha1 unit.o -o $out
fi

# --- other languages ------------------------------------------------------
# language NAME UNIT: links what a compiler left in UNIT.o.
language() { ld -shared -z noseparate-code -z max-page-size=4096 --build-id=sha1 "$2.o" -o $out; }
if want lang-ada; then
	gcc-12 $gflags -O2 -fPIC -c shapes.adb
	language ada shapes
fi
if want lang-fortran; then
	gfortran-12 $gflags -O1 -fno-inline -fPIC -c modules.f90
	language fortran modules
fi
if want lang-d; then
	gdc-12 $gflags -O1 -fno-inline -fPIC -c things.d
	language d things
fi
if want lang-objc; then
	gcc-12 $gflags -O2 -fPIC -c methods.m
	language objc methods
fi
if want lang-modula2; then
	gm2-12 $gflags -O1 -fPIC -c Lists.mod
	language modula2 Lists
fi
# FPC and OCaml map no paths: their assembly names the folder.
if want lang-pascal; then
	fpc -gw3 -O2 -Cg -Aas -a -s units.pas >/dev/null
	sed "s|$work/*|/src|" units.s >mapped.s
	as mapped.s -o units.o
	language pascal units
fi
if want lang-ocaml; then
	ocamlopt -g -fPIC -S -c inner.ml
	as --debug-prefix-map "$work=/src" inner.s -o inner.o
	language ocaml inner
fi
unit lang-swift swift.s

# --- SFrame: printing -----------------------------------------------------
if want sframe-text-v1; then
	as --gsframe sframe_text.s -o sframe.o
	ld -shared -z noseparate-code -z max-page-size=4096 sframe.o -o $out
fi
if want sframe-text-v1-arm64; then aarch64-linux-gnu-as --gsframe sframe_text_arm64.s -o $out; fi
# lld puts the sections of its inputs one after another.
if want sframe-text-v2; then
	sed 's/plain/plain2/g; s/framed/framed2/g' sframe_text.s >sframe2.s
	for u in sframe_text sframe2; do clang-22 --target=x86_64-linux-gnu -c -Wa,--gsframe,--allow-experimental-sframe $u.s -o $u.o; done
	"$lld" -shared sframe_text.o sframe2.o -o $out
fi
if want sframe-text-v3; then
	as sframe_text_v3.s -o sframe3.o
	"$lld" -e first -T sframe_text.ld -z max-page-size=4096 sframe3.o -o $out
	llvm-objcopy-22 --dump-section .sframe=sframe-text-v3.sframe $out plain.elf
	as --defsym DAMAGE=1 sframe_text_v3.s -o sframe3.o
	"$lld" -e first -T sframe_text.ld -z max-page-size=4096 sframe3.o -o plain.elf
	llvm-objcopy-22 --dump-section .sframe=sframe-text-damaged.sframe plain.elf plain2.elf
	rm plain2.elf
	llvm-objcopy-22 --strip-sections $out sframe-text-segment.elf
fi
# walk-sources.core.gz is the kernel's core of it: (ulimit -c unlimited; env -i ./walk-sources.elf), where core_pattern is "core".
# walk-sources.core.zst, .xz and .lz4 are that core by zstd -19, xz and lz4 -9.
if want walk-sources; then
	$GCC -fno-omit-frame-pointer -fasynchronous-unwind-tables -fno-stack-protector -fcf-protection=none -Wa,--gsframe $exe walk_sources.c -o $out
fi

if want sframe-text-empty; then as sframe_text_empty.s -o $out; fi

# --- Cores by QEMU ---------------------------------------------------------
# Only when named, and as root: QEMU puts some random bytes on the stack. All else
# is the same each time, for the process has namespaces of its own.
#
# core CPU CC SOURCE FLAGS: how qemu-CPU-static dumps a crash, with pids 2 and 4.
core() {
	case " $wanted " in *" qemu-$1 "*) ;; *) return 0 ;; esac
	cpu=$1 cc=$2-gcc
	shift 2
	"$cc" -O1 -g -static -Wl,--build-id "$@" -o prog
	env -i unshare --pid --mount --fork sh -c "mount --bind $work /mnt; cd /mnt; unset OLDPWD; ulimit -c unlimited; qemu-$cpu-static -seed 1 -s 65536 ./prog; :"
	mv qemu_prog_*.core qemu-$cpu.core
	if grep -aqE "$work|$here" qemu-$cpu.core; then echo "qemu-$cpu.core: names a folder of this machine" >&2; exit 1; fi
	rm -f core core.*
	gzip -9nf qemu-$cpu.core
}
threads="-pthread threads.c"
core mips mips-linux-gnu $threads
core mips64 mips64-linux-gnuabi64 $threads
core ppc powerpc-linux-gnu $threads
core ppc64 powerpc64-linux-gnu $threads
core ppc64le powerpc64le-linux-gnu $threads
core s390x s390x-linux-gnu $threads
core mipsn32 mips64-linux-gnuabi64 -g0 -mabi=n32 -nostdlib -Wl,-m,elf32btsmipn32 n32.c

# --- Windows: PE files, by clang and lld ----------------------------------
# wantpe NAME: as want, for NAME.
wantpe() {
	want "$1" || return 1
	out=$1
}
win="-fasynchronous-unwind-tables -ffreestanding -fno-builtin -fno-stack-protector -mno-stack-arg-probe -ffile-prefix-map=$work=/src"
link="lld-link-22 /nologo /entry:start /subsystem:console /nodefaultlib /Brepro /opt:noref /noimplib"
# Every unwind code, and what a compiler makes of functions, by CPU.
if wantpe pe-unwind64.exe; then
	clang-22 --target=x86_64-pc-windows-msvc -c pe_unwind64.s -o u64.obj
	clang-22 --target=x86_64-pc-windows-msvc $win -O2 -c pe_program.c -o p64.obj
	$link u64.obj p64.obj /export:increment /export:successor=increment /export:away=kernel32.Sleep /out:$out
fi
if wantpe pe-unwind64v2.exe; then
	clang-22 --target=x86_64-pc-windows-msvc $win -O2 -Xclang -fwinx64-eh-unwindv2=required -c pe_program.c -o p64v2.obj
	$link p64v2.obj /out:$out
fi
if wantpe pe-unwindarm64.exe; then
	clang-22 --target=aarch64-pc-windows-msvc -c pe_unwindarm64.s -o ua64.obj
	clang-22 --target=aarch64-pc-windows-msvc $win -O2 -c pe_program.c -o pa64.obj
	$link ua64.obj pa64.obj /out:$out
fi
# Code of arm64 in an image that claims to be for x86_64.
if wantpe pe-arm64ec.exe; then
	clang-22 --target=arm64ec-pc-windows-msvc -c pe_arm64ec.s -o aec.obj
	clang-22 --target=arm64ec-pc-windows-msvc $win -O2 -c pe_program.c -o pec.obj
	$link /machine:arm64ec /force:unresolved aec.obj pec.obj /out:$out
fi
# DWARF in PE: sections with long names, COFF symbols, .eh_frame of 32-bit x86.
mingw() { # TARGET EMULATION ENTRY SOURCES...
	target=$1 emulation=$2 entry=$3
	shift 3
	clang-22 --target=$target $win -g -gdwarf-5 -O2 -frandom-seed=0 -c "$@"
	ld.lld-22 -m $emulation --no-insert-timestamp -e $entry --shared -o $out pe_program.o nest.o second.o
	rm -f pe_program.o nest.o second.o
}
if wantpe pe-mingw64.dll; then mingw x86_64-w64-mingw32 i386pep start pe_program.c nest.c second.c; fi
if wantpe pe-mingw32.dll; then mingw i686-w64-mingw32 i386pe _start pe_program.c nest.c second.c; fi

# --- Programs with PDBs, by clang and lld-link; the PDBs are packed ------------------------------------
# pdb TARGET FLAGS SOURCES: a program and its PDB.
pdb() {
	target=$1 flags=$2
	shift 2
	objects=
	for source; do
		std=
		case $source in *.cc) std="-std=c++17 -fno-rtti" ;; esac
		clang-22 --target=$target -w -ffreestanding -fno-stack-protector -fno-builtin -gcodeview -gno-codeview-command-line \
			"-ffile-prefix-map=$work=C:\\src" '-fdebug-compilation-dir=C:\src' -fno-threadsafe-statics $std -g $flags -c "$source" -o "${source%.*}.pdbobj"
		objects="$objects ${source%.*}.pdbobj"
	done
	lld-link-22 /nologo /debug /entry:start /subsystem:console /nodefaultlib '/pdbaltpath:%_PDB%' '/pdbsourcepath:C:\src' /Brepro /force:unresolved \
		/safeseh:no /opt:noref /noimplib $objects "/out:$out.exe" "/pdb:$out"
	gzip -9nf "$out"
	mv "$out.exe" "${out%.pdb}.exe"
}
if wantpe pdb-x64.pdb; then pdb x86_64-pc-windows-msvc -O2 pdb_names.cc pdb_start.c pdb_halved.s; fi
if wantpe pdb-x86.pdb; then pdb i686-pc-windows-msvc "-O2 -fomit-frame-pointer" pdb_frames.c pdb_start.c pdb_halved.s; fi

# --- macOS, by clang, ld64.lld and dsymutil, without an SDK: what is undefined stays so -------------------
# macho OUT CPU SYSTEM FLAGS SOURCES: a program and its dSYM, which is the file OUT.dSYM.
macho() {
	out=$1 cpu=$2 system=$3 flags=$4
	shift 4
	objects=
	for source; do
		clang-22 "--target=$cpu-apple-$system" -w -ffreestanding -fno-stack-protector -fno-builtin "-ffile-prefix-map=$work=/src" -fdebug-compilation-dir=/src \
			-fno-rtti -fno-threadsafe-statics -funwind-tables -femit-dwarf-unwind=no-compact-unwind -g $flags -c "$source" -o "$out-${source%.*}.o"
		objects="$objects $out-${source%.*}.o"
	done
	platform=macos
	case $system in ios*) platform=ios ;; esac
	ld64.lld-22 -arch "$cpu" -platform_version $platform 13 13 -undefined dynamic_lookup $objects -o "$out"
	dsymutil-22 --flat "$out" -o "$out.dSYM" 2>/dev/null
	llvm-strip-22 -S "$out"
}
if wantpe macho-x86_64; then macho macho-x86_64 x86_64 macos13 "-O2 -fno-omit-frame-pointer" macho_frames.c; fi
if wantpe macho-x86_64-nofp; then macho macho-x86_64-nofp x86_64 macos13 "-O2 -fomit-frame-pointer" macho_frames.c; fi
if wantpe macho-arm64; then macho macho-arm64 arm64 macos13 "-O2 -fno-omit-frame-pointer" macho_frames.c; fi
if wantpe macho-arm64-nofp; then macho macho-arm64-nofp arm64 ios13 "-O2 -fomit-frame-pointer" macho_frames.c; fi
if wantpe macho-names; then macho macho-names arm64 macos13 -O2 macho_names.mm; fi
if wantpe macho-fat; then
	macho macho-fat-a x86_64 macos13 -O2 macho_names.mm
	macho macho-fat-b arm64 macos13 -O2 macho_names.mm
	llvm-lipo-22 -create macho-fat-a macho-fat-b -output macho-fat
	llvm-lipo-22 -create macho-fat-a.dSYM macho-fat-b.dSYM -output macho-fat.dSYM
	llvm-lipo-22 -create -fat64 macho-fat-a macho-fat-b -output macho-fat64
	mv macho-fat-b-macho_names.o macho-object.o
	rm macho-fat-a* macho-fat-b*
fi
# A program with its object and its static library. The dSYM is what dsymutil makes of them.
if wantpe macho-map; then
	macho macho-map arm64 macos13 -O2 macho_map.c macho_map_sum.cpp macho_map_more.cpp
	mv macho-map-macho_map.o macho-map-main.o
	rm -f macho-map-library.a
	llvm-ar-22 --format=darwin rcsD macho-map-library.a macho-map-macho_map_sum.o macho-map-macho_map_more.o
	ld64.lld-22 -arch arm64 -platform_version macos 13 13 -undefined dynamic_lookup -dead_strip --icf=all -oso_prefix "$work/" \
		macho-map-main.o macho-map-library.a -o macho-map
	dsymutil-22 --flat macho-map -o macho-map.dSYM
fi
# The same with variables of all kinds, not optimized.
if wantpe macho-vars; then
	macho macho-vars arm64 macos13 "-O0 -fno-exceptions -fasynchronous-unwind-tables" macho_vars.cpp macho_vars_more.cpp
	mv macho-vars-macho_vars.o macho-vars-main.o
	mv macho-vars-macho_vars_more.o macho-vars-more.o
	ld64.lld-22 -arch arm64 -platform_version macos 13 13 -undefined dynamic_lookup -dead_strip -oso_prefix "$work/" macho-vars-main.o macho-vars-more.o -o macho-vars
	dsymutil-22 --flat macho-vars -o macho-vars.dSYM
fi
rm -f macho-*macho_*.o

# --- install --------------------------------------------------------------
for f in *.elf *.debug *.dwo *.dwp split-*.o *.sframe *.core.gz pe-* macho-* pdb-*.gz pdb-*.exe; do
	case $f in plain.*) continue ;; esac
	test -e "$f" || continue
	if grep -aqE "$work|$here|/root/|/home/|/tmp/" "$f"; then
		echo "$f: names a folder of this machine" >&2
		grep -aoE "[[:print:]]*($work|$here|/root/|/home/|/tmp/)[[:print:]]*" "$f" | head -3 >&2
		exit 1
	fi
	chmod 644 "$f"
	cmp -s "$f" "$here/$f" || cp "$f" "$here/$f"
done
