//! Programs of sed: whether they run a command, and which files they read and write.

/// What a program of sed does besides editing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Files that it reads or writes; the second says whether it writes.
    pub files: Vec<(String, bool)>,
}

/// Reads a program. None: it runs a command, or that cannot be told.
pub fn read(program: &str) -> Option<Script> {
    let mut reader = Reader { rest: program, script: Script::default() };
    while reader.command()? {}
    Some(reader.script)
}

struct Reader<'t> {
    rest: &'t str,
    script: Script,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }

    fn skip(&mut self, letters: &[char]) {
        self.rest = self.rest.trim_start_matches(letters);
    }

    /// All up to the end of the line.
    fn line(&mut self) -> &'t str {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        line
    }

    /// All up to a sign that is neither escaped nor in brackets.
    fn until(&mut self, sign: char) -> Option<&'t str> {
        let mut is_escaped = false;
        let mut set: Option<usize> = None; // where the brackets were opened
        for (at, letter) in self.rest.char_indices() {
            if let Some(open) = set {
                let inside = &self.rest[open + 1..at];
                let is_first = matches!(inside, "" | "^");
                let is_class = |class: usize| !inside[class + 2..].contains(":]") && inside.ends_with(':');
                let ends_class = inside.rfind("[:").is_some_and(is_class);
                match letter {
                    // Some take it for an escape here.
                    '\\' => return None,
                    ']' if !is_first && !ends_class => set = None,
                    _ => {}
                }
                continue;
            }
            if letter == sign && !is_escaped {
                let part = &self.rest[..at];
                self.rest = &self.rest[at + sign.len_utf8()..];
                return Some(part);
            }
            if letter == '[' && !is_escaped {
                set = Some(at);
            }
            is_escaped = letter == '\\' && !is_escaped;
        }
        None
    }

    fn address(&mut self) -> Option<bool> {
        match self.rest.chars().next() {
            Some('/') => {
                self.next();
                self.until('/')?;
                self.skip(&['I', 'M']);
            }
            Some('\\') => {
                self.next();
                let sign = self.next().filter(|sign| !sign.is_alphanumeric() && *sign != '\\' && *sign != '\n')?;
                self.until(sign)?;
                self.skip(&['I', 'M']);
            }
            Some('$') => drop(self.next()),
            Some(letter) if letter.is_ascii_digit() || letter == '+' || letter == '~' => {
                self.rest = self
                    .rest
                    .trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '+' || letter == '~');
            }
            _ => return Some(false),
        }
        Some(true)
    }

    /// Reads one command. False: there is none.
    fn command(&mut self) -> Option<bool> {
        self.skip(&[' ', '\t', '\n', ';', '}']);
        if self.rest.is_empty() {
            return Some(false);
        }
        if self.address()? {
            self.skip(&[' ']);
            if self.rest.starts_with(',') {
                self.next();
                self.skip(&[' ']);
                self.address()?;
            }
            self.skip(&[' ']);
        }
        self.skip(&['!', ' ']);
        match self.next()? {
            '{' => {}
            '#' => drop(self.line()),
            '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => self.end()?,
            'l' | 'L' | 'q' | 'Q' => {
                self.rest = self.rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ' ');
                self.end()?;
            }
            'b' | 't' | 'T' | ':' | 'v' => {
                let end = self.rest.find([';', '\n', '}']).unwrap_or(self.rest.len());
                self.rest = &self.rest[end..];
            }
            'a' | 'i' | 'c' => while self.line().ends_with('\\') && !self.rest.is_empty() {},
            'r' | 'R' => self.file(false)?,
            'w' | 'W' => self.file(true)?,
            's' => {
                let sign = self.sign()?;
                self.until(sign)?;
                self.until_plain(sign)?;
                loop {
                    match self.rest.chars().next() {
                        Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => drop(self.next()),
                        Some('w') => {
                            self.next();
                            self.file(true)?;
                            break;
                        }
                        _ => {
                            self.end()?;
                            break;
                        }
                    }
                }
            }
            'y' => {
                let sign = self.sign()?;
                self.until_plain(sign)?;
                self.until_plain(sign)?;
                self.end()?;
            }
            _ => return None,
        }
        Some(true)
    }

    /// What stands between the parts of a command.
    fn sign(&mut self) -> Option<char> {
        self.next().filter(|sign| !sign.is_alphanumeric() && !matches!(sign, '\\' | '\n' | ' '))
    }

    /// As [`Self::until`], for what is no expression: `[` means nothing in it.
    fn until_plain(&mut self, sign: char) -> Option<()> {
        let mut is_escaped = false;
        for (at, letter) in self.rest.char_indices() {
            if letter == sign && !is_escaped {
                self.rest = &self.rest[at + sign.len_utf8()..];
                return Some(());
            }
            is_escaped = letter == '\\' && !is_escaped;
        }
        None
    }

    /// A command ends here.
    fn end(&mut self) -> Option<()> {
        self.skip(&[' ', '\t']);
        (self.rest.is_empty() || self.rest.starts_with([';', '\n', '}', '#'])).then_some(())
    }

    fn file(&mut self, is_write: bool) -> Option<()> {
        let name = self.line().trim_start().to_owned();
        if !matches!(name.as_str(), "/dev/stdout" | "/dev/stderr") {
            self.script.files.push((name, is_write));
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_edits_only_is_told() {
        for program in [
            "s/a/b/",
            "s/a/b/g;s/c/d/2p",
            "1,5p",
            "$!N;/x/d",
            "/^#/d",
            "s#/usr#/opt#g",
            "/a/,/b/{s/x/y/;p}",
            "y/abc/xyz/",
            "a\\\ntext",
            "i\\ text e",
            "2q",
            ":a;N;$!ba;s/\\n/ /g",
            "s/one/e/g",
            "/a/!d",
            "0~3d",
            "s/[^,]*,//",
            "s/[^/]*$//",
            "s/[]/]/x/",
            "s/[[:alpha:]/]/x/",
            "s/\\//x/",
            "\\,a,p",
            "# e x",
            "",
            "=",
            "s|a|b|I",
            "s/a/[/",
            "y/[/]/",
        ] {
            assert_eq!(read(program), Some(Script::default()), "{program}");
        }
    }

    #[test]
    fn files_are_found_in_whatever_command_names_them() {
        for (program, file, is_write) in [
            ("r /etc/passwd", "/etc/passwd", false),
            ("1w out", "out", true),
            ("s/a/b/gw ../x", "../x", true),
            ("/a/{R f\n}", "f", false),
        ] {
            assert_eq!(read(program).map(|script| script.files), Some(vec![(file.to_owned(), is_write)]), "{program}");
        }
    }

    #[test]
    fn what_may_run_a_command_is_not_told() {
        for program in [
            "e",
            "1e rm x",
            "s/.*/rm x/e",
            "s/a/b/ge",
            "/a/e",
            "p;e",
            "{e rm x\n}",
            "s/[/]/x/e",
            "s/[\\]/]/x/e/",
            "s/a",
            "k",
            "s/a/b/k",
            "\\aba e",
        ] {
            assert_eq!(read(program), None, "{program}");
        }
    }
}
