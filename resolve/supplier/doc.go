// Package supplier finds the symbols of modules: in symbol files and stores (NewSymbols), and in
// binaries and their debug files (NewBinaries). NewChain asks several suppliers in turn.
//
// Suppliers that ask servers are in package remote, so that programs that answer from files link no
// HTTP.
package supplier
