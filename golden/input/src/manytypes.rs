// A Rust program with much debug information for .ci/bench: the same functions for hundreds of types.
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key<const I: usize> {
    number: usize,
    text: String,
}

#[derive(Clone, Debug)]
enum Value<const I: usize> {
    Number(usize),
    Text(String),
    Keys(Vec<Key<I>>),
}

fn one<const I: usize>(text: &str) -> usize {
    let mut by_key: BTreeMap<Key<I>, Vec<Value<I>>> = BTreeMap::new();
    let mut by_text: HashMap<String, HashSet<Key<I>>> = HashMap::new();
    for i in 0..I + 3 {
        let key = Key::<I> { number: i * 7 % 5, text: format!("{text}{i}") };
        let list = by_key.entry(key.clone()).or_insert_with(Vec::new);
        list.push(Value::Number(i));
        list.push(Value::Text(key.text.clone()));
        list.push(Value::Keys(vec![key.clone(); 3]));
        by_text.entry(key.text.clone()).or_default().insert(key);
    }
    let mut all: Vec<(&Key<I>, &Vec<Value<I>>)> = by_key.iter().filter(|(k, _)| by_text.contains_key(&k.text)).collect();
    all.sort_by(|a, b| b.0.cmp(a.0));
    let mut out = String::new();
    for (key, list) in all.iter().rev().take(3) {
        write!(out, "{key:?} {list:?}").unwrap();
    }
    let sum: usize = all
        .iter()
        .flat_map(|(_, list)| list.iter())
        .map(|v| match v {
            Value::Number(n) => *n,
            Value::Text(t) => t.len(),
            Value::Keys(k) => k.iter().map(|k| k.number).max().unwrap_or(0),
        })
        .sum();
    sum + out.len()
}

macro_rules! ten {
    ($text:expr, $from:expr) => {
        one::<{ $from }>($text) + one::<{ $from + 1 }>($text) + one::<{ $from + 2 }>($text) + one::<{ $from + 3 }>($text)
            + one::<{ $from + 4 }>($text) + one::<{ $from + 5 }>($text) + one::<{ $from + 6 }>($text)
            + one::<{ $from + 7 }>($text) + one::<{ $from + 8 }>($text) + one::<{ $from + 9 }>($text)
    };
}

macro_rules! hundred {
    ($text:expr, $from:expr) => {
        ten!($text, $from) + ten!($text, $from + 10) + ten!($text, $from + 20) + ten!($text, $from + 30) + ten!($text, $from + 40)
            + ten!($text, $from + 50) + ten!($text, $from + 60) + ten!($text, $from + 70) + ten!($text, $from + 80) + ten!($text, $from + 90)
    };
}

fn main() {
    let text = std::env::args().next().unwrap_or_default();
    println!("{}", hundred!(&text, 0) + ten!(&text, 100) + ten!(&text, 110));
}
