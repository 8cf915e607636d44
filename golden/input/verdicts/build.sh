#!/bin/sh
# Makes the crashes of this folder again: the program byte for byte with gcc 12.2 and binutils 2.40 of Debian bookworm on
# x86-64, the kernel's cores of it with other random bytes. Cores need root and a core_pattern of "core". bottom is of
# PowerPC: gcc-powerpc64le-linux-gnu 12.2, qemu-user-static 7.2.
#
#   ./build.sh program   only the program
#   ./build.sh cores     also run it
set -eu
export LC_ALL=C SOURCE_DATE_EPOCH=0
here=$(cd "$(dirname "$0")" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/src/* "$work"
cd "$work"
what=${1:?program or cores}
gcc -g1 -O2 -fno-optimize-sibling-calls -fno-stack-protector -fcf-protection=none -fasynchronous-unwind-tables -ffreestanding -mno-sse \
	-ffile-prefix-map="$work"=/src -frandom-seed=0 -static -no-pie -nostdlib -Wl,--build-id=sha1 -Wl,-z,noseparate-code -Wl,-z,max-page-size=4096 \
	verdicts.c verdicts.S -o verdicts.elf
powerpc64le-linux-gnu-gcc -g1 -O2 -fno-optimize-sibling-calls -fno-stack-protector -fasynchronous-unwind-tables -ffreestanding -ffile-prefix-map="$work"=/src \
	-frandom-seed=0 -static -no-pie -nostdlib -Wl,--build-id=sha1 bottom.c -o bottom.elf
cp verdicts.elf bottom.elf "$here"
test "$what" = cores || exit 0

# core NAME COMMAND...: in namespaces of its own, in a folder that every machine has.
core() {
	name=$1
	shift
	env -i unshare --pid --mount-proc --fork sh -c "mount --bind $work /mnt; cd /mnt; unset OLDPWD PWD; ulimit -s 64; ulimit -c unlimited; setarch -R env -i $*; :"
	mv qemu_*.core "$name.core" 2>/dev/null || mv core* "$name.core"
	rm -f core core.*
	if grep -aqE "$work|$here|/root/|/home/|/tmp/" "$name.core"; then echo "$name.core: names a folder of this machine" >&2; exit 1; fi
	gzip -9nf "$name.core"
	chmod 644 "$name.core.gz"
	cp "$name.core.gz" "$here"
}

core complete ./verdicts.elf
core bare ./verdicts.elf 2
core overflow ./verdicts.elf 2 3
core threads ./verdicts.elf 2 3 4
core null ./verdicts.elf 2 3 4 5
core smashed ./verdicts.elf 2 3 4 5 6
core cleared ./verdicts.elf 2 3 4 5 6 7
core switched ./verdicts.elf 2 3 4 5 6 7 8
core injected ./verdicts.elf 2 3 4 5 6 7 8 9
core bottom qemu-ppc64le-static -seed 1 -s 65536 ./bottom.elf
