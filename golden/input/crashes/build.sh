#!/bin/sh
# Makes the crashes of this folder again: programs byte for byte with the compilers below, dumps as root, with other
# random bytes on the stacks.
#
#   ./build.sh programs   only the programs and libraries
#   ./build.sh dumps      also run them: cores, minidumps, and backtraces by gdb
#
# Debian packages (bookworm): gcc 12.2, binutils 2.40, clang-22 and lld-22, qemu-user-static 7.2, gdb and gdb-multiarch 13.1, lldb-22.
set -eu
export LC_ALL=C SOURCE_DATE_EPOCH=0
here=$(cd "$(dirname "$0")" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/src/* "$work"
cd "$work"
what=${1:?programs or dumps}

# --- calls.c on every CPU: program, core by QEMU, gdb's backtrace of that core ------------------------------------
# target CPU: clang's options.
target() {
	case $1 in
	arm) echo --target=armv7a-linux-gnueabihf ;;
	mips64) echo --target=mips64-linux-gnuabi64 -fno-pic -mno-abicalls -G0 ;;
	mipsel) echo --target=mipsel-linux-gnu -fno-pic -mno-abicalls -G0 ;;
	ppc64le) echo --target=powerpc64le-linux-gnu ;;
	*) echo "--target=$1-linux-gnu" ;;
	esac
}

gdb="gdb-multiarch -nx -batch -ex 'set debuginfod enabled off' -ex 'set print frame-arguments none' -ex 'set backtrace past-main on'"

# run COMMAND: in namespaces of its own, in a folder that every machine has, with cores.
run() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin unshare --pid --mount-proc --fork sh -c "mount --bind $work /mnt; cd /mnt; unset OLDPWD PWD; ulimit -c unlimited; $1; :"; }

for cpu in aarch64 arm i386 mips64 mipsel ppc64le riscv64 s390x x86_64; do
	clang-22 $(target $cpu) -g -O1 -ffreestanding -fno-omit-frame-pointer -fasynchronous-unwind-tables -ffile-prefix-map="$work"=/src \
		-fdebug-compilation-dir=/src -static -nostdlib --ld-path="$(command -v ld.lld-22)" -Wl,--build-id=sha1 -Wl,-z,max-page-size=4096 calls.c -o calls-$cpu.elf
	test "$what" = dumps || continue
	if test $cpu = riscv64; then
		# QEMU dumps no cores of it: gdb does, at the second signal.
		run "env -i qemu-riscv64-static -seed 1 -s 65536 -g 3210 ./calls-riscv64.elf & sleep 1; timeout 20 $gdb -ex 'target remote :3210' -ex c -ex c -ex 'gcore calls-riscv64.core' -ex 'bt 20' -ex k calls-riscv64.elf </dev/null >gdb.out 2>/dev/null"
		grep '^#' gdb.out >calls-riscv64.bt.txt
	else
		run "env -i qemu-$cpu-static -seed 1 -s 65536 ./calls-$cpu.elf"
		mv qemu_calls*.core calls-$cpu.core
		# gdb knows no way out of QEMU's signal trampolines on some CPUs: its text ends there.
		run "timeout 20 $gdb -ex 'bt 20' calls-$cpu.elf calls-$cpu.core </dev/null 2>/dev/null | grep '^#' | tail -n +2 >calls-$cpu.bt.txt"
	fi
	rm -f core core.*
	gzip -9nf calls-$cpu.core
done

# --- stacks.c: a program with a library and three threads, on x86-64 -----------------------------------------------
flags="-g -fno-stack-protector -fcf-protection=none -fasynchronous-unwind-tables -ffile-prefix-map=$work=/src -nostdlib -Wl,--build-id=sha1 -Wl,--hash-style=gnu"
gcc $flags -O2 -fPIC -shared -Wl,-soname,libnet.so.1 net.c -o libnet.so.1
gcc $flags -O2 -fPIE -pie stacks.c -o stacks ./libnet.so.1 -Wl,-rpath,'$ORIGIN'
mkdir old # the library's other build
gcc $flags -O1 -fPIC -shared -Wl,-soname,libnet.so.1 net.c -o old/libnet.so.1
if test "$what" = dumps; then
	run "setarch -R env -i ./stacks"
	mv core* stacks.core
	run "timeout 20 $gdb -ex 'thread apply all bt 20' stacks stacks.core </dev/null 2>/dev/null | grep -E '^(#|Thread)' >stacks.bt.txt"
	gzip -9nf stacks.core
	run "timeout 60 lldb-22 -b -o 'process launch' -k 'process save-core --plugin-name=minidump --style=stack stacks.dmp' -k 'thread backtrace all' -k kill -k quit stacks </dev/null >lldb.out 2>&1"
	grep -E '^ *[* ] *(thread|frame) #' lldb.out >stacks.lldb.txt
	gzip -9nf stacks.dmp
fi

# --- coroutines.cpp: suspended coroutines, and what the program says of them, by GCC and by clang ---------------------
# beginning FUNCTION: the line where it begins.
beginning() { grep -n "^Task.* $1(" coroutines.cpp | cut -d: -f1; }
flags="-std=c++20 -g -O2 -DLEAF=$(beginning leaf) -DMIDDLE=$(beginning middle) -DTOP=$(beginning top) -ffile-prefix-map=$work=/src -Wl,--build-id=sha1"
g++ $flags coroutines.cpp -o coroutines-gcc.elf
clang++-22 $flags -fdebug-compilation-dir=/src coroutines.cpp -o coroutines-clang.elf
if test "$what" = dumps; then
	for compiler in gcc clang; do
		run "setarch -R env -i ./coroutines-$compiler.elf >coroutines-$compiler.txt 2>/dev/null"
		mv core* coroutines-$compiler.core
		gzip -9nf coroutines-$compiler.core
	done
fi

# --- jitcode.c: code made at run time, and the files that describe it ---------------------------------------------------
gcc -g -O2 -fcf-protection=none -fomit-frame-pointer -ffile-prefix-map="$work"=/src -Wl,--build-id=sha1 jitcode.c -o jitcode.elf
if test "$what" = dumps; then
	run "setarch -R env -i ./jitcode.elf ."
	mv core* jitcode.core
	mv jit-*.dump jitcode.jitdump
	mv perf-*.map jitcode.map
	gzip -9nf jitcode.core
fi

# --- fibers.c: stacks that a program has switched away from, and what it says of them -----------------------------------
flags="-g -O2 -ffile-prefix-map=$work=/src -Wl,--build-id=sha1"
gcc $flags fibers.c -o fibers-ucontext.elf
gcc $flags -DBOOST fibers.c -o fibers-fcontext.elf -l:libboost_context.a
if test "$what" = dumps; then
	for kind in ucontext fcontext; do
		run "setarch -R env -i ./fibers-$kind.elf >fibers-$kind.txt 2>/dev/null"
		mv core* fibers-$kind.core
		gzip -9nf fibers-$kind.core
	done
	# Of the C library, the functions that save and start contexts.
	(cd "$here" && go run ../../../cmd/symtool dump /lib/x86_64-linux-gnu/libc.so.6 2>/dev/null) | grep -E '^MODULE|^(FUNC|PUBLIC) .* (swapcontext|__start_context)$' >fibers-libc.sym
fi

# --- vectors.c: vector registers in notes ---------------------------------------------------------------------------------
flags="-g -O1 -ffreestanding -fno-stack-protector -fasynchronous-unwind-tables -ffile-prefix-map=$work=/src -static -nostdlib -Wl,--build-id=sha1"
gcc $flags -fcf-protection=none vectors.c -o vectors-x86_64.elf # it runs on a processor with AVX-512
clang-22 $flags --target=aarch64-linux-gnu -march=armv8-a+sve -fdebug-compilation-dir=/src --ld-path="$(command -v ld.lld-22)" -Wl,-z,max-page-size=4096 vectors.c -o vectors-aarch64.elf
if test "$what" = dumps; then
	run "setarch -R env -i ./vectors-x86_64.elf"
	mv core* vectors-x86_64.core
	# QEMU's cores lack the note: gdb's have it.
	run "env -i qemu-aarch64-static -cpu max,sve-max-vq=2 -seed 1 -s 65536 -g 3210 ./vectors-aarch64.elf & sleep 1; timeout 20 $gdb -ex 'target remote :3210' -ex c -ex 'gcore vectors-aarch64.core' -ex k vectors-aarch64.elf </dev/null >/dev/null 2>&1"
	gzip -9nf vectors-x86_64.core vectors-aarch64.core
fi

for f in *.elf *.core.gz *.dmp.gz *.jitdump *.map *.sym *.txt stacks libnet.so.1 old/libnet.so.1; do
	test -e "$f" || continue
	if { case $f in *.gz) gzip -dc "$f" ;; *) cat "$f" ;; esac; } | grep -aqE "$work|$here|/root/|/home/|/tmp/"; then
		echo "$f: names a folder of this machine" >&2
		exit 1
	fi
	mkdir -p "$here/$(dirname "$f")"
	cp "$f" "$here/$f"
	chmod 644 "$here/$f"
done
