// A program with what Rust's optimizer takes apart: iterators, closures, nested enums, shared cells, maps, trait objects.
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Debug;
use std::rc::{Rc, Weak};

trait Shape: Debug {
    fn area(&self) -> f64;
    fn name(&self) -> &str;
}

#[derive(Debug)]
struct Disc {
    radius: f64,
    label: &'static str,
}
#[derive(Debug)]
struct Slab(u32, u32);

impl Shape for Disc {
    fn area(&self) -> f64 {
        3.0 * self.radius * self.radius
    }
    fn name(&self) -> &str {
        self.label
    }
}
impl Shape for Slab {
    fn area(&self) -> f64 {
        f64::from(self.0 * self.1)
    }
    fn name(&self) -> &str {
        "slab"
    }
}

#[derive(Debug, Clone)]
enum Leaf {
    Empty,
    Int(i64),
    Text { body: String, at: u16 },
    Nested(Box<Leaf>, Option<Box<Leaf>>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(u8)]
enum Level {
    Low = 3,
    High = 200,
}

#[derive(Debug)]
struct Node {
    id: u128,
    kids: RefCell<Vec<Rc<Node>>>,
    parent: RefCell<Weak<Node>>,
    hits: Cell<i8>,
    level: Option<Level>,
    span: std::ops::Range<usize>,
    result: Result<u8, String>,
}

#[inline(never)]
fn weigh(shapes: &[Option<Box<dyn Shape>>], scale: f64, words: &[&str]) -> usize {
    let names: Vec<&str> = shapes.iter().flatten().map(|s| s.name()).collect();
    let total: f64 = shapes.iter().enumerate().filter_map(|(i, s)| s.as_ref().map(|s| s.area() * scale + i as f64)).sum();
    let longest = words.iter().copied().max_by_key(|w| w.len()).unwrap_or("none");
    let at = total as usize + names.len() + longest.len();
    let worst: *const usize = std::ptr::null();
    at + unsafe { worst.read_volatile() }
}

#[inline(never)]
fn climb(node: &Rc<Node>, leaves: &[Leaf], counts: &mut HashMap<String, (u32, char)>, depth: i32) -> i64 {
    let mut sum = i64::from(node.hits.get());
    for leaf in leaves {
        sum += match leaf {
            Leaf::Empty => 0,
            Leaf::Int(n) if *n < 0 => -n,
            Leaf::Int(n) => *n,
            Leaf::Text { body, at } => {
                counts.entry(body.clone()).or_insert((0, 'q')).0 += u32::from(*at);
                body.len() as i64
            }
            Leaf::Nested(first, rest) => climb(node, std::slice::from_ref(first), counts, depth + 1) + rest.iter().count() as i64,
        };
    }
    let kids = node.kids.borrow();
    if depth == 0 {
        let shapes: Vec<Option<Box<dyn Shape>>> = vec![Some(Box::new(Disc { radius: 1.5, label: "disc" })), None, Some(Box::new(Slab(2, 3)))];
        let scale = kids.len() as f64 + 0.5;
        sum += weigh(&shapes, scale, &["one", "three", "fifteen"]) as i64;
    }
    sum + kids.len() as i64
}

fn main() {
    let root = Rc::new(Node {
        id: 1 << 100 | 7, kids: RefCell::new(vec![]), parent: RefCell::new(Weak::new()), hits: Cell::new(-3),
        level: Some(Level::High), span: 2..9, result: Err("bad".to_string()),
    });
    let kid = Rc::new(Node {
        id: 2, kids: RefCell::new(vec![]), parent: RefCell::new(Rc::downgrade(&root)), hits: Cell::new(1), level: None, span: 0..1, result: Ok(Level::Low as u8),
    });
    root.kids.borrow_mut().push(kid.clone());
    let leaves = [
        Leaf::Empty, Leaf::Int(-5), Leaf::Text { body: "body".into(), at: 9 },
        Leaf::Nested(Box::new(Leaf::Int(4)), Some(Box::new(Leaf::Nested(Box::new(Leaf::Empty), None)))),
    ];
    let mut counts = HashMap::new();
    let queue: VecDeque<_> = leaves.iter().cloned().collect();
    let tree: BTreeMap<_, _> = (0..5).map(|i| (i, format!("v{i}"))).collect();
    let grow = |by: i32| move |n: i64| n + i64::from(by) + tree.len() as i64;
    let add = grow(queue.len() as i32);
    println!("{} {:?}", add(climb(&root, &leaves, &mut counts, 0)), kid);
}
