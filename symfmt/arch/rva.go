package arch

// RVA is an address in bytes, relative to the module's load base: the page of
// its lowest PT_LOAD segment. Breakpad calls it "relative to the module's load
// address". symfmt and symfmt/cfi alias it.
type RVA uint64
