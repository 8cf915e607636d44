package archive

import "io"

// images lists file systems and disk images, none of which is read. Each is recognized by its magic at a byte offset;
// negative offsets count from the end.
var images = []struct {
	Format
	magic string
	at    int64
}{
	{unread("an ISO 9660 image", "unpack it with 7z or bsdtar, and name the folder"), "CD001", 32769},
	{unread("an ext2, ext3 or ext4 file system", "unpack it with 7z, or mount it, and name the folder"), "\x53\xef", 1080},
	{unread("a Btrfs file system", "mount it, and name the folder"), "_BHRfS_M", 65600},
	{unread("an XFS file system", "mount it, and name the folder"), "XFSB", 0},
	{unread("an EROFS file system", "unpack it with fsck.erofs --extract, and name the folder"), "\xe2\xe1\xf5\xe0", 1024},
	{unread("a disk with a GPT", "unpack its file systems with 7z, and name the folder"), "EFI PART", 512},
	{unread("a disk or FAT file system", "unpack it with 7z, or mount it, and name the folder"), "\x55\xaa", 510},
	{unread("a disk image of macOS", "unpack it with 7z, and name the folder"), "koly", -512},
	{unread("a disk of QEMU", "unpack it with 7z, and name the folder"), "QFI\xfb", 0},
	{unread("a disk of VMware", "unpack it with 7z, and name the folder"), "KDMV", 0},
	{unread("a virtual hard disk", "unpack it with 7z, and name the folder"), "vhdxfile", 0},
	{unread("a Flatpak bundle", "unpack it with flatpak build-import-bundle and ostree checkout, and name the folder"), "flatpak\x00", 0},
}

// unread returns a format that is not read.
func unread(what, hint string) Format { return Format{What: what, hint: hint} }

// FindAt returns the format of a file of size bytes, or nil. It tries the formats of Find and then, unless other
// reports that the file begins like something else, disks and file systems, some of which have short magics.
func FindAt(r io.ReaderAt, size int64, other func(head []byte) bool) *Format {
	head := make([]byte, HeadSize)
	n, _ := r.ReadAt(head, 0) // a file that cannot be read has no format
	if f := Find(head[:n]); f != nil || other(head[:n]) {
		return f
	}
	for i := range images {
		m := &images[i]
		at := m.at
		if at < 0 {
			at += size
		}
		found := make([]byte, len(m.magic))
		if _, err := r.ReadAt(found, max(at, 0)); err == nil && at >= 0 && string(found) == m.magic {
			return &m.Format
		}
	}
	return nil
}
