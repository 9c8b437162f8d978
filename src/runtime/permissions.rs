//! Where permission rules are kept, and where paths lead: the files behind `gate/`. Everything here may block and runs off
//! the main loop.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::gate::Permissions;
use crate::gate::config::{self, Config, Place};
use crate::gate::finder;
use crate::gate::pair::{Pair, Want, Wants};
use crate::gate::path::{Places, normal};
use crate::gate::rule::{Action, Layer, Pattern, Rule, Rules, Source, defaults};
use crate::runtime::wildcards::{self, Files};

/// A configuration file that is longer is not read.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The systems whose files hold rules, the weakest first (P-1, P-33).
const SYSTEMS: [&str; 3] = ["opencode", "symbiotic", "lathe"];

/// A rule of `setup()`, as Lua hands it over, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupRule {
    /// The agent that it is for; none: all.
    pub agent: Option<String>,
    /// The key.
    pub key: String,
    /// The pattern.
    pub pattern: String,
    /// The action; what is none was told by Lua and counts as ask.
    pub action: Action,
}

/// Where rules come from, for one chat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The chat's working directory.
    pub session: PathBuf,
    /// The user's home directory.
    pub home: PathBuf,
    /// `$XDG_CONFIG_HOME`, or what stands for it.
    pub config_home: PathBuf,
    /// Folders that are always readable.
    pub readable: Vec<PathBuf>,
    /// The rules of `setup()`.
    pub setup: Vec<SetupRule>,
    /// `$LATHE_PERMISSION`: rules, or the path of a file with them.
    pub environment: Option<String>,
    /// The chat's agent.
    pub agent: String,
}

/// Reads all rules that count for a chat. Besides them: what is wrong with them, one line each.
pub fn load(sources: &Sources) -> (Permissions, Vec<String>) {
    let home = sources.home.to_string_lossy();
    let worktree = worktree(&sources.session);
    let mut loader =
        Loader { home: &home, own: defaults(&home), agents: Vec::new(), problems: Vec::new(), agent: &sources.agent };
    for system in SYSTEMS {
        loader.folder(&sources.config_home.join(system), system, Layer::Global);
    }
    let mut folders: Vec<&Path> =
        sources.session.ancestors().take_while(|folder| folder.starts_with(&worktree)).collect();
    folders.reverse();
    for folder in folders {
        for system in SYSTEMS {
            loader.folder(folder, system, Layer::Project);
            loader.folder(&folder.join(format!(".{system}")), system, Layer::Project);
        }
    }
    loader.setup(&sources.setup);
    if let Some(text) = &sources.environment {
        loader.environment(text, &sources.session);
    }
    let mut list = loader.own;
    list.extend(loader.agents);
    let rules = Rules::new(list);
    let mut problems = loader.problems;
    // Where something could not be read, what stands for it covers all before it.
    if problems.is_empty() {
        let idle = rules.idle();
        problems
            .extend(idle.iter().map(|(rule, later)| format!("the rule {rule} never applies: {later} comes after it")));
    }
    let real = [&sources.session, &worktree].map(|folder| wildcards::real(folder));
    let places = Places {
        session: normal(&sources.session),
        worktree,
        home: sources.home.clone(),
        real: real.to_vec(),
        readable: sources.readable.iter().map(|folder| wildcards::real(folder)).collect(),
    };
    (Permissions { rules, places }, problems)
}

/// Finds what a call wants, and what the rules say to it.
pub fn judge(wants: &Wants, permissions: &Permissions) -> Vec<Want> {
    let found = pairs(wants, &permissions.places);
    found.into_iter().map(|pair| Want::new(pair, &permissions.rules)).collect()
}

/// Finds what a call wants, with its paths followed.
pub fn pairs(wants: &Wants, places: &Places) -> Vec<Pair> {
    finder::pairs(wants, places, &Files::default())
}

/// The innermost folder around the session with a `.git`; without one the session's own.
fn worktree(session: &Path) -> PathBuf {
    let session = normal(session);
    let found = session.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_path_buf);
    found.unwrap_or(session)
}

