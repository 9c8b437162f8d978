//! What real shells make of the expansions.

use super::*;

#[test]
fn programs_do_not_see_the_variables() {
    let prepared = prepare(b"set -a; env; printf %s ${v}", &env(&[("v", word("hidden"))])).unwrap();
    for shell in shells() {
        let ran = run_in(Path::new("/"), &shell, &prepared);
        let stdout = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert_eq!((stdout.matches("hidden").count(), stdout.contains("__lathe")), (1, false), "{shell:?}: {stdout}");
    }
}

#[test]
fn a_line_that_bash_gives_up_takes_no_value_with_it() {
    let prepared = prepare(b"x=(;\necho /${v}", &env(&[("v", word("home"))])).unwrap();
    for shell in shells() {
        let stdout = run_in(Path::new("/"), &shell, &prepared).stdout;
        assert!(stdout.is_empty() || stdout == b"/home\n", "{shell:?}: {}", show_bytes(&stdout));
    }
}

#[test]
fn words_arrive_whole() {
    t("printf '[%s]' ${v} ${l} a${l}b ${none} a${none}b end").prints("[V][one][two  *][][aone][two  *][b][ab][end]");
    t("printf '[%s]' \"${v}\" \"${l}\" \"${none}\" '${l}' '${none}'").prints("[V][one two  * ][][one two  * ][]");
    t("printf '[%s]' '${v}' x'${v}'${v}\"${v}\"").prints("[V][xVVV]");
    t("printf '[%s]' --a=${l} b=${l}").prints("[--a=one][two  *][][b=one two  * ]");
    t("x=${l} y=${none}; printf '[%s]' \"$x\" \"$y\"").prints("[one two  * ][]");
    t("x=a; printf '[%s]' $x${v} \"$x${none}y\"").prints("[aV][ay]");
    t("for i in ${l}; do printf '[%s]' \"$i\"; done").prints("[one][two  *][]");
    t("for i in ${none}; do echo \"$i\"; done; ${none} && echo ok").prints("ok\n");
    t("f() { printf '[%s]' \"$#\" \"$@\" ${v}; }; f ${l}").prints("[3][one][two  *][][V]");
    t("case ${v} in ${l}) echo no ;; ${v}) echo yes ;; esac").prints("yes\n");
    t("case a in ${v}|*) printf %s ${v} ;; esac").prints("V");
    t("sh -c 'printf %s \"$1\"' sh ${v}").prints("V");
    t("set -eu; printf %s ${v}${none}").prints("V");
    t("printf %s ${r}").prints("x  yz");
    t("-x() { :; }; echo ok").prepared().unwrap();
}

#[test]
fn nested_places_arrive_whole() {
    t("printf %s \"$(printf %s ${v}; echo .)\"").prints("V.");
    t("printf %s \"`printf %s ${v}; echo .`\"").prints("V.");
    t("printf %s \"`printf %s \\\"${v}\\\"; echo .`\"").prints("V.");
    t("printf %s \"`printf %s \\\"\\`printf %s '${v}'\\`\\\"; echo .`\"").prints("V.");
    t("printf %s \"${x:-${v}}\" ${x:-${v}} \"${x:-\"${v}\"}\" ${x:-'${v}'}").prints("VVVV");
    t("x=a${v}b; printf %s \"${x#a${v}}\" \"${x%${v}b}\" ${x#*${v}}").prints("bab");
    t("cat <<E\n${v} '${v}' \"${v}\" ${x:-${v}} $(printf %s ${v}) `printf %s ${v}`\nE\n").prints("V 'V' \"V\" V V V\n");
    t("cat <<-E; echo ${v}\n\t${v}\n\tE\n").prints("V\nV\n");
    t("cat <<A; cat <<'B'; cat <<C\n${v}\nA\n$v\nB\n${v}\nC\nprintf %s ${v}").prints("V\n$v\nV\nV");
    t("echo $(case a in a) printf '[%s]' ${v} ;; (b) ;; esac; printf '[%s]' \"${v}\") | grep -c .").prints("1\n");
    t("printf %s \"$(case a in a) printf %s ${v} ;; esac; echo .)${v}\"").prints("V.V");
    t("printf %s \"$( # it's a comment )\nprintf %s ${v})\"").prints("V");
    t("echo a#${v}'#'\"#\"; echo '' #${v}\n").prints("a#V##\n\n");
    t("echo $((${n} - 1)) $((1-${n})) $(( (2) * ${n} )) \"$((${n}))\"").prints("-4 4 -6 -3\n");
    t("x=1\r\nprintf '%s' \"$x${v}\"").prints("1\rV");
    t("cat <<E\r\nE\n${v}\nE\r\n").prints("E\nV\n");
    t("cat <<E && echo 'a\n${v}' &&\n${v}\nE\necho b").prints("V\na\nV\nb\n");
}

