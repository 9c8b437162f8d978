//! Code as tokens, as far as it takes to see which other files it names.

/// A piece of code; comments are left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    Word(&'a str),
    Text(&'a str),
    Sign(char),
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

fn word_length(rest: &str) -> usize {
    rest.find(|char| !is_word(char)).unwrap_or(rest.len())
}

/// The length of a text in quotes, and where what is in it ends.
fn quoted(rest: &str) -> (usize, usize) {
    let quote = rest.as_bytes()[0];
    let mut at = 1;
    while at < rest.len() && rest.as_bytes()[at] != quote {
        at += if rest.as_bytes()[at] == b'\\' { 2 } else { 1 };
    }
    ((at + 1).min(rest.len()), at.min(rest.len()))
}

/// The length of what begins with `open` and ends with `close`.
fn until(rest: &str, open: usize, close: &str) -> usize {
    rest[open..].find(close).map_or(rest.len(), |at| open + at + close.len())
}

/// Lua's long bracket at the beginning: its length, and how much of that is each end.
fn long_bracket(rest: &str) -> Option<(usize, usize)> {
    let level = rest.strip_prefix('[')?;
    let level = level.find('[').filter(|at| level[..*at].chars().all(|char| char == '='))?;
    let close = format!("]{}]", "=".repeat(level));
    Some((until(rest, level + 2, &close), level + 2))
}

/// The tokens of Lua code.
pub fn lua_tokens(code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = if let Some(comment) = rest.strip_prefix("--") {
            2 + long_bracket(comment).map_or_else(|| comment.find('\n').unwrap_or(comment.len()), |(length, _)| length)
        } else if let Some((length, end)) = long_bracket(rest) {
            tokens.push(Token::Text(&rest[end..(length - end).max(end)]));
            length
        } else if first == '"' || first == '\'' {
            let (length, end) = quoted(rest);
            tokens.push(Token::Text(&rest[1..end]));
            length
        } else if is_word(first) {
            let length = word_length(rest);
            tokens.push(Token::Word(&rest[..length]));
            length
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Sign(first));
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// The tokens of Rust code.
pub fn rust_tokens(code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let raw = rest.trim_start_matches(['b', 'c']).strip_prefix('r').map(|raw| (raw, raw.trim_start_matches('#')));
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            until(rest, 2, "*/")
        } else if let Some((raw, text)) = raw.filter(|(raw, text)| text.starts_with('"') && rest.len() - raw.len() <= 2)
        {
            let hashes = raw.len() - text.len();
            let open = rest.len() - text.len() + 1;
            let length = until(rest, open, &format!("\"{}", "#".repeat(hashes)));
            tokens.push(Token::Text(&rest[open..(length - 1 - hashes).max(open)]));
            length
        } else if first == '"' {
            let (length, end) = quoted(rest);
            tokens.push(Token::Text(&rest[1..end]));
            length
        } else if first == '\'' {
            // A lifetime has no quote behind it.
            let char = rest[1..].chars().next().unwrap_or(' ');
            let is_char = char == '\\' || rest[1 + char.len_utf8()..].starts_with('\'');
            if is_char { quoted(rest).0 } else { 1 }
        } else if is_word(first) {
            let length = word_length(rest);
            tokens.push(Token::Word(&rest[..length]));
            length
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Sign(first));
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}