struct Loader<'a> {
    home: &'a str,
    agent: &'a str,
    own: Vec<Rule>,
    agents: Vec<Rule>,
    problems: Vec<String>,
}

impl Loader<'_> {
    fn folder(&mut self, folder: &Path, system: &str, layer: Layer) {
        for ending in ["json", "jsonc"] {
            let path = folder.join(format!("{system}.{ending}"));
            let name = self.shown(&path);
            match read(&path) {
                Ok(Some(text)) => {
                    let config = config::read(&text, Place { layer, name: &name, home: self.home });
                    self.add(config, layer);
                }
                Ok(None) => {}
                Err(error) => self.unreadable(&name, layer, &error),
            }
        }
    }

    fn shown(&self, path: &Path) -> String {
        let inside = path.strip_prefix(self.home).ok().filter(|_| !self.home.is_empty());
        inside.map_or_else(|| path.display().to_string(), |rest| format!("~/{}", rest.display()))
    }

    /// What cannot be read may have held a deny.
    fn unreadable(&mut self, name: &str, layer: Layer, error: &io::Error) {
        self.problems.push(format!("{name} cannot be read ({error}): everything asks until it can"));
        let source = Source { layer, agent: None, place: name.to_owned(), line: None };
        let (key, pattern) = (Pattern::key("*"), Pattern::value("*", self.home));
        self.own.push(Rule { key, pattern, action: Action::Ask, source: Arc::new(source) });
    }

    fn add(&mut self, config: Config, layer: Layer) {
        // Nobody has said yet that this project is trusted: its rules only tighten (P-34).
        let counts = |rule: &Rule| layer != Layer::Project || rule.action > Action::Allow;
        self.own.extend(config.rules.into_iter().filter(counts));
        let agents = config.agents.into_iter().filter(|(name, _)| name == self.agent);
        self.agents.extend(agents.flat_map(|(_, rules)| rules).filter(counts));
        self.problems.extend(config.problems);
    }

    fn setup(&mut self, rules: &[SetupRule]) {
        for rule in rules {
            let source =
                Source { layer: Layer::Setup, agent: rule.agent.clone(), place: "setup()".to_owned(), line: None };
            let (key, pattern) = (Pattern::key(&rule.key), Pattern::value(&rule.pattern, self.home));
            let made = Rule { key, pattern, action: rule.action, source: Arc::new(source) };
            match &rule.agent {
                None => self.own.push(made),
                Some(agent) if agent == self.agent => self.agents.push(made),
                Some(_) => {}
            }
        }
    }

    fn environment(&mut self, text: &str, session: &Path) {
        const NAME: &str = "$LATHE_PERMISSION";
        let layer = Layer::Environment;
        let is_inline = text.trim_start().starts_with(['{', '"', '[']) || Action::read(text.trim()).is_some();
        if text.trim().is_empty() {
            return;
        }
        if is_inline {
            let config = config::read_permission(text, Place { layer, name: NAME, home: self.home });
            return self.add(config, layer);
        }
        let rest = text.strip_prefix("~/");
        let path = rest.map_or_else(|| session.join(text), |rest| Path::new(self.home).join(rest));
        let name = self.shown(&path);
        match read(&path) {
            Ok(Some(text)) => {
                let config = config::read(&text, Place { layer, name: &name, home: self.home });
                self.add(config, layer);
            }
            Ok(None) => self.unreadable(&format!("{name} of {NAME}"), layer, &io::ErrorKind::NotFound.into()),
            Err(error) => self.unreadable(&format!("{name} of {NAME}"), layer, &error),
        }
    }
}

