// Package supplier finds the symbols of modules: NewSymbols searches symbol files and stores,
// NewBinaries searches binaries and their debug files, and NewChain asks several suppliers in
// turn.
//
// Suppliers that ask servers are in package remote, so that programs that answer from files link no
// HTTP.
package supplier
