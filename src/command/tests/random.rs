//! Values, texts and damaged programs by chance, judged by real shells.

use proptest::prelude::*;

use super::programs::{TOKENS, damages, programs, same_as_typed};
use super::*;

/// Values that would do something if a shell read them, and any bytes.
fn any_value() -> impl Strategy<Value = Vec<u8>> {
    let hostile = prop::sample::select(
        [
            "'; >pwned; '",
            "\"; >pwned; \"",
            "$(>pwned)",
            "`>pwned`",
            "\n>pwned\n",
            "*",
            "~",
            "-n",
            "'",
            "\"",
            "\\",
            "\nE\n",
            "${x:=y}",
            "}",
            ")",
            "; >pwned #",
            "&& >pwned",
            "|>pwned",
            "a[$(>pwned)]",
            "$((1",
            "<<E\n",
            "\r\n",
            "%s",
            "=",
            "#",
            "\u{e9}",
            " \t ",
        ]
        .map(|value| value.as_bytes().to_vec())
        .to_vec(),
    );
    let bytes = prop::collection::vec(1..=255_u8, 0..12);
    prop::collection::vec(prop_oneof![hostile, bytes], 0..6).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_value_arrives_in_every_place(value in any_value(), others in prop::collection::vec(any_value(), 0..3)) {
        let text = "f() { printf '%s\\0' \"$@\"; }
f ${v} a${v}b \"${v}\" \"a${v}b${v}\" '${v}' 'a${v}'\"b\" --x=${v} \\\\${v} # ${v}
x=${v} y=a${v}'b'; f \"$x\" \"$y\" \"${x#${v}}\" \"${y%${v}b}\" ${z:-${v}} \"${z:-${v}}\"
f \"$(printf %s ${v}; printf .)\" \"$(printf %s '${v}'; printf .)\" \"$(printf %s \"$(printf %s \"${v}\"; printf .)\")\"
f \"`printf %s ${v}; printf .`\" \"`printf %s \\\"${v}\\\"; printf .`\" \"$(printf %s \"`printf %s '${v}'; printf .`\")\"
cat <<E; cat <<-E; f
${v}a'${v}'$(printf %s ${v}; printf .)${z:-${v}}
E
\t\t${v}`printf %s \"${v}\"; printf .`
\tE
sh -c 'printf \"%s\\0\" \"$1\"' sh ${v}
case ${v} in ${v}) f matched ;; esac; case a${v} in ?) f ${v} ;; *${v}) f matched ;; esac
f ${l} \"${l}\" x${l} \"$#\"";
        let arguments = |words: &[Vec<u8>]| words.iter().map(|word| [word.as_slice(), b"\0"].concat()).collect::<Vec<_>>().concat();
        let v = value.as_slice();
        let with = |parts: &[&[u8]]| parts.concat();
        let mut wanted = arguments(&[
            v.to_vec(), with(&[b"a", v, b"b"]), v.to_vec(), with(&[b"a", v, b"b", v]), v.to_vec(), with(&[b"a", v, b"b"]),
            with(&[b"--x=", v]), with(&[b"\\", v]),
            v.to_vec(), with(&[b"a", v, b"b"]), vec![], b"a".to_vec(), v.to_vec(), v.to_vec(),
            with(&[v, b"."]), with(&[v, b"."]), with(&[v, b"."]), with(&[v, b"."]), with(&[v, b"."]), with(&[v, b"."]),
        ]);
        wanted.extend(with(&[v, b"a'", v, b"'", v, b".", v, b"\n", v, v, b".\n", b"\0"]));
        // `?` matches the `a` when nothing follows.
        wanted.extend(arguments(&[v.to_vec(), b"matched".to_vec(), if v.is_empty() { vec![] } else { b"matched".to_vec() }]));
        let mut glued = others.clone();
        match glued.first_mut() {
            Some(first) => first.insert(0, b'x'),
            None => glued.push(b"x".to_vec()),
        }
        wanted.extend(arguments(&[others.as_slice(), &[join(&others)], &glued, &[b"0".to_vec()]].concat()));
        let prepared = prepare(text.as_bytes(), &env(&[("v", word(&value)), ("l", Value::Words(others))])).unwrap();
        for shell in shells() {
            let dir = tempfile::tempdir().unwrap();
            let ran = run_in(dir.path(), &shell, &prepared);
            prop_assert_eq!(show_bytes(&ran.stdout), show_bytes(&wanted), "{:?} {}", shell, ran.stderr);
            prop_assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn quoted_words_arrive_whole(words in prop::collection::vec(any_value(), 0..5)) {
        let text = [b"printf '%s\\0' . ".as_slice(), &quote_words(&words)].concat();
        let wanted = [b".\0".to_vec(), words.iter().flat_map(|word| [word, b"\0".as_slice()].concat()).collect()].concat();
        for shell in shells() {
            let ran = run_in(Path::new("/"), &shell, &prepare(&text, &BTreeMap::new()).unwrap());
            prop_assert_eq!(show_bytes(&ran.stdout), show_bytes(&wanted), "{:?} {}", shell, ran.stderr);
        }
    }

    /// The shell itself is the judge: with a plain value, the script has to do what the text does with the value typed in.
    /// With a hostile one it has to do the same, with that value in the output, and the value must not run.
    #[test]
    fn a_random_program_does_with_a_value_what_it_does_with_plain_text(program in programs()) {
        same_as_typed(&program, true)?;
    }

    #[test]
    fn a_damaged_program_never_runs_a_value(mut program in programs(), damage in damages()) {
        for (at, token) in damage {
            let mut at = at.index(program.len() + 1);
            while !program.is_char_boundary(at) {
                at -= 1;
            }
            if !token.is_empty() {
                program.insert_str(at, token);
            } else if at < program.len() {
                program.remove(at);
            }
        }
        // A function could call itself for ever.
        let joined = program.replace("\\\n", "").replace([' ', '\t'], "");
        prop_assume!(!joined.contains("()"));
        same_as_typed(&program, false)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_taken_and_only_known_placeholders_are_replaced(
        tokens in prop::collection::vec(prop_oneof![prop::sample::select(TOKENS.to_vec()).prop_map(|token| token.as_bytes().to_vec()),
            prop::collection::vec(1..=255_u8, 0..3)], 0..40),
        raw_value in prop::sample::select(vec!["", "'", "${v}", "`", "<<E\n", "\\"]),
    ) {
        let text = tokens.concat();
        let unknown = prepare(&text, &env(&[("w", word("x"))])).unwrap();
        prop_assert_eq!(unknown, Prepared { script: text.clone(), variables: vec![], shown: text.clone() });
        let known = env(&[("v", word("x")), ("n", word("7")), ("r", raw(raw_value))]);
        for reading in [Reading::Posix, Reading::Bash] {
            let Ok(found) = lexer::read(&text, &[], 1, &|name| matches!(name, b"v" | b"n"), reading) else { continue };
            let mut done = 0;
            for edit in &found.edits {
                prop_assert!(edit.span.start >= done, "{:?}", found);
                let without: Vec<u8> = text[edit.span.clone()].iter().copied().filter(|&byte| byte != b'\\').collect();
                prop_assert!(without == b"${v}" || without == b"${n}", "{:?}", edit);
                done = edit.span.end;
            }
        }
        if let Ok(prepared) = prepare(&text, &known) {
            prop_assert!(prepared.variables.len() <= 2);
        }
    }
}
