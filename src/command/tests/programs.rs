//! Programs by chance, with placeholders in all places that the grammar of a shell has.

use proptest::prelude::*;

use super::*;

pub const TOKENS: [&str; 48] = [
    "${v}",
    "${v}",
    "${v}",
    "${n}",
    "${r}",
    "'",
    "\"",
    "`",
    "\\",
    "\\\\",
    "\\\"",
    "$(",
    "$((",
    "((",
    "))",
    "(",
    ")",
    "${x:-",
    "${x#",
    "${x:",
    "${",
    "}",
    "#",
    " ",
    " # ",
    "\n",
    ";",
    ";;",
    "&",
    "|",
    "<",
    ">",
    "<<E\n",
    "<<-E ",
    "<<'E'\n",
    "\nE\n",
    "\n\tE\n",
    "case a in ",
    " esac ",
    "[[ ",
    " ]]",
    " -eq ",
    "x=",
    "$'",
    "$[",
    "]",
    "for i in ",
    "\\\n",
];

/// Programs that every shell reads the same way, with `@P@` in all kinds of places.
pub fn programs() -> impl Strategy<Value = String> {
    prop::collection::vec(any::<u8>(), 1..120).prop_map(|choices| Choices::new(&choices).program())
}

/// Where to put which token; an empty one takes something away.
pub fn damages() -> impl Strategy<Value = Vec<(prop::sample::Index, &'static str)>> {
    const SAFE: [&str; 32] = [
        "",
        "",
        "'",
        "\"",
        "`",
        "\\\\",
        "$(",
        "$((",
        "))",
        "(",
        ")",
        "${x:-",
        "${y#",
        "${",
        "}",
        "#",
        " ",
        " # ",
        "\n",
        "; ",
        ";;",
        " | ",
        " <<E\n",
        " <<-E ",
        "\nE\n",
        " case a in ",
        " esac ",
        " [[ ",
        " ]] ",
        "$'",
        "$[",
        "\\\n",
    ];
    prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(SAFE.to_vec())), 1..4)
}

/// `program` has `@P@` where the placeholder goes.
pub fn same_as_typed(program: &str, whole: bool) -> Result<(), TestCaseError> {
    const HOSTILE: &str = "'b\"c $(>pwned) `>pwned` ;>pwned;\n>pwned\n} ) # * \\";
    let template = program.replace("@P@", "${p}");
    let with = |value: &str| prepare(template.as_bytes(), &env(&[("p", word(value)), ("n", word("7"))]));
    let (plain, hostile) = match (with("VALUE"), with(HOSTILE)) {
        (Ok(plain), Ok(hostile)) => (plain, hostile),
        (plain, hostile) => {
            prop_assert_eq!(plain.is_err(), hostile.is_err());
            prop_assert!(!whole, "refused: {:?}\n{}", plain, template);
            return Ok(());
        }
    };
    let typed = program.replace("@P@", "VALUE").replace("${n}", "7").into_bytes();
    let typed = Prepared { script: typed.clone(), variables: vec![], shown: typed };
    let shown = Prepared { script: hostile.shown.clone(), ..typed.clone() };
    for shell in shells() {
        let dir = tempfile::tempdir().unwrap();
        let run = |prepared: &Prepared| run_in(dir.path(), &shell, prepared);
        let hostile = run(&hostile);
        prop_assert!(!dir.path().join("pwned").exists(), "{:?} ran the value:\n{}", shell, template);
        // What damage makes of a text is not always the same for a word and for a variable with that word.
        if !whole {
            continue;
        }
        let (typed, plain) = (run(&typed), run(&plain));
        // bash 5.2 miscounts `$(` in single quotes in backquotes in double quotes once strings stand side by side before
        // it, in `"`: ''"a"''"b"; : '$('`"` for one. The other shells still judge the program.
        if plain.stderr.contains("bash: command substitution: line") {
            continue;
        }
        let context = format!("{shell:?}\n{template}\n---- {}\n---- {}", plain.stderr, hostile.stderr);
        prop_assert_eq!(show_bytes(&plain.stdout), show_bytes(&typed.stdout), "{}", context);
        let wanted = String::from_utf8_lossy(&typed.stdout).replace("VALUE", HOSTILE);
        prop_assert_eq!(show_bytes(&hostile.stdout), show_bytes(wanted.as_bytes()), "{}", context);
        // What is shown is the same program. (bash 5.2 garbles some nested texts with quotes, so it is no judge here.)
        if matches!(shell[0], "dash" | "busybox") {
            let text = String::from_utf8_lossy(&shown.script).into_owned();
            let shown = run(&shown);
            prop_assert_eq!(show_bytes(&shown.stdout), show_bytes(&hostile.stdout), "{}{}", text, shown.stderr);
        }
    }
    Ok(())
}

/// Makes a program of a list of bytes, so that a shorter list is a simpler program.
struct Choices<'a> {
    rest: std::slice::Iter<'a, u8>,
}

impl<'a> Choices<'a> {
    fn new(choices: &'a [u8]) -> Self {
        Self { rest: choices.iter() }
    }

