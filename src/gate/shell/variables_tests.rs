//! Variables that decide what runs, and contexts in which shells evaluate text.

use super::super::{Script, parse};

fn asks(text: &str) -> bool {
    match parse(text) {
        Script::Unparsable => true,
        Script::Empty => false,
        Script::Parsed(parts) => parts.commands.iter().any(|command| command.is_opaque()),
    }
}

#[test]
fn a_variable_that_decides_what_runs_asks_however_it_is_set() {
    for text in [
        "for PATH in ./tools; do git status; done",
        "for PWD in /etc; do cat \"$PWD/hostname\"; done",
        "for EDITOR in 'rm x;:'; do git commit; done",
        "CDPATH=/; cd etc; cat hostname",
        "for HOME in /bin/rm; do ~ x; done",
        "select PATH in a b; do ls; done",
        "for PATH; do ls; done",
        "read PATH",
        "read -r a PATH <<< x",
        "read -rp x -a PATH",
        "read -aPATH",
        "read $x",
        "read \"$x\"",
        "getopts ab PATH",
        "printf -v PATH %s x",
        "printf -vPATH x",
        "printf -v \"$n\" x",
        "mapfile PATH",
        "mapfile -t LD_PRELOAD < x",
        "readarray -t GIT_SSH",
        "unset PATH",
        "unset -v HOME",
        "wait -p PATH",
        "let PATH=1",
        "export PATH",
        "export PATH=/x",
        "export 'PATH=/x'",
        "export \"PA\"TH=/x",
        "export $x",
        "export \"$n=1\"",
        "declare -x PATH=/x",
        "declare -n r=PATH; r=/x",
        "typeset -gx PATH=/x",
        "readonly ENV=x",
        "local IFS=x",
        "IFS=x",
        "IFS=/ ls",
        "PATH+=:/x ls",
        "PATH[0]=/x; ls",
        "A=1 LD_PRELOAD=x ls",
        "env LD_LIBRARY_PATH=x ls",
        "env -i PATH=/x ls",
        "sudo PATH=/x ls",
        "PYTHONSTARTUP=x python3 f",
        "NODE_OPTIONS=--require=x node f",
        "PERL5OPT=-Mx perl f",
        "RUBYOPT=-rx ruby f",
        "GIT_SSH=x git pull",
        "MANPAGER=x man ls",
        "KUBE_EDITOR=x kubectl edit x",
        "BASH_ENV=x bash f",
        "ENV=x sh f",
        "PS4=x; set -x; ls",
        ": ${PATH:=/x}",
        ": ${PATH=/x}",
        "echo ${HOME:=/x}",
        "echo $((PATH=1))",
        "((PATH=1))",
        "for ((PATH=0; PATH<1; PATH++)); do ls; done",
        "exec {PATH}>f",
        "~ x",
        "~/x y",
        "~root/x",
    ] {
        assert!(asks(text), "{text}");
    }
    for text in [
        "FOO=1 make",
        "NODE_ENV=test npm test",
        "RUST_BACKTRACE=1 cargo test",
        "for f in a b; do echo $f; done",
        "while read -r line; do echo \"$line\"; done",
        "x=1; echo $x",
        "export FOO=bar",
        "export FOO=\"$x\"",
        "printf '%s' PATH",
        "echo PATH=1",
        "unset FOO",
        "local i",
        "declare -a list",
        "cat ~/x",
        "echo ${x:-y} ${x#a} ${#x} ${x%.*} ${x/a/b} ${x:1:2}",
    ] {
        assert!(!asks(text), "{text}");
    }
}

#[test]
fn text_that_some_shell_evaluates_asks() {
    for text in [
        "echo ${x@P}",
        "echo \"${x@P}\"",
        "echo ${!x}",
        "echo ${!x@}",
        "echo ${a[$(rm x)]}",
        "echo ${a[$x]}",
        "echo ${a['x']}",
        "a[$x]=1",
        "a['$(rm x)']=1",
        "echo $((a[$x]))",
        "echo $((\"x\"))",
        "echo $(( a['x'] ))",
        "echo $[a[1]]",
        "echo ${x:a[1]}",
        "((a[$x]))",
        "((rm x; ls))",
        "[[ x && rm ]]",
        "[[ x || rm y ]]",
        "[[ a < b ]]",
        "[[ (a) ]]",
        "[[ a > b ]]",
        "[ a > b ]",
        "let 'a[$x]'",
        "let \"x=`rm`\"",
    ] {
        assert!(asks(text), "{text}");
    }
    for text in [
        "[[ -f x ]]",
        "[[ $x == y ]]",
        "[ -n \"$x\" ]",
        "echo $((1 + 2))",
        "echo $((n * (i + 1)))",
        "i=$((i+1))",
        "echo ${a[1]} ${a[@]} ${a[i]}",
        "let i=1",
    ] {
        assert!(!asks(text), "{text}");
    }
}
