// Package upload sends symbol files to servers: by Breakpad's two protocols, as plain files, in
// zips, and to buckets of S3 or compatible servers.
//
// # The protocols, as we speak them
//
// sym-upload-v1 (Breakpad's symupload): POST of a form, multipart/form-data, with the
// fields os, cpu, debug_file, debug_identifier, code_file, code_identifier if INFO
// CODE_ID has one, the user's, such as product and version, and the file symbol_file.
//
// sym-upload-v2 (Breakpad's docs/sym_upload_v2_protocol.md and sym_upload), below URL:
//
//	GET  /v1/symbols/NAME/ID:checkStatus   {"status": "FOUND"} or "MISSING"
//	POST /v1/uploads:create                {"uploadUrl": ..., "uploadKey": ...}
//	PUT  uploadUrl                         the file
//	POST /v1/uploads/KEY:complete          {"symbol_id": {"debug_file", "debug_id"},
//	                                        "symbol_upload_type": "BREAKPAD"}
//	                                       {"result": "OK"} or "DUPLICATE_DATA"
//
// The API key is sent as ?key= with all requests but the PUT.
//
// put: PUT URL/NAME/ID/STEM.sym, for WebDAV and the like. A file that HEAD finds there with the
// same size is not sent. A missing folder (409) is created with MKCOL.
//
// zip (Mozilla's Tecken): POST of a form with a zip, in a field with the name of the file, with
// the header Auth-Token. The files in the answer's upload.skipped_keys were there already.
//
// s3: HEAD and PUT of objects, above 64 MiB in parts, signed with AWS's
// Signature Version 4 by minio-go.
//
// # Guarantees
//
// A file is read to its end and checked before any of it is sent, and again while it is sent: an
// upload of a file that changes in between is not completed. The token, the user's headers and
// the credentials are sent only to the named server, never to one that it redirects to or names
// as uploadUrl, and appear in no message. PUT and POST follow only 307 and 308: on 301, 302 and
// 303 other clients continue without the body, and take a login page for success.
//
// # Where we differ
//
//   - from Breakpad's sym_upload: answers are read as JSON, not searched for a text with
//     one blank in it; the complete request is JSON (there its keys have no quotes) with
//     the type application/json (there application/son); the API key and names are
//     escaped; code_file comes from INFO CODE_ID, if it has one. A complete request whose
//     answer was lost is looked up, not failed. Statuses other than 200 count by their
//     class. (TestV1, TestV2)
//   - from Mozilla's upload_symbols.py: zips have the same bytes each time, and a file
//     that does not fit into one is reported, not sent. (TestZip)
package upload
