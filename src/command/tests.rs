//! Templates against real shells: what arrives is the value, and nothing in it ever runs.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{ffi::OsStr, fs};

use super::*;

/// `sh`, and the others that are there.
fn shells() -> Vec<Vec<&'static str>> {
    let all = [vec!["sh"], vec!["bash"], vec!["bash", "--posix"], vec!["busybox", "sh"]];
    let exists =
        |name: &str| std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|dir| dir.join(name).exists());
    all.into_iter().filter(|shell| exists(shell[0])).collect()
}

struct Ran {
    stdout: Vec<u8>,
    stderr: String,
}

/// Runs a command the way the runtime does, in `dir`.
fn run_in(dir: &Path, shell: &[&str], prepared: &Prepared) -> Ran {
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).args(SHELL_ARGUMENTS).arg(OsStr::from_bytes(&prepared.script)).current_dir(dir);
    let files = tempfile::tempdir().unwrap();
    for variable in &prepared.variables {
        match variable.carrier {
            Carrier::Environment => command.env(&variable.name, OsStr::from_bytes(&variable.value)),
            Carrier::File => {
                let path = files.path().join(&variable.name);
                fs::write(&path, &variable.value).unwrap();
                command.env(&variable.name, path)
            }
        };
    }
    command.env_remove("x").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    Ran { stdout: output.stdout, stderr: String::from_utf8_lossy(&output.stderr).into_owned() }
}