/// A file's text. None: there is no such file.
fn read(path: &Path) -> io::Result<Option<String>> {
    // Before it is opened: a pipe is not, until somebody writes to it.
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(io::Error::other("it is no file")),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    }
    let mut text = String::new();
    File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::other("it is larger than 1 MiB"));
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Folder {
        root: tempfile::TempDir,
    }

    impl Folder {
        fn new() -> Self {
            Self { root: tempfile::tempdir().expect("a folder") }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.root.path().join(name)
        }

        fn write(&self, name: &str, text: &str) -> &Self {
            let path = self.path(name);
            fs::create_dir_all(path.parent().expect("it is below the root")).expect("folders");
            fs::write(path, text).expect("a file");
            self
        }

        fn sources(&self) -> Sources {
            fs::create_dir_all(self.path("w/sub")).expect("folders");
            fs::create_dir_all(self.path("w/.git")).expect("folders");
            Sources {
                session: self.path("w/sub"),
                home: self.path("home"),
                config_home: self.path("home/.config"),
                agent: "build".to_owned(),
                ..Sources::default()
            }
        }
    }

    /// The rules that are not built in, without their places.
    fn show(permissions: &Permissions) -> Vec<String> {
        let written = permissions.rules.as_slice().iter().filter(|rule| rule.source.layer != Layer::Default);
        written
            .map(|rule| format!("{} {} {}", rule.key.as_str(), rule.pattern.as_str(), rule.action.as_str()))
            .collect()
    }

    fn rules(word: &str) -> String {
        format!("{{\"permission\": {{\"{word}\": \"deny\"}}}}")
    }

    #[test]
    fn p33_layers_count_from_the_weakest_to_the_strongest() {
        let folder = Folder::new();
        folder
            .write("home/.config/opencode/opencode.json", &rules("g1"))
            .write("home/.config/symbiotic/symbiotic.jsonc", &rules("g2"))
            .write("home/.config/lathe/lathe.json", &rules("g3"))
            .write("w/opencode.json", &rules("p1"))
            .write("w/.opencode/opencode.json", &rules("p2"))
            .write("w/symbiotic.json", &rules("p3"))
            .write("w/lathe.json", &rules("p4"))
            .write("w/lathe.jsonc", &rules("p5"))
            .write("w/.lathe/lathe.json", &rules("p6"))
            .write("w/sub/lathe.json", &rules("p7"))
            .write("lathe.json", &rules("above the worktree"));
        let setup = |key: &str, agent: Option<&str>| SetupRule {
            agent: agent.map(str::to_owned),
            key: key.to_owned(),
            pattern: "*".to_owned(),
            action: Action::Deny,
        };
        folder.write(
            "w/sub/.lathe/lathe.json",
            r#"{"agent": {"build": {"permission": {"a1": "deny"}}, "plan": {"permission": {"no": "deny"}}}}"#,
        );
        let sources = Sources {
            setup: vec![setup("a2", Some("build")), setup("s", None), setup("no", Some("plan"))],
            environment: Some("{\"e\": \"deny\"}".to_owned()),
            ..folder.sources()
        };
        let (permissions, problems) = load(&sources);
        let keys: Vec<_> =
            show(&permissions).iter().map(|rule| rule.split(' ').next().unwrap_or_default().to_owned()).collect();
        assert_eq!(keys, ["g1", "g2", "g3", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "s", "e", "a1", "a2"]);
        assert_eq!(problems, [""; 0]);
        let source = permissions
            .rules
            .as_slice()
            .iter()
            .find(|rule| rule.key.as_str() == "g3")
            .map(|rule| rule.source.to_string());
        assert_eq!(source.as_deref(), Some("~/.config/lathe/lathe.json:1"));
    }

    #[test]
    fn row_38_an_agents_rule_is_stronger_and_only_for_it() {
        let folder = Folder::new();
        folder.write(
            "home/.config/lathe/lathe.json",
            r#"{"permission": {"bash": {"git push *": "deny"}}, "agent": {"build": {"permission": {"bash": {"git push *": "ask"}}}}}"#,
        );
        let action = |agent: &str| {
            let (permissions, _) = load(&Sources { agent: agent.to_owned(), ..folder.sources() });
            permissions.rules.find("bash", &[&"git push".into()]).action
        };
        assert_eq!(action("build"), Some(Action::Ask));
        assert_eq!(action("plan"), Some(Action::Deny));
    }

    #[test]
    fn rows_41_and_42_an_untrusted_project_only_tightens() {
        let folder = Folder::new();
        folder
            .write("home/.config/lathe/lathe.json", r#"{"permission": {"bash": {"rm *": "deny"}}}"#)
            .write("w/lathe.json", r#"{"permission": {"bash": {"*": "allow", "curl *": "ask"}}}"#);
        let (permissions, _) = load(&folder.sources());
        assert_eq!(show(&permissions), ["bash rm * deny", "bash curl * ask"]);
    }

    #[test]
    fn what_cannot_be_read_asks_about_everything_and_is_named() {
        let folder = Folder::new();
        folder.write("w/lathe.json", "{ broken").write("w/symbiotic.json/x", "");
        folder.write("w/opencode.json", &format!("{{}}{}", " ".repeat(2 << 20)));
        let (permissions, named) = load(&Sources { environment: Some("/no/such/file".to_owned()), ..folder.sources() });
        assert_eq!(show(&permissions), ["* * ask"; 4]);
        assert_eq!(named.len(), 4, "{named:?}");
        for (problem, part) in
            named.iter().zip(["larger than 1 MiB", "no file", "lathe.json:1", "/no/such/file of $LATHE_PERMISSION"])
        {
            assert!(problem.contains(part), "{problem}");
        }
    }

    #[test]
    fn what_is_no_file_is_never_waited_for() {
        let folder = Folder::new();
        folder.write("w/x", "");
        let pipe = folder.root.path().join("w/lathe.json");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()));
        let error = read(&pipe).expect_err("it is a pipe");
        assert_eq!(error.to_string(), "it is no file");
        assert!(read(std::path::Path::new("/dev/zero")).is_err());
        assert!(matches!(read(&folder.root.path().join("w/none")), Ok(None)));
    }

    #[test]
    fn r009_a_rule_that_never_applies_is_told_when_it_is_loaded() {
        let folder = Folder::new();
        folder.write(
            "home/.config/lathe/lathe.json",
            "{\"permission\": {\"bash\": {\"npm publish *\": \"deny\",\n\"*\": \"ask\"}}}",
        );
        let (_, told) = load(&folder.sources());
        assert_eq!(
            told,
            ["the rule bash \"npm publish *\" deny (~/.config/lathe/lathe.json:1) never applies: bash \"*\" ask \
              (~/.config/lathe/lathe.json:2) comes after it"]
        );
    }

    #[test]
    fn r125_r127_and_r130_paths_are_followed_on_the_disk() {
        let folder = Folder::new();
        let sources = folder.sources();
        folder.write("data/f", "").write("w/sub/in", "");
        symlink(folder.path("data"), folder.path("w/sub/d")).expect("a link");
        symlink(folder.path("o/new.txt"), folder.path("w/sub/a")).expect("a dangling link");
        symlink("loop", folder.path("w/sub/loop")).expect("a link to itself");
        let places = load(&sources).0.places;
        let found = |path: &str| {
            let wants = Wants { key: "edit".to_owned(), values: vec![path.to_owned()], ..Wants::default() };
            let found = pairs(&wants, &places);
            found.iter().find(|pair| pair.key == "external_directory").map(|pair| pair.value.clone())
        };
        let real_root = fs::canonicalize(folder.root.path()).expect("it exists");
        let below = |name: &str| Some(format!("{}/*", real_root.join(name).display()));
        assert_eq!(found("in"), None);
        assert_eq!(found("../x"), None, "the worktree is inside");
        assert_eq!(found("../../x"), below("").map(|_| format!("{}/*", real_root.display())));
        assert_eq!(found("d/f"), below("data"));
        assert_eq!(found("d"), below("data"), "a folder stands for itself");
        assert_eq!(found("a"), below("o"));
        assert!(found("loop/x").is_some());
        assert_eq!(found("/etc/hosts").as_deref(), Some("/etc/*"));
    }
}
