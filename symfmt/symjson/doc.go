// Package symjson reads and writes a module's symbols as JSON: as JSON Lines,
// one record a line, or as one document. Both hold everything that a
// symfmt.Module holds, in its order. Use Read and Write.
//
// # The format
//
// The JSON follows RFC 8259 with the restrictions of RFC 7493 (I-JSON): UTF-8,
// unique keys, numbers that fit a double. JSON Lines are RFC 8259 texts, each
// terminated by a newline. golden/symfmt/symjson/schema.json, a JSON Schema
// (draft 2020-12), defines the format in full; its #/$defs/line defines a line.
//
//	{"kind":"module","format":"symtool-symbols","version":1,"os":"Linux","arch":"x86_64","id":"D0BC...","name":"vmlinux"}
//	{"kind":"info","key":"CODE_ID","value":"EB4F..."}
//	{"kind":"file","number":0,"name":"init/main.c"}
//	{"kind":"inline_origin","number":0,"name":"arch_local_save_flags"}
//	{"kind":"func","rva":4096,"size":32,"param_size":0,"multiple":false,"name":"start_kernel",
//	 "inlines":[{"depth":0,"origin":0,"call_file":0,"call_line":7,"ranges":[[4100,8]]}],
//	 "lines":[[4096,4,5,0],[4100,28,7,0]]}
//	{"kind":"public","rva":8192,"param_size":0,"multiple":false,"name":"_end"}
//	{"kind":"stack_win","type":4,"rva":4096,"size":32,...,"program":"$T0 .raSearch =","allocates_base_pointer":false}
//	{"kind":"stack_cfi","rva":4096,"size":32,"init":".cfa: $rsp 8 + .ra: .cfa -8 + ^","rows":[[4097,".cfa: $rsp 16 +"]]}
//
// A FUNC contains its INLINE and line records, and a STACK CFI INIT its STACK CFI
// records. Line records are [rva, size, line, file], ranges [rva, size], rows
// [rva, rules]. The document is {"format", "version", "module", "infos", "files",
// "inline_origins", "funcs", "publics", "stack_wins", "stack_cfis"}: lists of the
// same objects, without "kind".
//
// Addresses and sizes are in bytes; addresses are relative to the module's load
// base. Numbers are JSON numbers up to 2^53-1, so that jq and JavaScript can
// calculate with them; larger numbers, which their doubles would round, are
// strings of "0x" and 16 hexadecimal digits.
//
// In a string that is not valid UTF-8, U+FFFD replaces each invalid byte, and a
// second field holds the string's bytes in base64: "name" and "name_base64", or a
// third element of a row. If the two differ, the bytes count. Unprintable
// characters are escaped.
//
// "file" of an inline_origin is the FILE of the old form, -1 for none; without
// it, the record has the new form. "call_file" is null in the old form of
// INLINE. "program" is present if a STACK WIN has one. With Options.Names, a
// func has "file_names" and "origin_names", objects that map the numbers in its
// records to names. They are for people; Read ignores them.
//
// # What is read
//
// Fields may be in any order, and those with a default (all that the schema does
// not require) may be missing. A record of JSON Lines extends from a line that
// begins with '{' to the next such line, so that output of jq without -c can be
// read, too. An error costs the nearest enclosing INLINE or line record, range,
// STACK CFI record, or record, and is a problem with line, column and path.
// Invalid JSON costs a record of JSON Lines, or the rest of a document. Unknown
// fields and kinds are problems, and skipped; an unknown version is an error.
// Beyond the schema, numbers may have a fraction of zeros or an exponent, and an
// unquoted number of 2^53 or more is taken as it is and reported, as it may have
// been rounded.
//
// References are not checked: the module may contain numbers of FILEs that are
// missing or occur twice. Package lint checks them.
package symjson
