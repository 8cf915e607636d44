package symcache

// arches are the CPUs with the numbers of symbolic_common::Arch, by their names
// in MODULE. symbolic has none for RISC-V and S/390.
var arches = []struct {
	name   string
	number uint32
}{
	{"x86", 101}, {"x86_64", 201}, {"x86_64h", 202},
	{"arm", 301}, {"armv5", 302}, {"armv6", 303}, {"armv6m", 304}, {"armv7", 305}, {"armv7f", 306},
	{"armv7s", 307}, {"armv7k", 308}, {"armv7m", 309}, {"armv7em", 310},
	{"arm64", 401}, {"arm64v8", 402}, {"arm64e", 403},
	{"ppc", 501}, {"ppc64", 601}, {"mips", 701}, {"mips64", 801},
	{"arm64_32", 901}, {"arm64_32_v8", 902}, {"wasm32", 1001},

	// Other names, and numbers of families without a known member.
	{"i386", 101}, {"i686", 101}, {"amd64", 201}, {"aarch64", 401},
	{"x86", 199}, {"x86_64", 299}, {"arm", 399}, {"arm64", 499}, {"arm64_32", 999},
}

// archNumber returns the number of a CPU, 0 if it has none.
func archNumber(name string) uint32 {
	for _, a := range arches {
		if a.name == name {
			return a.number
		}
	}
	return 0
}

// archName returns the name of a CPU, "" for an unknown number.
func archName(number uint32) string {
	for _, a := range arches {
		if a.number == number {
			return a.name
		}
	}
	return ""
}
