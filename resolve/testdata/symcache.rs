// Answers addresses from a symcache, with Sentry's own crates where Debian has them:
// symbolic-common and debugid for the CPU, the debug id in the header's memory layout,
// languages, and the joining of paths. The look-up is that of symbolic-symcache's
// documentation.
//
//	symcache FILE <addresses, u32 little-endian >answers
//
// The first line has id, CPU and its number; then one block for each address: a line
// for each function, innermost first, with name, language, joined path, the path as
// symbolic simplifies it, and line, with tabs between; and an empty line.
use std::io::{BufWriter, Read, Write};
use symbolic_common::{clean_path, join_path, Arch, DebugId, Language};

#[repr(C)]
#[derive(Clone, Copy)]
struct Header {
    magic: [u8; 4],
    version: u32,
    debug_id: DebugId,
    arch: u32,
    files: u32,
    functions: u32,
    locations: u32,
    ranges: u32,
    string_bytes: u32,
    reserved: [u8; 16],
}

fn words(data: &[u8], pos: &mut usize, count: u32, size: usize) -> Vec<u32> {
    *pos = (*pos + 7) & !7;
    let bytes = &data[*pos..*pos + count as usize * size];
    *pos += bytes.len();
    bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn text<'a>(version: u32, strings: &'a [u8], offset: u32) -> &'a str {
    if offset == u32::MAX {
        return "";
    }
    let rest = &strings[offset as usize..];
    let (mut length, mut used) = (0usize, 0);
    if version == 7 {
        length = u32::from_le_bytes(rest[..4].try_into().unwrap()) as usize;
        used = 4;
    } else {
        loop {
            length |= ((rest[used] & 0x7f) as usize) << (7 * used);
            used += 1;
            if rest[used - 1] < 0x80 {
                break;
            }
        }
    }
    std::str::from_utf8(&rest[used..used + length]).expect("UTF-8")
}

fn main() {
    let data = std::fs::read(std::env::args().nth(1).unwrap()).unwrap();
    assert_eq!(std::mem::size_of::<Header>(), 80);
    assert!(data.len() >= 80);
    let h = unsafe { std::ptr::read_unaligned(data.as_ptr() as *const Header) };
    assert_eq!(&h.magic, b"SYMC");
    let file_words = if h.version >= 9 { 6 } else { 3 };
    let mut pos = 80;
    let files = words(&data, &mut pos, h.files, 4 * file_words);
    let functions = words(&data, &mut pos, h.functions, 16);
    let locations = words(&data, &mut pos, h.locations, 16);
    let ranges = words(&data, &mut pos, h.ranges, 4);
    pos = (pos + 7) & !7;
    let strings = &data[pos..pos + h.string_bytes as usize];
    assert_eq!(data.len(), pos + strings.len());
    assert!(ranges.windows(2).all(|w| w[0] < w[1]));
    let str = |offset| text(h.version, strings, offset);

    let mut asked = Vec::new();
    std::io::stdin().read_to_end(&mut asked).unwrap();
    let mut out = BufWriter::new(std::io::stdout());
    writeln!(out, "{}\t{}\t{}", h.debug_id.breakpad(), Arch::from_u32(h.arch), h.arch).unwrap();
    for a in asked.chunks(4) {
        let address = u32::from_le_bytes(a.try_into().unwrap());
        let after = ranges.partition_point(|&r| r <= address);
        let mut at = match after {
            0 => u32::MAX,
            _ => h.locations - h.ranges + after as u32 - 1,
        };
        while at != u32::MAX {
            let l = &locations[4 * at as usize..][..4];
            if l.iter().all(|&w| w == u32::MAX) {
                break;
            }
            let f = &functions[4 * l[2] as usize..][..4];
            let (mut path, mut clean) = (String::new(), String::new());
            if l[0] != u32::MAX {
                let file = &files[file_words * l[0] as usize..][..3];
                path = join_path(&join_path(str(file[0]), str(file[1])), str(file[2]));
                clean = clean_path(&path).into_owned();
            }
            writeln!(out, "{}\t{}\t{}\t{}\t{}", str(f[0]), Language::from_u32(f[3]).name(), path, clean, l[1]).unwrap();
            at = l[3];
        }
        writeln!(out).unwrap();
    }
    out.flush().unwrap();
}
