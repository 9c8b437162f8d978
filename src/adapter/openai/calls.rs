//! Puts the pieces of tool calls together. Servers differ in what they say about a piece (index, id, name), and some repeat
//! themselves: every such habit has one outcome here.

use serde_json::{Map, Value};

use crate::adapter::reader::Answer;

/// Fields of a call, or of its function, that only the provider understands and wants back (R052). Others are not sent back: a provider that
/// does not know a field refuses the request (R055).
pub const EXTRA: &[&str] = &["extra_content", "provider_specific_fields", "thought_signature"];

/// The same of a message.
pub const MESSAGE_EXTRA: &[&str] =
    &["extra_content", "provider_specific_fields", "thinking_blocks", "thought_signature"];

/// What one delta says about one call.
#[derive(Debug, Default)]
pub struct Piece {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    extra: Map<String, Value>,
}

impl Piece {
    /// An element of `tool_calls`; none when it says nothing.
    pub fn of_call(call: Value) -> Option<Self> {
        let Value::Object(mut call) = call else { return None };
        let mut piece = call.remove("function").and_then(Self::of_function).unwrap_or_default();
        piece.index = call.get("index").and_then(Value::as_u64);
        piece.id = text_of(call.remove("id"));
        piece.extra.extend(taken(&mut call));
        let says =
            !(piece.id.is_empty() && piece.name.is_empty() && piece.arguments.is_empty() && piece.extra.is_empty());
        says.then_some(piece)
    }

    /// A `function_call`, or the `function` of a call.
    pub fn of_function(function: Value) -> Option<Self> {
        let Value::Object(mut function) = function else { return None };
        let extra = taken(&mut function);
        let name = text_of(function.remove("name"));
        let arguments = match function.remove("arguments") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            // Some servers send the arguments themselves instead of their text.
            Some(arguments) => arguments.to_string(),
        };
        let mut piece = Self { name, arguments, ..Self::default() };
        if !extra.is_empty() {
            piece.extra.insert("function".to_owned(), Value::Object(extra));
        }
        let says = !(piece.name.is_empty() && piece.arguments.is_empty() && piece.extra.is_empty());
        says.then_some(piece)
    }

    /// Whether it does not say which call it belongs to.
    fn is_anonymous(&self) -> bool {
        self.index.is_none() && self.id.is_empty() && self.name.is_empty()
    }
}

/// The fields that only the provider understands.
fn taken(fields: &mut Map<String, Value>) -> Map<String, Value> {
    let taken = EXTRA.iter().filter_map(|field| Some(((*field).to_owned(), fields.remove(*field)?)));
    taken.filter(|(_, value)| !value.is_null()).collect()
}

fn text_of(value: Option<Value>) -> String {
    match value {
        Some(Value::String(text)) => text,
        Some(number @ Value::Number(_)) => number.to_string(),
        _ => String::new(),
    }
}

/// The calls of one answer.
#[derive(Debug, Default)]
pub struct Calls {
    calls: Vec<Assembled>,
    /// One of them came with something that must go back.
    extra: bool,
    /// So many were announced. They are in the order in which they first appeared.
    started: usize,
}

#[derive(Debug, Default)]
struct Assembled {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// So many bytes of the arguments were given out.
    given: usize,
    scan: Scan,
    /// More came after a whole object that is not the same once more: nothing is repeated any longer.
    glued: bool,
    extra: Map<String, Value>,
}

impl Calls {
    /// Whether one of them came with something that must go back.
    pub fn has_extra(&self) -> bool {
        self.extra
    }

    /// Takes a piece in. Returns false when it cannot be said to which call it belongs.
    pub fn take(&mut self, piece: Piece, answer: &mut Answer) -> bool {
        // Well-formed arguments that the model never wrote would be worse than none.
        if piece.is_anonymous() && self.calls.iter().filter(|call| call.scan.is_inside()).count() > 1 {
            return false;
        }
        let at = match self.find(&piece) {
            Some(at) => at,
            None => {
                self.calls.push(Assembled { index: piece.index, ..Assembled::default() });
                self.calls.len() - 1
            }
        };
        self.extra |= !piece.extra.is_empty();
        self.calls[at].take(piece);
        self.start(answer, false);
        if at < self.started {
            self.calls[at].give(at, answer, false);
        }
        true
    }

