//! What is not known before a text runs: it is a hole, and a hole may be what a rule names.

use super::tests::bash;

const SECRETS: [(&str, &str); 2] = [("*", "allow"), ("*secrets*", "deny")];
const PUSH: [(&str, &str); 2] = [("*", "allow"), ("git push *", "deny")];
const RM: [(&str, &str); 2] = [("*", "allow"), ("rm *", "deny")];

#[test]
fn a_hole_that_may_be_what_a_rule_denies_asks() {
    for text in [
        "p=sec; nl ${p}rets.txt",
        "nl $(echo sec)rets.txt",
        "nl `echo sec`rets.txt",
        "cat s?crets.txt",
        "cat *crets.txt",
        "cat [s]ecrets.txt",
        "cat [!a]ecrets.txt",
        "cat {sec,x}rets.txt",
        "cat {sec,\"x\"}rets.txt",
        "cat \"$p\"rets.txt",
        "cat $p",
        "cat \"$@\"",
        "cat ${p:0:3}rets.txt",
        "cat ~+/x",
        "cat @(s|t)ecrets.txt",
        "cat $((1))rets",
        "cat <(echo)",
        "echo sec | xargs nl",
        "ls | xargs -I% cat %",
        "find . -exec cat {} +",
        "find . -exec cat {} \\;",
        "find . -exec env cat {} \\;",
        "for f in *; do nl $f; done",
        "while read f; do nl \"$f\"; done",
        "cat \"${p}rets.txt\"",
        "cat s\"$p\"",
    ] {
        assert_eq!(bash(&SECRETS, text), "ask", "{text}");
    }
    for text in [
        "cat secrets.txt",
        "nl $'sec\\x72ets.txt'",
        "nl $'sec\\162ets.txt'",
        "nl $'\\u0073ecrets.txt'",
        "nl 'sec'rets.txt",
        "nl \"sec\"\"rets\".txt",
        "nl s\\ecrets.txt",
        "nl secrets$p",
    ] {
        assert_eq!(bash(&SECRETS, text), "deny", "{text}");
    }
    for text in ["cat x.txt", "nl $'a\\x62c'", "echo 'a b'", "git show HEAD@{1}", "echo {}", "cat a,b"] {
        assert_eq!(bash(&SECRETS, text), "allow", "{text}");
    }
}

#[test]
fn an_expansion_without_quotes_may_be_no_word_or_several() {
    for text in [
        "p=push; git $p x",
        "git $p push x",
        "git ${e}push x",
        "git $(echo push) x",
        "git p$u x",
        "git push$x",
        "git {push,x} y",
        "git $x",
        "git \"$x\" y",
        "git $'pu'$x y",
        "echo push | xargs git",
        "git \"$@\"",
    ] {
        assert_eq!(bash(&PUSH, text), "ask", "{text}");
    }
    assert_eq!(bash(&PUSH, "git push $x"), "deny");
    assert_eq!(bash(&[("*", "allow"), ("git push", "deny")], "git push $x"), "ask", "it may be no word");
    for text in ["git status $x", "git log \"$x\"", "git add *.rs", "git -c x=$y log"] {
        assert_ne!(bash(&PUSH, text), "deny", "{text}");
    }
    assert_eq!(bash(&PUSH, "git status $x"), "allow");
    assert_eq!(bash(&PUSH, "git add *.rs"), "allow");
}

#[test]
fn what_surely_matches_is_allowed_with_holes_in_it() {
    let only_git = [("*", "ask"), ("git *", "allow")];
    for text in ["git status $x y", "git add *.rs", "git commit -m \"$m\"", "for f in a b; do git add $f; done"] {
        assert_eq!(bash(&only_git, text), "allow", "{text}");
    }
    // `git -c …` runs a command, and so might these.
    assert_eq!(bash(&only_git, "git $x"), "ask");
    assert_eq!(bash(&[("*", "ask"), ("ls ?.txt", "allow")], "ls $x.txt"), "ask");
    assert_eq!(bash(&[("*", "allow")], "echo $x"), "allow");
}

#[test]
fn a_denied_program_asks_wherever_it_stands_as_a_word() {
    for text in [
        "linux64 rm x",
        "tar --checkpoint-act=exec=rm -cf a b",
        "tar -cIrm a",
        "tar cf a -I/bin/rm b",
        "split --filt=rm x",
        "git clone -u rm a",
        "git clone -urm a",
        "rsync -ae 'rm x;' a b",
        "rsync -e\"rm x\" a b",
        "start-stop-daemon --exec /bin/rm",
        "perl '-Mlib;…rm…' x; echo rm",
        "busybox-static rm x",
        "p=rm; linux64 $p x",
        "x --run:rm",
        "x @rm",
        "x a,rm,b",
        "x 'a;rm b'",
        "x \"`echo rm` b\"",
        "x $'a\\nrm b'",
        "x -f -- rm",
        "x {rm}",
        "x (rm",
        "make SHELL=/bin/rm",
    ] {
        assert_eq!(bash(&RM, text), "ask", "{text}");
    }
    for text in ["rmdir x", "echo warm", "cat form.txt", "x --arm", "find . -perm 644", "git log", "x rm.txt", "x a-rm"]
    {
        assert_eq!(bash(&RM, text), "allow", "{text}");
    }
    assert_eq!(bash(&RM, "env a.b=1 rm x"), "deny", "what stands behind `env` surely runs");
    // A rule vouches only for the programs that it would have allowed.
    assert_eq!(bash(&[("git *", "allow"), ("rm *", "deny")], "git rm x"), "allow");
    assert_eq!(bash(&[("rm *", "deny"), ("*", "allow")], "linux64 rm x"), "allow", "the later rule takes it back");
    assert_eq!(bash(&[("*", "allow"), ("rm *", "ask")], "linux64 rm x"), "ask");
    // A rule about one thing that a program does is not one about the program.
    assert_eq!(bash(&PUSH, "which git"), "allow");
    assert_eq!(bash(&PUSH, "linux64 git -C x push"), "ask");
    assert_eq!(bash(&PUSH, "linux64 git status"), "allow");
}
