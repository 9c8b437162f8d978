//! Calls of tools by name (N-13): a call of the one tool that the model sees becomes a call of the tool that it names, and
//! from there on is one like any other.

use serde_json::{Map, Value};

use crate::tool::{OfferedTool, Reach};

/// What a call of the router is turned into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routed {
    /// The tool's place in the list.
    pub index: usize,
    /// Its arguments, as JSON text.
    pub arguments: String,
}

/// Reads the arguments of the router. None: it names no tool that can be called, which it is to say itself.
pub fn route(arguments: &str, tools: &[OfferedTool]) -> Option<Routed> {
    let given: Map<String, Value> = serde_json::from_str(arguments).ok()?;
    let (server, tool) = (given.get("server_name")?.as_str()?, given.get("tool_name")?.as_str()?);
    let index = tools.iter().position(|offered| match &offered.reach {
        Reach::Direct | Reach::Router => false,
        Reach::ByName { server: of, tool: name } => of == server && name == tool,
    })?;
    let arguments = match given.get("tool_input") {
        None | Some(Value::Null) => "{}".to_owned(),
        // Some models write JSON into a string.
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    Some(Routed { index, arguments })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n13_the_named_tool_gets_the_input_whether_it_is_an_object_or_its_text() {
        let tool = |name: &str, reach| OfferedTool { name: name.into(), reach, ..OfferedTool::default() };
        let by_name = |server: &str, tool: &str| Reach::ByName { server: server.into(), tool: tool.into() };
        let tools = [
            tool("use_mcp_tool", Reach::Router),
            tool("t", Reach::Direct),
            tool("s__t", by_name("s", "t")),
            tool("s__u", by_name("s", "u")),
        ];
        let t = |arguments: &str| route(arguments, &tools).map(|routed| (routed.index, routed.arguments));
        let u = |input: &str| t(&format!(r#"{{"server_name":"s","tool_name":"u"{input}}}"#));
        assert_eq!(u(r#","tool_input":{"a":[1]}"#), Some((3, r#"{"a":[1]}"#.into())));
        assert_eq!(u(r#","tool_input":"{\"a\":1}""#), Some((3, r#"{"a":1}"#.into())));
        assert_eq!(u(r#","tool_input":"{""#), Some((3, "{".into())), "its fault is told where arguments are checked");
        assert_eq!(u(r#","tool_input":null"#), Some((3, "{}".into())));
        assert_eq!(u(""), Some((3, "{}".into())));
        assert_eq!(t(r#"{"server_name":"s","tool_name":"v"}"#), None);
        assert_eq!(t(r#"{"server_name":"s"}"#), None);
        assert_eq!(t("[]"), None);
    }
}
