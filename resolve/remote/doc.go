// Package remote gets symbols over HTTP: NewServers from symbol servers, and NewDebuginfod, for
// supplier.NewFetchingBinaries, from debuginfod servers.
//
// It is apart from package resolve so that a program that uses files alone links no HTTP and no
// TLS.
package remote