    /// Announces the calls that still miss an id or a name.
    pub fn finish(&mut self, answer: &mut Answer) {
        self.start(answer, true);
        for (at, call) in self.calls.iter_mut().enumerate() {
            call.give(at, answer, true);
        }
    }

    /// The call that a piece goes on with.
    fn find(&self, piece: &Piece) -> Option<usize> {
        let with_id = || {
            let same = |call: &Assembled| !piece.id.is_empty() && call.id == piece.id;
            self.calls.iter().rposition(same)
        };
        let last = self.calls.len().checked_sub(1);
        let at = match piece.index {
            Some(index) => self.calls.iter().rposition(|call| call.index == Some(index)).or_else(with_id)?,
            None if piece.is_anonymous() => self.calls.iter().position(|call| call.scan.is_inside()).or(last)?,
            None => with_id().or(last)?,
        };
        self.calls[at].goes_on_with(piece).then_some(at)
    }

    /// Announces calls in their order: one waits for those before it.
    fn start(&mut self, answer: &mut Answer, is_last: bool) {
        while let Some(call) = self.calls.get_mut(self.started) {
            if !is_last && (call.id.is_empty() || call.name.is_empty()) {
                return;
            }
            let at = answer.call(&call.id, &call.name);
            call.give(at, answer, is_last);
            self.started = at + 1;
        }
    }
}

impl Assembled {
    fn goes_on_with(&self, piece: &Piece) -> bool {
        let is_named = !piece.name.is_empty();
        if is_named && !self.name.is_empty() && self.name != piece.name {
            return false;
        }
        // R057: a new id is a new call, whatever the index. Without a name it is the same call at a server that makes up an
        // id for each piece.
        let other_id = !piece.id.is_empty() && !self.id.is_empty() && self.id != piece.id;
        if other_id && (is_named || piece.index.is_none()) {
            return false;
        }
        // Servers without ids, or with one id or index for all: a second whole object under a name is a second call.
        let says_which = is_named || piece.index != self.index;
        let is_next = says_which && self.scan.complete && begins_object(&piece.arguments);
        !is_next || self.is_placeholder() || repeats(&self.arguments, &piece.arguments)
    }

    fn take(&mut self, piece: Piece) {
        if self.id.is_empty() {
            self.id = piece.id;
        }
        if self.name.is_empty() {
            self.name = piece.name;
        }
        self.extra.extend(piece.extra);
        self.add(&piece.arguments);
    }

    fn add(&mut self, text: &str) {
        if self.scan.complete && !self.glued && begins_object(text) {
            if repeats(&self.arguments, text) {
                return;
            }
            if self.is_placeholder() {
                self.arguments.clear();
                self.scan = Scan::default();
            } else {
                self.glued = true;
            }
        }
        self.scan.read(text);
        self.arguments.push_str(text);
    }

    /// An empty object that was not given out yet: some servers begin with one, and send the arguments afterwards.
    fn is_placeholder(&self) -> bool {
        self.given == 0 && self.arguments.len() < 8 && self.arguments.trim() == "{}"
    }

    fn give(&mut self, index: usize, answer: &mut Answer, is_last: bool) {
        if !self.extra.is_empty() {
            answer.call_extra(index, Value::Object(std::mem::take(&mut self.extra)));
        }
        if self.given < self.arguments.len() && (is_last || !self.is_placeholder()) {
            answer.arguments(index, &self.arguments[self.given..]);
            self.given = self.arguments.len();
        }
    }
}

fn begins_object(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Whether a server that has sent the arguments sends them once more, as a whole.
fn repeats(arguments: &str, text: &str) -> bool {
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    arguments.trim() == text.trim() || value(text).is_some_and(|again| value(arguments) == Some(again))
}

/// Notices where one JSON object ends, reading each byte once.
#[derive(Debug, Default)]
struct Scan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    complete: bool,
}

impl Scan {
    /// Whether the object has begun and not ended.
    fn is_inside(&self) -> bool {
        self.depth > 0
    }

    fn read(&mut self, text: &str) {
        if self.complete {
            return;
        }
        for byte in text.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        self.complete = true;
                        return;
                    }
                }
                _ => {}
            }
        }
    }
}
