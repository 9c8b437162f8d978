//! Permission rules read from configuration files: JSON with comments, in the order in which they stand there (P-31 to
//! P-33). What the files are and what they hold is found out elsewhere.

use std::sync::Arc;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::rule::{Action, Layer, Pattern, Rule, Source};

/// Rules from one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// In the order in which they count. One that could not be read is there as an *ask*.
    pub rules: Vec<Rule>,
    /// The same for each agent, in the order of the file.
    pub agents: Vec<(String, Vec<Rule>)>,
    /// What is wrong, one line each, with its place.
    pub problems: Vec<String>,
}

/// Where a text is from.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// How strong its rules are.
    pub layer: Layer,
    /// What the user knows it by: a path, `$LATHE_PERMISSION`.
    pub name: &'a str,
    /// The user's home directory, for `~`.
    pub home: &'a str,
}

/// Reads a whole configuration file: `permission`, `tools` and `agent`; its other keys are none of our business.
pub fn read(text: &str, place: Place) -> Config {
    let mut reader = Reader { text, place, agent: None, config: Config::default() };
    let Some(root) = reader.parse() else { return reader.config };
    let Some(object) = reader.object(&root, "the file") else { return reader.config };
    let mut rules = Vec::new();
    for property in &object.properties {
        match property.name.as_str() {
            "permission" => reader.permission(&property.value, &mut rules),
            "tools" => reader.tools(&property.value, &mut rules),
            "agent" => reader.agents(&property.value),
            _ => {}
        }
    }
    reader.config.rules = rules;
    reader.config
}

/// Reads what stands for `permission` alone: an action, or rules. A bare word needs no quotes here.
pub fn read_permission(text: &str, place: Place) -> Config {
    let word = text.trim();
    let quoted = format!("\"{word}\"");
    let text = if Action::read(word).is_some() { &quoted } else { text };
    let mut reader = Reader { text, place, agent: None, config: Config::default() };
    let Some(root) = reader.parse() else { return reader.config };
    let mut rules = Vec::new();
    reader.permission(&root, &mut rules);
    reader.config.rules = rules;
    reader.config
}

struct Reader<'a> {
    text: &'a str,
    place: Place<'a>,
    agent: Option<String>,
    config: Config,
}

