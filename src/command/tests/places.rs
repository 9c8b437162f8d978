//! Where a placeholder may stand, and what it becomes there.

use super::*;

#[test]
fn each_place_gets_its_expansion() {
    t("echo ${v}").becomes("echo \"${__lathe_1}\"");
    t("echo a${v}b").becomes("echo a\"${__lathe_1}\"b");
    t("echo \"a ${v}\"").becomes("echo \"a ${__lathe_1}\"");
    t("echo 'a ${v}' '${v} b' '${v}'").becomes("echo 'a '\"${__lathe_1}\" \"${__lathe_1}\"' b' \"${__lathe_1}\"");
    t("echo '${v}${n}''a${v}${n}b'")
        .becomes("echo \"${__lathe_1}\"\"${__lathe_2}\"'a'\"${__lathe_1}\"\"${__lathe_2}\"'b'");
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
        "__lathe_0=\"$__lathe_1\"; unset __lathe_1; __lathe_1=\"${__lathe_0}\"; \
         __lathe_0=\"$__lathe_2\"; unset __lathe_2; __lathe_2=\"${__lathe_0}\"; unset __lathe_0; # c\n\
         echo \"${__lathe_1}\" \"${__lathe_2}\""
    );
    let carried = |name: &str, value: &str| Variable {
        name: name.to_owned(),
        value: value.as_bytes().to_vec(),
        carrier: Carrier::Environment,
    };
    assert_eq!(prepared.variables, vec![carried("__lathe_1", "1"), carried("__lathe_2", "2")]);
}

#[test]
fn private_names_avoid_those_of_the_text() {
    let prepared = prepare(b"echo $__lathe_1 __lathe2_ ${a}", &env(&[("a", word("1"))])).unwrap();
    assert!(prepared.script.ends_with(b"echo $__lathe_1 __lathe2_ \"${__lathe3_1}\""));
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
    t("echo \"${x:-$'a'}${v}\"").refuses("Line 1: shells disagree on `$'`");
    t("echo $'it\\'s' ${v}").refuses("Line 1: shells disagree on the quotes");
    t("cat <<E\n${x#${v}}\nE").refuses("${v} can't stand in a `${…}`");
    t("((echo ${v}); echo)").refuses("${v} can't stand in `((…) …)`");
    t("echo $((echo ${v}); echo)").refuses("${v} can't stand in `((…) …)`");
    t("((echo <<E); echo)\nE\necho ${v}").refuses("Line 1: shells disagree on a here-document in `((…) …)`");
    t("((echo 1); echo ')'); echo ${v}").becomes("((echo 1); echo ')'); echo \"${__lathe_1}\"");
    t("(\\\n(echo ${v}))").refuses("Line 1: shells disagree on a line that is continued");
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
