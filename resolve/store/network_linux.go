package store

import "syscall"

// networkFS are the types of remote file systems, from statfs(2).
var networkFS = map[uint32]bool{
	0x6969:     true, // NFS
	0xff534d42: true, // CIFS
	0xfe534d42: true, // SMB2
	0x517b:     true, // SMB
	0x5346414f: true, // AFS
	0x00c36400: true, // Ceph
	0x01021997: true, // 9P
	0x47504653: true, // GPFS
	0x0bd00bd0: true, // Lustre
	0x65735546: true, // FUSE: may be any kind
}

// onNetwork reports whether a folder is on a remote file system.
func onNetwork(dir string) bool {
	var st syscall.Statfs_t
	return syscall.Statfs(dir, &st) == nil && networkFS[uint32(st.Type)]
}
