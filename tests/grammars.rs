//! Two grammars read shell text: the lexer that puts values into templates, and the parser that rules are judged by. What the
//! one takes for a place inside of a word, the other must take for one as well.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use lathe_core::command::{Value, prepare};
use lathe_core::gate::shell::{Script, parse};
use proptest::prelude::*;

/// Values that would be more than a word if they stood where they are not quoted for.
const HOSTILE: [&str; 12] = [
    "a; rm b",
    "$(rm b)",
    "`rm b`",
    "a' rm 'b",
    "a\" rm \"b",
    "a\nrm b",
    "a | rm b",
    "a & rm b",
    "a > b",
    "{a,b}",
    "a) rm (b",
    "\\",
];

fn place() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "${v}",
        "\"${v}\"",
        "'${v}'",
        "a${v}b",
        "\"a ${v} b\"",
        "'a ${v}'\"${v}\"",
        "\"$(one \"${v}\")\"",
        "$(two ${v})",
        "x=${v}",
        "--o='${v}'",
        "\"${x:-${v}}\"",
        "`two ${v}`",
        "\\$\"${v}\"",
        "plain",
    ])
}

fn line() -> impl Strategy<Value = String> {
    let command = (prop::sample::select(vec!["one", "two"]), prop::collection::vec(place(), 0..3))
        .prop_map(|(name, words)| format!("{name} {}", words.join(" ")));
    command.prop_recursive(3, 12, 2, |inner| {
        prop_oneof![
            (inner.clone(), prop::sample::select(vec![" && ", "; ", " | ", " || ", "\n"]), inner.clone())
                .prop_map(|(a, join, b)| format!("{a}{join}{b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.clone().prop_map(|a| format!("if {a}; then one; fi")),
            inner.clone().prop_map(|a| format!("for i in ${{v}} b; do {a}; done")),
            inner.clone().prop_map(|a| format!("{a} > ${{v}}")),
            inner.clone().prop_map(|a| format!("{{ {a} <<E\nx ${{v}} y\nE\n}}")),
            inner.clone().prop_map(|a| format!("{a} # ${{v}}\n:")),
            inner.prop_map(|a| format!("case ${{v}} in a) {a};; esac")),
        ]
    })
}

/// The programs that a text runs, as rules see them, with the value put in. None: one of the two refuses the text.
fn programs(text: &str, value: &str) -> Option<BTreeSet<String>> {
    let env = BTreeMap::from([("v".to_owned(), Value::Word(value.into()))]);
    let shown = String::from_utf8(prepare(text.as_bytes(), &env).ok()?.shown).unwrap();
    match parse(&shown) {
        Script::Parsed(parts) => {
            let program = |written: String| written.split([' ', '\n']).next().unwrap_or_default().to_owned();
            Some(parts.commands.into_iter().map(|command| program(command.written)).collect())
        }
        Script::Empty => Some(BTreeSet::new()),
        Script::Unparsable => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn a_value_that_is_put_in_is_never_a_command_to_the_rules(text in line(), hostile in prop::sample::select(HOSTILE.to_vec())) {
        if let (Some(plain), Some(found)) = (programs(&text, "word"), programs(&text, hostile)) {
            prop_assert_eq!(plain, found, "{:?} with {:?}", text, hostile);
        }
    }

    #[test]
    fn what_the_lexer_takes_the_parser_takes_as_well(text in line()) {
        // A text whose plain form can be judged can be judged with a value that needs quotes.
        if programs(&text, "word").is_some() {
            prop_assert!(programs(&text, "a; rm b").is_some(), "{:?}", text);
        }
    }
}