#[test]
fn large_values_and_scripts_arrive_whole_through_a_file() {
    let mut large = vec![b'x'; MAX_INLINE_BYTES];
    large.extend(b"'\"$(>pwned)\xc3\n\n");
    let prepared = prepare(b"printf %s ${v}; cat <<E\n${v}\nE\n", &env(&[("v", word(&large))])).unwrap();
    assert_eq!(prepared.variables.iter().map(|variable| variable.carrier).collect::<Vec<_>>(), [Carrier::File]);
    let script: Vec<u8> = [b"printf %s '", large.as_slice(), b"'\necho ${v}\n\n"]
        .concat()
        .into_iter()
        .filter(|&byte| byte != b'\'')
        .collect();
    let script = [b"cat <<'E'\n".as_slice(), &script, b"\nE\n"].concat();
    let long = prepare(&script, &BTreeMap::new()).unwrap();
    assert!(long.script.len() < 1000);
    for shell in shells() {
        let dir = tempfile::tempdir().unwrap();
        let ran = run_in(dir.path(), &shell, &prepared);
        assert!(ran.stdout == [&large, large.as_slice(), b"\n"].concat(), "{shell:?}: {}", ran.stderr);
        let ran = run_in(dir.path(), &shell, &long);
        assert!(ran.stdout == script[10..script.len() - 2], "{shell:?}: {}", ran.stderr);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
    let many: Vec<Vec<u8>> = (0..MAX_WORDS).map(|number| vec![b'a'; number % 300]).collect();
    let prepared = prepare(b"printf '%s\\n' ${v} | cat", &env(&[("v", Value::Words(many.clone()))])).unwrap();
    let ran = run_in(Path::new("/"), &["sh"], &prepared);
    assert!(ran.stdout == [many.join(&b'\n'), b"\n".to_vec()].concat(), "{}", ran.stderr);
}

#[test]
fn a_file_that_cannot_be_read_ends_the_command_instead_of_emptying_the_value() {
    let mut prepared = prepare(b"echo ran ${v}", &env(&[("v", word(vec![b'x'; MAX_INLINE_BYTES + 1]))])).unwrap();
    prepared.variables[0] =
        Variable { value: b"/nonexistent".to_vec(), carrier: Carrier::Environment, ..prepared.variables[0].clone() };
    for shell in shells() {
        let ran = run_in(Path::new("/"), &shell, &prepared);
        assert_eq!((ran.stdout, ran.stderr.contains("/nonexistent")), (vec![], true), "{shell:?}");
    }
}

#[test]
fn messages_of_the_shell_name_the_lines_of_the_text() {
    let prepared = prepare(b": ${v}\n\nnot-there", &env(&[("v", word("a\nb\n"))])).unwrap();
    let plain = prepare(b":\n\nnot-there", &BTreeMap::new()).unwrap();
    for shell in shells() {
        let message = run_in(Path::new("/"), &shell, &prepared).stderr;
        assert_eq!(message, run_in(Path::new("/"), &shell, &plain).stderr, "{shell:?}");
        assert!(message.contains("not-there"));
    }
}
