//! URI templates of resources (N-42): literal text with `{name}` for one or more characters but `/`, `{+name}` also for
//! those. Values are percent-decoded.

use std::collections::HashSet;

/// A template, read once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Value { name: String, takes_slash: bool },
}

impl Template {
    /// Reads a template. Braces that hold no name are literal text.
    pub fn parse(template: &str) -> Self {
        let mut parts = Vec::new();
        let (mut literal, mut rest) = (String::new(), template);
        while let Some(open) = rest.find('{') {
            let (before, from) = rest.split_at(open);
            literal.push_str(before);
            match from.find('}').map(|close| (&from[1..close], &from[close + 1..])) {
                Some((inner, after)) if is_name(inner.trim_start_matches('+')) && !inner.starts_with("++") => {
                    if !literal.is_empty() {
                        parts.push(Part::Literal(std::mem::take(&mut literal)));
                    }
                    let takes_slash = inner.starts_with('+');
                    parts.push(Part::Value { name: inner.trim_start_matches('+').to_owned(), takes_slash });
                    rest = after;
                }
                _ => {
                    literal.push('{');
                    rest = &from[1..];
                }
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Self { parts }
    }

    /// Whether any name stands in it.
    pub fn has_values(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Value { .. }))
    }

    /// The values of the names, when the template is that of the whole URI. Each takes as much as it can.
    pub fn read(&self, uri: &str) -> Option<Vec<(String, String)>> {
        let mut dead = HashSet::new();
        let mut ends = Vec::new();
        if !self.fits(uri, 0, 0, &mut ends, &mut dead) {
            return None;
        }
        let names = self.parts.iter().filter_map(|part| match part {
            Part::Value { name, .. } => Some(name.clone()),
            Part::Literal(_) => None,
        });
        Some(names.zip(ends.into_iter().map(|(start, end)| decode(&uri[start..end]))).collect())
    }

    /// Whether the parts from `part` on fit the URI from `at` on. `dead` keeps what was tried in vain, so that many values
    /// in a row cost no more than their number times the square of the length.
    fn fits(
        &self,
        uri: &str,
        part: usize,
        at: usize,
        found: &mut Vec<(usize, usize)>,
        dead: &mut HashSet<(usize, usize)>,
    ) -> bool {
        if dead.contains(&(part, at)) {
            return false;
        }
        let fits = match self.parts.get(part) {
            None => at == uri.len(),
            Some(Part::Literal(text)) => {
                uri[at..].starts_with(text.as_str()) && self.fits(uri, part + 1, at + text.len(), found, dead)
            }
            Some(Part::Value { takes_slash, .. }) => {
                let stop = if *takes_slash { None } else { uri[at..].find('/') }.map_or(uri.len(), |stop| at + stop);
                let ends: Vec<usize> =
                    uri[at..stop].char_indices().map(|(index, char)| at + index + char.len_utf8()).collect();
                ends.into_iter().rev().any(|end| {
                    found.push((at, end));
                    let fits = self.fits(uri, part + 1, end, found, dead);
                    if !fits {
                        found.pop();
                    }
                    fits
                })
            }
        };
        if !fits {
            dead.insert((part, at));
        }
        fits
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// Percent-decodes; what is no escape stays as it is.
fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        let value = hex.filter(|hex| !hex.starts_with('+')).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match value {
            Some(value) if bytes[at] == b'%' => {
                decoded.push(value);
                at += 3;
            }
            _ => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
        Template::parse(template).read(uri)
    }

    fn values(pairs: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
        Some(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn a27_values_are_percent_decoded_and_the_text_between_is_literal() {
        assert_eq!(read("my-server://{id}/{p}", "my-server://7/a%2Fb"), values(&[("id", "7"), ("p", "a/b")]));
        assert_eq!(read("my-server://{id}", "myyserver://7"), None);
        assert_eq!(read("a.b://{id}", "axb://7"), None);
        assert_eq!(read("x://{id}", "x://50%"), values(&[("id", "50%")]));
        assert_eq!(read("x://{id}", "x://%+1%c3%a9"), values(&[("id", "%+1é")]));
    }

    #[test]
    fn n42_a_value_is_one_or_more_characters_but_a_slash() {
        assert_eq!(read("x://{a}", "x://"), None);
        assert_eq!(read("x://{a}", "x://b/c"), None);
        assert_eq!(read("x://{+a}", "x://b/c"), values(&[("a", "b/c")]));
        assert_eq!(read("x://{a}-{b}", "x://1-2-3"), values(&[("a", "1-2"), ("b", "3")]));
        assert_eq!(read("x://{a}.txt", "x://é.txt"), values(&[("a", "é")]));
        assert_eq!(read("x://{a}/end", "x://b/end/more"), None);
        assert!(!Template::parse("x://{}").has_values());
        assert!(!Template::parse("x://{a b}").has_values());
        assert!(Template::parse("x://{+a}").has_values());
    }

    #[test]
    fn many_values_in_a_row_do_not_take_for_ever() {
        let template = (0..40).map(|number| format!("{{v{number}}}")).collect::<String>() + "!";
        assert_eq!(read(&template, &"a".repeat(200)), None);
    }

    proptest! {
        #[test]
        fn what_is_put_in_comes_out(first in "[a-z]{1,9}", second in "[a-z/.%-]{1,9}") {
            let encoded: String = second.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let found = read("s://{a}/x.y/{b}", &format!("s://{first}/x.y/{encoded}"));
            prop_assert_eq!(found, values(&[("a", &first), ("b", &second)]));
        }

        #[test]
        fn nothing_panics(template in "\\PC{0,20}", uri in "\\PC{0,20}") {
            let _ = read(&template, &uri);
            let _ = read(&format!("{{a}}{template}{{+b}}"), &uri);
        }
    }
}