fn env(values: &[(&str, Value)]) -> BTreeMap<String, Value> {
    values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn word(value: impl AsRef<[u8]>) -> Value {
    Value::Word(value.as_ref().to_vec())
}

fn words(values: &[&str]) -> Value {
    Value::Words(values.iter().map(|value| value.as_bytes().to_vec()).collect())
}

fn raw(value: &str) -> Value {
    Value::Raw(value.as_bytes().to_vec())
}

/// `v` is a hostile word, `n` a number, `l` a list, `none` an empty list, `r` raw.
fn values() -> BTreeMap<String, Value> {
    env(&[
        ("v", word("a'b\"  *$(>pwned)`>pwned`\\\n#;")),
        ("n", word("-3")),
        ("l", words(&["one", "two  *", ""])),
        ("none", words(&[])),
        ("r", raw("'x  y' z")),
    ])
}

/// A template, to be prepared with `values()`.
struct Template(&'static str);

fn t(text: &'static str) -> Template {
    Template(text)
}

impl Template {
    fn prepared(&self) -> Result<Prepared, CommandError> {
        prepare(self.0.as_bytes(), &values())
    }

    /// The script without its prologue.
    #[track_caller]
    fn becomes(self, script: &str) {
        let prepared = self.prepared().unwrap();
        let prologue: usize = if prepared.variables.is_empty() {
            0
        } else {
            let text = String::from_utf8(prepared.script.clone()).unwrap();
            let unset = text.find("unset ").unwrap();
            unset + text[unset..].find("; ").unwrap() + 2
        };
        assert_eq!(String::from_utf8_lossy(&prepared.script[prologue..]), script, "{}", self.0);
    }

    #[track_caller]
    fn shows(self, shown: &str) {
        assert_eq!(String::from_utf8_lossy(&self.prepared().unwrap().shown), shown, "{}", self.0);
    }

    #[track_caller]
    fn refuses(self, message: &str) {
        let error = self.prepared().expect_err(self.0).to_string();
        assert!(error.contains(message), "{}: {error}", self.0);
    }

    /// What every shell prints; `V` stands for the hostile word.
    #[track_caller]
    fn prints(self, wanted: &str) {
        let Value::Word(hostile) = &values()["v"] else { unreachable!() };
        let wanted = wanted.replace('V', std::str::from_utf8(hostile).unwrap());
        let prepared = self.prepared().unwrap();
        for shell in shells() {
            let dir = tempfile::tempdir().unwrap();
            let ran = run_in(dir.path(), &shell, &prepared);
            assert_eq!(String::from_utf8_lossy(&ran.stdout), wanted, "{shell:?} {}\n{}", self.0, ran.stderr);
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{shell:?} ran the value: {}", self.0);
        }
    }
}

#[test]
fn each_place_gets_its_expansion() {
    t("echo ${v}").becomes("echo \"${__lathe_1}\"");
    t("echo a${v}b").becomes("echo a\"${__lathe_1}\"b");
    t("echo \"a ${v}\"").becomes("echo \"a ${__lathe_1}\"");
    t("echo 'a ${v}'").becomes("echo 'a '\"${__lathe_1}\"''");
    t("x=${v} y=${v}").becomes("x=\"${__lathe_1}\" y=\"${__lathe_1}\"");
    t("cat <<E\n${v}\nE\n").becomes("cat <<E\n${__lathe_1}\nE\n");
    t("echo $(echo ${v}) `echo ${v}`").becomes("echo $(echo \"${__lathe_1}\") `echo \"${__lathe_1}\"`");
    t("echo $((1 - ${n}))").becomes("echo $((1 - (${__lathe_1})))");
    t("echo \"${x:-${v}}\" ${x:-${v}}").becomes("echo \"${x:-${__lathe_1}}\" ${x:-\"${__lathe_1}\"}");
    t("echo \"${x#${v}}\"").becomes("echo \"${x#\"${__lathe_1}\"}\"");
    t("echo ${v} # ${v}\n${v}").becomes("echo \"${__lathe_1}\" # ${v}\n\"${__lathe_1}\"");
    t("echo ${l} x=${l} \"${l}\"; x=${l}").becomes(
        "echo \"${__lathe_1}\" \"${__lathe_2}\" \"${__lathe_3}\" x=\"${__lathe_1} ${__lathe_2} ${__lathe_3}\" \
         \"${__lathe_1} ${__lathe_2} ${__lathe_3}\"; x=\"${__lathe_1} ${__lathe_2} ${__lathe_3}\"",
    );
    t("echo ${r} '${r}'").becomes("echo 'x  y' z ''x  y' z'");
}

#[test]
fn what_is_no_placeholder_is_left_to_the_shell() {
    for text in [
        "echo ${HOME} ${x:-y} $x ${#x} ${x%%.*} $v ${v:-1} ${ v } ${w}",
        "echo \\${v} \"\\${v}\" $${v}",
        "a  b\r\n\tc\\\n'\"` unterminated",
        "cat <<E\n${HOME}\n",
        "",
        "\n\n",
        "# ${v}",
    ] {
        t(text).becomes(text);
        t(text).shows(text);
    }
    t("`echo \\\\${v} \\${v}`").becomes("`echo \\\\${v} \"${__lathe_1}\"`");
}

#[test]
fn a_text_without_placeholders_stays_byte_for_byte_whatever_it_holds() {
    let text = b"-x\xff\x80 '\"`$( <<'E'\r\n\t  \\".to_vec();
    let prepared = prepare(&text, &values()).unwrap();
    assert_eq!(prepared, Prepared { script: text.clone(), variables: vec![], shown: text });
}

#[test]
fn the_prologue_copies_and_unsets_on_the_first_line() {
    let prepared =
        prepare(b"# c\necho ${a} ${b}", &env(&[("a", word("1")), ("b", word("2")), ("c", word("3"))])).unwrap();
    assert_eq!(
        String::from_utf8(prepared.script).unwrap(),
        "__lathe_1=\"$__lathe_e1\"; __lathe_2=\"$__lathe_e2\"; unset __lathe_e1 __lathe_e2; # c\n\
         echo \"${__lathe_1}\" \"${__lathe_2}\""
    );
    let carried = |name: &str, value: &str| Variable {
        name: name.to_owned(),
        value: value.as_bytes().to_vec(),
        carrier: Carrier::Environment,
    };
    assert_eq!(prepared.variables, vec![carried("__lathe_e1", "1"), carried("__lathe_e2", "2")]);
}

#[test]
fn private_names_avoid_those_of_the_text() {
    let prepared = prepare(b"echo $__lathe_1 __lathe2_ ${a}", &env(&[("a", word("1"))])).unwrap();
    assert!(prepared.script.ends_with(b"echo $__lathe_1 __lathe2_ \"${__lathe3_1}\""));
}

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
    t("((printf %s ${v}); printf %s '${v}')").prints("VV");
    t("printf %s $((printf '%s' 1) | cat) ${v}").prepared().unwrap();
    t("x=1\r\nprintf '%s' \"$x${v}\"").prints("1\rV");
    t("<<E cat\r\nE\n${v}\nE\r\n").prints("E\nV\n");
    t("cat <<E && echo 'a\n${v}' &&\n${v}\nE\necho b").prints("V\na\nV\nb\n");
}

#[test]
fn where_a_value_cannot_stand_is_an_error_that_names_it() {
    for text in [
        "cat <<'E'\n${v}\nE",
        "cat <<\"E\"\n${v}\nE",
        "cat <<\\E\n${v}\nE",
        "cat <<-'E'\n\t${v}\n\tE",
        "cat <<E'F'\n${v}\nEF",
    ] {
        t(text).refuses("${v} can't stand in a quoted here-document");
    }
    t("cat <<'E'\n$v ${w}\nE\necho ${v}").becomes("cat <<'E'\n$v ${w}\nE\necho \"${__lathe_1}\"");
    t("echo $((1 + ${v}))").refuses("${v} stands where the shell computes");
    for text in [
        "((${v}))",
        "((x = \"${v}\"))",
        "[[ ${v} -eq 1 ]]",
        "a[${v}]=1",
        "echo ${x:${v}}",
        "echo ${x[${v}]}",
        "echo $[${v}]",
    ] {
        t(text).refuses("${v} stands where the shell computes");
    }
    t("[[ ${v} == 1 && ${n} -eq 1 ]]").becomes("[[ \"${__lathe_1}\" == 1 && \"${__lathe_2}\" -eq 1 ]]");
    t("echo $((${l}))").refuses("${l} stands where the shell computes");
    t("echo $'a${v}'").refuses("${v} can't stand in $'…'");
    t("echo $'it\\'s' ${v}").refuses("Line 1: shells disagree on the quotes");
    t("echo ${${v}}").refuses("${v} can't stand in a `${…}`");
    t("cat <<${v}\n${v}\n").refuses("delimiter");
    t("x=$(cat <<E\n${v})").refuses("Line 2: shells disagree on a here-document without its end");
    t("cat <<E\n$(echo\nE\n) ${v}").refuses("Line 2: shells disagree on a here-document that ends inside");

    let nul = env(&[("a", word("x\0")), ("b", raw("\0")), ("c", words(&["", "\0"])), ("d", word("d"))]);
    let name = |name: &str| Err(CommandError::NulInValue { name: name.as_bytes().to_vec() });
    assert_eq!(prepare(b"echo ${a}", &nul), name("a"));
    assert_eq!(prepare(b"echo ${b}", &nul), name("b"));
    assert_eq!(prepare(b"echo ${c}", &nul), name("c"));
    assert_eq!(prepare(b"echo \0", &nul), Err(CommandError::NulInText));
    assert!(prepare(b"echo ${d}", &nul).is_ok(), "a value that isn't used doesn't matter");
    let deep = format!("echo {}${{d}}", "$(".repeat(50_000));
    assert_eq!(prepare(deep.as_bytes(), &nul), Err(CommandError::TooDeep));
    let deep = format!("echo {}${{d}}", "$((".repeat(40));
    assert!(prepare(deep.as_bytes(), &nul).is_err());
    let many = env(&[("a", Value::Words(vec![b"x".to_vec(); MAX_WORDS + 1]))]);
    assert_eq!(prepare(b"echo ${a}", &many), Err(CommandError::TooManyWords));
}

#[test]
fn shown_is_the_command_with_its_values() {
    let env = env(&[
        ("v", word("it's")),
        ("plain", word("a.b")),
        ("l", words(&["-r", "x y", "A=b"])),
        ("n", word("2")),
        ("e", word("x\nE\nrm -rf /")),
        ("if", word("if")),
    ]);
    let shown = |text: &str| String::from_utf8(prepare(text.as_bytes(), &env).unwrap().shown).unwrap();
    assert_eq!(shown("git push ${plain} ${v}"), "git push a.b 'it'\\''s'");
    assert_eq!(shown("${if} ${l}; x=${l}"), "'if' -r 'x y' 'A=b'; x='-r x y A=b'");
    assert_eq!(shown("echo $x${plain} ${n}>f ${n}"), "echo $x'a.b' '2'>f 2");
    assert_eq!(shown("echo \"${v} ${plain}\" '${v}'"), "echo \"it's a.b\" 'it'\\''s'");
    assert_eq!(shown("cat <<E\n${e}\nE\nls"), "cat <<E\nx\n\\E\nrm -rf /\nE\nls");
    assert_eq!(shown("cat <<-E\n\t${e}\n\tE\nls ${n}"), "cat <<-E\n\tx\n\\E\nrm -rf /\n\tE\nls 2");
    assert_eq!(shown("ls # ${e}\n${n}"), "ls # ${e}\n'2'".replace("'2'", "2"));
}

#[test]
fn join_keeps_words_as_they_are_and_quote_words_keeps_them_apart() {
    assert_eq!(join(&["docker", "run  -it", "'a b'"]), b"docker run  -it 'a b'");
    assert_eq!(join(&[""; 0]), b"");
    assert_eq!(quote_words(&["printf", "%s", "a && b"]), b"printf %s 'a && b'");
    for (word, quoted) in [
        ("", "''"),
        ("a", "a"),
        ("--x=y", "--x=y"),
        ("A=b", "'A=b'"),
        ("~", "'~'"),
        ("it's", "'it'\\''s'"),
        ("if", "'if'"),
        ("a\nb", "'a\nb'"),
        ("{", "'{'"),
        ("é", "'é'"),
    ] {
        assert_eq!(String::from_utf8(quote(word.as_bytes())).unwrap(), quoted);
    }
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