    fn program(mut self) -> String {
        let mut program = String::from("y='a*@P@'; unset x; ");
        while self.rest.len() > 0 {
            program += &self.commands(2);
        }
        program
    }

    fn pick(&mut self, count: u8) -> u8 {
        self.rest.next().map_or(0, |byte| byte % count)
    }

    fn some(&mut self, part: impl Fn(&mut Self) -> String) -> String {
        let count = 1 + self.pick(3);
        (0..count).map(|_| part(self)).collect()
    }

    /// Commands, each with its newline.
    fn commands(&mut self, depth: u8) -> String {
        self.some(|choices| choices.command(depth) + "\n")
    }

    fn command(&mut self, depth: u8) -> String {
        if depth == 0 {
            return format!("printf '[%s]' {}", self.word(0));
        }
        let depth = depth - 1;
        match self.pick(16) {
            0..=2 => format!("printf '[%s]' {} {}", self.word(depth), self.word(depth)),
            3 => format!("v={}; printf '<%s>' \"$v\"", self.word(depth)),
            4 => {
                let open = if self.pick(2) == 0 { "(" } else { "" };
                let (word, pattern) = (self.word(depth), self.word(depth));
                format!(
                    "case {word} in {open}{pattern}|@P@) {} ;; *) {}esac",
                    self.command_line(depth),
                    self.commands(depth)
                )
            }
            5 => format!("if :; then {}fi", self.commands(depth)),
            6 => format!("for i in {} {}; do printf '{{%s}}' \"$i\"; done", self.word(depth), self.word(depth)),
            7 => format!("( {})", self.commands(depth)),
            8 => format!("f() {{ {}}}; f", self.commands(depth)),
            9 => format!("cat <<E\n{}\nE", self.some(|choices| choices.quoted(depth, false))),
            10 => format!(
                "cat <<-'E' | cat; cat <<E2\n\t\"' $(` ${{x\n\tE\n{}\nE2",
                self.some(|choices| choices.quoted(depth, false))
            ),
            11 => format!("# it's \" ` $( @P@\n{}", self.command(depth)),
            12 => format!("{} && {{ {}}}", self.command_line(depth), self.commands(depth)),
            13 => format!(
                "printf '[%s]' \\\n{} | cat # {} '",
                self.word(depth),
                if self.pick(2) == 0 { "" } else { "@P@" }
            ),
            14 => format!("( ({}) )", self.command_line(depth)),
            _ => format!("printf '[%s]' $(( 1 + ${{n}} * (2) )) {}", self.word(depth)),
        }
    }

    /// A command that may be followed on its line.
    fn command_line(&mut self, depth: u8) -> String {
        format!("printf '[%s]' {}", self.word(depth))
    }

    fn word(&mut self, depth: u8) -> String {
        self.some(|choices| choices.part(depth))
    }

    fn part(&mut self, depth: u8) -> String {
        match self.pick(9) {
            0 => "@P@".to_owned(),
            1 => ["ab", "x#y", "\\'", "\\\"", "\\\\", "é", "\\ ", "\\\n", "${x}", "a=", "''"]
                [usize::from(self.pick(11))]
            .to_owned(),
            2..=4 => format!("\"{}\"", self.some(|choices| choices.quoted(depth, true))),
            5 => format!(
                "'{}'",
                self.some(|choices| ["@P@", "a \"b", "$(", "`", "\\", " # ", "${x:-", "@P@", "<<E"]
                    [usize::from(choices.pick(9))]
                .to_owned())
            ),
            6 => format!("${{x:-{}}}", self.word(depth)),
            7 => format!("\"${{y#a\\*{}}}\"", self.pattern()),
            _ => "@P@".to_owned(),
        }
    }

    fn pattern(&mut self) -> String {
        self.some(|choices| ["@P@", "'@P@'", "\"@P@\"", "q"][usize::from(choices.pick(4))].to_owned())
    }

    /// A part of double quotes or of a here-document.
    fn quoted(&mut self, depth: u8, in_quotes: bool) -> String {
        if depth == 0 {
            return "@P@".to_owned();
        }
        let depth = depth - 1;
        match self.pick(12) {
            0 => "@P@".to_owned(),
            1 => ["a b", "'", "\\\\", "#", ")", "\n", "\\$", "\\`", "é", " # '", "<<E"][usize::from(self.pick(11))]
                .to_owned(),
            2..=4 => format!("$({})", self.commands(depth)),
            5 | 6 => format!("`{}`", self.commands(depth).replace('\\', "\\\\").replace('`', "\\`")),
            7 => format!("${{x:-{}}}", self.quoted(depth, in_quotes).replace(['\'', '}'], "")),
            8 if in_quotes => format!("${{y#a\\*{}}}", self.pattern()),
            9 => "$((${n}-(3 - ${n})))".to_owned(),
            10 if in_quotes => format!("${{x:-\"{}\"}}", self.quoted(0, true)),
            _ => "@P@".to_owned(),
        }
    }
}
