//! Names under which the model knows the tools of servers (N-10, N-11): legal for every provider, unique, the same in every
//! session.

use std::collections::{HashMap, HashSet};

use crate::adapter::{MAX_NAME_BYTES, shorten};

/// A name, and whether another tool of the same server has it without its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// For the model.
    pub name: String,
    /// Two tools of one server have one safe name; this is the later one.
    pub collides: bool,
}

/// What `safe` means in N-10: every byte that is no letter, digit or `_` is `_`.
fn safe(name: &str) -> String {
    name.bytes().map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte) } else { '_' }).collect()
}

/// The first of `name`, `name_1`, `name_2` … that `take` accepts, and whether it is not the first.
fn first_free(name: &str, mut take: impl FnMut(&str) -> bool) -> (String, bool) {
    if take(name) {
        return (name.to_owned(), false);
    }
    let numbered = (1u64..).map(|number| format!("{name}_{number}")).find(|name| take(name));
    (numbered.unwrap_or_else(|| name.to_owned()), true)
}

fn fit(name: String) -> String {
    if name.len() > MAX_NAME_BYTES { shorten(&name, 0, MAX_NAME_BYTES) } else { name }
}

/// Names for the tools of servers, given as (server, its tools) in the order of registration.
pub fn assign(prefix: &str, servers: &[(String, Vec<String>)]) -> Vec<Vec<Name>> {
    let (prefix, mut servers_taken) = (safe(prefix), HashSet::new());
    let mut taken: HashSet<String> = HashSet::new();
    let mut all = Vec::with_capacity(servers.len());
    for (server, tools) in servers {
        let (server, _) = first_free(&safe(server), |name| servers_taken.insert(name.to_owned()));
        let mut own: HashMap<String, ()> = HashMap::with_capacity(tools.len());
        let names = tools.iter().map(|tool| {
            let tool = safe(tool);
            let collides = own.insert(tool.clone(), ()).is_some();
            // `a` with `b__c` and `a__b` with `c` meet as well.
            let (full, _) = first_free(&format!("{prefix}{server}__{tool}"), |name| taken.insert(fit(name.to_owned())));
            Name { name: fit(full), collides }
        });
        all.push(names.collect());
    }
    all
}

/// Names of servers as mentions use them, in the order of registration.
pub fn groups(servers: &[(String, Vec<String>)]) -> Vec<String> {
    let mut taken = HashSet::new();
    servers.iter().map(|(server, _)| first_free(&safe(server), |name| taken.insert(name.to_owned())).0).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(prefix: &str, servers: &[(&str, &[&str])]) -> Vec<String> {
        let servers: Vec<_> = servers
            .iter()
            .map(|(server, tools)| ((*server).to_owned(), tools.iter().map(|tool| (*tool).to_owned()).collect()))
            .collect();
        assign(prefix, &servers).into_iter().flatten().map(|name| name.name).collect()
    }

    #[test]
    fn n10_a21_every_other_byte_is_an_underscore_and_the_later_of_two_gets_a_number() {
        assert_eq!(names("", &[("example", &["greet"])]), ["example__greet"]);
        assert_eq!(names("", &[("a-b", &["t"]), ("a_b", &["t"])]), ["a_b__t", "a_b_1__t"]);
        assert_eq!(names("my.", &[("s", &["é-1"])]), ["my_s_____1"]);
        assert_eq!(names("", &[("s", &["a.b", "a-b", "a_b"])]), ["s__a_b", "s__a_b_1", "s__a_b_2"]);
        assert_eq!(names("", &[("a", &["b__c"]), ("a__b", &["c"])]), ["a__b__c", "a__b__c_1"]);
        assert_eq!(names("", &[("x", &["t"]), ("x_1", &["t"]), ("x", &["t"])]), ["x__t", "x_1__t", "x_2__t"]);
    }

    #[test]
    fn n10_only_a_collision_within_a_server_is_told() {
        let servers = [
            ("a-b".to_owned(), vec!["t".to_owned()]),
            ("a_b".to_owned(), vec!["t".to_owned(), "t ".into(), "t.".into()]),
        ];
        let told: Vec<Vec<bool>> =
            assign("", &servers).iter().map(|names| names.iter().map(|name| name.collides).collect()).collect();
        assert_eq!(told, [vec![false], vec![false, false, true]]);
        assert_eq!(groups(&servers), ["a_b", "a_b_1"]);
    }

    #[test]
    fn n11_a_long_name_is_cut_to_55_bytes_and_a_hash_of_the_whole() {
        let (server, tool) = ("s".repeat(40), "t".repeat(41));
        let long = format!("{server}__{tool}");
        let found = names("", &[(&server, &[&tool, &format!("{tool}2")])]);
        assert_eq!(found[0].len(), 64);
        assert_eq!(found[0][..56], format!("{}_", &long[..55]));
        assert!(found[0][56..].bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_ne!(found[0], found[1]);
        // The same in every process and build.
        assert_eq!(names("", &[(&"s".repeat(80), &["t"])]), [format!("{}_040aeda5", "s".repeat(55))]);
    }

    proptest! {
        #[test]
        fn names_are_legal_unique_and_those_before_never_change(
            prefix in "\\PC{0,4}",
            servers in prop::collection::vec(("[a-c_. -]{1,3}|\\PC{1,70}", prop::collection::vec("[ab_.-]{1,2}|\\PC{1,70}", 0..6)), 0..6)
        ) {
            let all: Vec<String> = assign(&prefix, &servers).into_iter().flatten().map(|name| name.name).collect();
            let unique: HashSet<&String> = all.iter().collect();
            prop_assert_eq!(unique.len(), all.len());
            for name in &all {
                prop_assert!(name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
            }
            if let Some((_, before)) = servers.split_last() {
                let before: Vec<String> = assign(&prefix, before).into_iter().flatten().map(|name| name.name).collect();
                prop_assert_eq!(&all[..before.len()], &before[..]);
            }
        }
    }
}