impl<'a> Reader<'a> {
    /// A file that cannot be read may have held a deny: everything asks until it is mended.
    fn parse(&mut self) -> Option<Value<'a>> {
        match parse_to_ast(self.text, &CollectOptions::default(), &ParseOptions::default()) {
            Ok(parsed) => parsed.value, // an empty file says nothing
            Err(error) => {
                let line = error.line_display();
                self.config.problems.push(format!(
                    "{}:{line}: {}: everything asks until it is mended",
                    self.place.name,
                    error.kind()
                ));
                let rule = self.rule("*", "*", Action::Ask, line);
                self.config.rules.push(rule);
                None
            }
        }
    }

    fn line(&self, node: &impl Ranged) -> usize {
        1 + self.text.as_bytes()[..node.start().min(self.text.len())].iter().filter(|byte| **byte == b'\n').count()
    }

    fn rule(&self, key: &str, pattern: &str, action: Action, line: usize) -> Rule {
        let Place { layer, name, home } = self.place;
        let source = Source { layer, agent: self.agent.clone(), place: name.to_owned(), line: Some(line) };
        let (key, pattern) = (Pattern::key(key), Pattern::value(pattern, home));
        Rule { key, pattern, action, source: Arc::new(source) }
    }

    fn problem(&mut self, node: &impl Ranged, what: &str) {
        let line = self.line(node);
        let range = node.start().min(self.text.len())..node.end().min(self.text.len());
        let quoted: String = self.text.get(range).unwrap_or_default().chars().take(60).collect();
        self.config.problems.push(format!("{}:{line}: {what}: {quoted}", self.place.name));
    }

    fn object<'v>(&mut self, value: &'v Value<'a>, what: &str) -> Option<&'v Object<'a>> {
        let object = value.as_object();
        if object.is_none() {
            self.problem(value, &format!("{what}: expected an object"));
        }
        object
    }

    /// The action of a value; what is none counts as ask, and is told.
    fn action(&mut self, value: &Value<'a>) -> Action {
        match value.as_string_lit().and_then(|word| Action::read(&word.value)) {
            Some(action) => action,
            None => {
                self.problem(value, "expected \"allow\", \"ask\" or \"deny\", counts as ask");
                Action::Ask
            }
        }
    }

    fn permission(&mut self, value: &Value<'a>, rules: &mut Vec<Rule>) {
        let Some(keys) = value.as_object() else {
            let action = self.action(value);
            return rules.push(self.rule("*", "*", action, self.line(value)));
        };
        for ObjectProp { name: key, value, .. } in &keys.properties {
            let key = key.as_str();
            let Some(patterns) = value.as_object() else {
                let action = self.action(value);
                rules.push(self.rule(key, "*", action, self.line(value)));
                continue;
            };
            for property in &patterns.properties {
                let action = self.action(&property.value);
                rules.push(self.rule(key, property.name.as_str(), action, self.line(property)));
            }
        }
    }

    /// The older form: `tools: { name: false }`.
    fn tools(&mut self, value: &Value<'a>, rules: &mut Vec<Rule>) {
        let Some(tools) = self.object(value, "tools") else { return };
        for property in &tools.properties {
            let action = match &property.value {
                Value::BooleanLit(on) if on.value => Action::Allow,
                Value::BooleanLit(_) => Action::Deny,
                other => {
                    self.problem(other, "expected true or false, counts as ask");
                    Action::Ask
                }
            };
            rules.push(self.rule(property.name.as_str(), "*", action, self.line(property)));
        }
    }

    fn agents(&mut self, value: &Value<'a>) {
        let Some(agents) = self.object(value, "agent") else { return };
        for agent in &agents.properties {
            let name = agent.name.as_str().to_owned();
            let Some(settings) = self.object(&agent.value, "agent") else { continue };
            self.agent = Some(name.clone());
            let mut rules = Vec::new();
            for property in &settings.properties {
                match property.name.as_str() {
                    "permission" => self.permission(&property.value, &mut rules),
                    "tools" => self.tools(&property.value, &mut rules),
                    _ => {}
                }
            }
            self.agent = None;
            self.config.agents.push((name, rules));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place { layer: Layer::Global, name: "lathe.json", home: "/home/me" };

    fn show(rules: &[Rule]) -> Vec<String> {
        rules.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn p32_the_order_of_the_file_counts_and_comments_are_fine() {
        let text = r#"{
  // what the project may do
  "theme": "x",
  "permission": {
    "bash": { "*": "ask", "git *": "allow", /* never */ "git push *": "deny", },
    "*": "deny",
    "edit": "allow"
  }
}"#;
        let config = read(text, PLACE);
        assert_eq!(config.problems, [""; 0]);
        assert_eq!(
            show(&config.rules),
            [
                r#"bash "*" ask (lathe.json:5)"#,
                r#"bash "git *" allow (lathe.json:5)"#,
                r#"bash "git push *" deny (lathe.json:5)"#,
                r#"* "*" deny (lathe.json:6)"#,
                r#"edit "*" allow (lathe.json:7)"#,
            ]
        );
    }

    #[test]
    fn p31_a_bad_entry_counts_as_ask_and_is_told_with_its_place() {
        let config = read("{\"permission\": {\"bash\": \"alow\",\n\"edit\": {\"a\": 5, \"b\": \"deny\"}}}", PLACE);
        assert_eq!(
            config.problems,
            [
                "lathe.json:1: expected \"allow\", \"ask\" or \"deny\", counts as ask: \"alow\"",
                "lathe.json:2: expected \"allow\", \"ask\" or \"deny\", counts as ask: 5",
            ]
        );
        let rules = show(&config.rules);
        assert_eq!(rules[..2], [r#"bash "*" ask (lathe.json:1)"#, r#"edit "a" ask (lathe.json:2)"#]);
        for text in ["{", "{\"permission\": }", "[1, 2", "{\"permission\": \"allow\"} x"] {
            let config = read(text, PLACE);
            assert_eq!(config.problems.len(), 1, "{text}");
            assert!(config.problems[0].starts_with("lathe.json:1: "), "{:?}", config.problems);
            assert!(show(&config.rules)[0].starts_with("* \"*\" ask"), "{text}");
        }
        assert_eq!(read("", PLACE), Config::default());
        assert_eq!(read("[]", PLACE).problems, ["lathe.json:1: the file: expected an object: []"]);
    }

    #[test]
    fn p31_older_and_shorter_forms_are_read() {
        assert_eq!(show(&read(r#"{"permission": "allow"}"#, PLACE).rules), [r#"* "*" allow (lathe.json:1)"#]);
        let config = read(r#"{"tools": {"a": false, "b": true, "c": 1}}"#, PLACE);
        let rules = [r#"a "*" deny (lathe.json:1)"#, r#"b "*" allow (lathe.json:1)"#, r#"c "*" ask (lathe.json:1)"#];
        assert_eq!(show(&config.rules), rules);
        assert_eq!(config.problems.len(), 1);
    }

    #[test]
    fn a_file_of_brackets_is_refused_and_not_the_end_of_the_editor() {
        for text in ["[".repeat(200_000), "{\"permission\":".repeat(100_000)] {
            let config = read(&text, PLACE);
            assert_eq!(config.problems.len(), 1);
            assert!(show(&config.rules)[0].starts_with("* \"*\" ask"));
        }
    }

    #[test]
    fn p33_agents_have_rules_of_their_own() {
        let text =
            "{\"agent\": {\"plan\": {\"permission\": {\"bash\": \"deny\"}, \"tools\": {\"x\": false}}, \"build\": {}}}";
        let config = read(text, PLACE);
        let agents: Vec<_> = config.agents.iter().map(|(name, rules)| (name.as_str(), show(rules))).collect();
        let plan = vec![
            r#"bash "*" deny (lathe.json:1, agent plan)"#.to_owned(),
            r#"x "*" deny (lathe.json:1, agent plan)"#.to_owned(),
        ];
        assert_eq!(agents, [("plan", plan), ("build", vec![])]);
        assert_eq!(config.rules, []);
    }

    #[test]
    fn p33_the_environment_may_hold_a_word_or_rules() {
        let place = Place { layer: Layer::Environment, name: "$LATHE_PERMISSION", home: "/" };
        for text in ["deny", " deny\n", "\"deny\""] {
            assert_eq!(show(&read_permission(text, place).rules), [r#"* "*" deny ($LATHE_PERMISSION:1)"#]);
        }
        let rules = read_permission(r#"{"bash": {"ls": "allow"}}"#, place).rules;
        assert_eq!(show(&rules), [r#"bash "ls" allow ($LATHE_PERMISSION:1)"#]);
        assert_eq!(read_permission("alow", place).problems.len(), 1);
    }
}
