//! The keys and values of a TOML text, numbered, so that an error identifies exactly one of them.
//!
//! Serde's errors carry a span, but spans are ambiguous: that of `[environment.subject]` belongs to one table and
//! covers two keys. We therefore read a text with numbers instead of its spans. The number in an error leads to the
//! entry, which holds its path and its place in the text.

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::reading::text::{ROOT, Span};

/// A key or a value of the text.
#[derive(Debug)]
pub struct Entry {
    /// The path from the root to it.
    pub path: Vec<Step>,
    pub span: Span,
    /// Whether it is a key; otherwise it is a value.
    pub is_key: bool,
}

/// One step from a table or a list to its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To the value of a key.
    Key(String),
    /// To an item of a list.
    Item(usize),
}

/// A copy of `root` in which every span is the number of its entry; entry 0 is the root.
pub fn numbered<'i>(root: &DeTable<'i>) -> (Spanned<DeTable<'i>>, Vec<Entry>) {
    let mut entries = vec![Entry { path: Vec::new(), span: ROOT, is_key: false }];
    let root = number_table(root, &[], &mut entries);
    (Spanned::new(0..0, root), entries)
}

fn number_table<'i>(table: &DeTable<'i>, path: &[Step], entries: &mut Vec<Entry>) -> DeTable<'i> {
    let mut copy = DeTable::new();
    for (key, value) in table {
        let path = [path, &[Step::Key(key.get_ref().to_string())]].concat();
        let number = entries.len();
        entries.push(Entry { path: path.clone(), span: key.span(), is_key: true });
        copy.insert(Spanned::new(number..number, key.get_ref().clone()), number_value(value, path, entries));
    }
    copy
}

fn number_value<'i>(value: &Spanned<DeValue<'i>>, path: Vec<Step>, entries: &mut Vec<Entry>) -> Spanned<DeValue<'i>> {
    let number = entries.len();
    entries.push(Entry { path: path.clone(), span: value.span(), is_key: false });
    let copy = match value.get_ref() {
        DeValue::Table(table) => DeValue::Table(number_table(table, &path, entries)),
        DeValue::Array(items) => {
            let numbered = items.iter().enumerate().map(|(index, item)| {
                let path = [path.as_slice(), &[Step::Item(index)]].concat();
                number_value(item, path, entries)
            });
            DeValue::Array(numbered.collect())
        }
        scalar => scalar.clone(),
    };
    Spanned::new(number..number, copy)
}

pub fn value_at<'a, 'i>(root: &'a DeTable<'i>, path: &[Step]) -> Option<&'a DeValue<'i>> {
    let (Step::Key(first), rest) = path.split_first()? else { return None };
    rest.iter().try_fold(root.get(first.as_str())?.get_ref(), |value, step| match (value, step) {
        (DeValue::Table(table), Step::Key(key)) => table.get(key.as_str()).map(Spanned::get_ref),
        (DeValue::Array(items), Step::Item(index)) => items.get(*index).map(Spanned::get_ref),
        _ => None,
    })
}

/// Removes the entry at `path`. Returns false if there is none.
pub fn remove(root: &mut DeTable<'_>, path: &[Step]) -> bool {
    let Some((Step::Key(first), rest)) = path.split_first() else { return false };
    if rest.is_empty() {
        return root.remove(first.as_str()).is_some();
    }
    root.get_mut(first.as_str()).is_some_and(|value| remove_inside(value.get_mut(), rest))
}

fn remove_inside(value: &mut DeValue<'_>, path: &[Step]) -> bool {
    match (value, path) {
        (DeValue::Table(table), path) => remove(table, path),
        (DeValue::Array(items), [Step::Item(index)]) => {
            let left: DeArray<'_> = std::mem::replace(items, DeArray::new())
                .into_iter()
                .enumerate()
                .filter_map(|(place, item)| (place != *index).then_some(item))
                .collect();
            *items = left;
            true
        }
        (DeValue::Array(items), [Step::Item(index), rest @ ..]) => {
            items.get_mut(*index).is_some_and(|item| remove_inside(item.get_mut(), rest))
        }
        _ => false,
    }
}

/// Every key along `path`, each with the span of its table.
pub fn keys_along(root: &DeTable<'_>, path: &[Step]) -> Vec<(Span, String)> {
    let mut keys = Vec::new();
    let mut table_span = ROOT;
    let mut value: Option<&Spanned<DeValue<'_>>> = None;
    for step in path {
        let table = match value {
            None => Some(root),
            Some(value) => value.get_ref().as_table(),
        };
        value = match step {
            Step::Key(key) => {
                keys.push((table_span.clone(), key.clone()));
                table.and_then(|table| table.get(key.as_str()))
            }
            Step::Item(index) => value.and_then(|value| value.get_ref().as_array()).and_then(|items| items.get(*index)),
        };
        table_span = value.map_or(ROOT, Spanned::span);
    }
    keys
}
