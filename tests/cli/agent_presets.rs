//! The agents that the presets know, by programs that stand in for them: the words that they are given, and
//! what is made of what they print.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{hermes, job, store, stored, with};
use crate::common::serving::{self, Serving};
use crate::common::standin::{self, Told, program, told};
use crate::common::ws::Ws;

const ID: &str = "aaaaaaaaaaaa";

/// A home whose job asks the agent of this preset, which does this.
fn home(preset: &str, does: &str) -> Sandbox {
    let asks = json!({"no_agent": false, "script": null, "prompt": "how is 'it'?"});
    let sandbox = with(&[job(ID, &asks)]);
    sandbox.write("config.toml", format!("[agent]\npreset = \"{preset}\"\n"));
    program(&sandbox, preset, does);
    sandbox
}

/// What came of the job: its error on record, and its output.
fn run(sandbox: &Sandbox) -> (Value, String) {
    let mut command = hermes(sandbox, &["cron", "run", ID]);
    let output = command.env("PATH", standin::path(sandbox)).output();
    let output = output.expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    let error = stored(sandbox)[0]["last_error"].take();
    assert_eq!(output.status.success(), error.is_null(), "{error} {said}");
    let folder = sandbox.home().join("cron/output").join(ID);
    let documents = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let newest = documents.map(|document| document.path()).max();
    let newest = newest.unwrap_or_else(|| panic!("no document: {said}"));
    (error, std::fs::read_to_string(newest).expect("text"))
}

/// A serve with a session that asks the agent of this preset.
struct Talk {
    sandbox: Sandbox,
    _serve: Serving,
    client: Ws,
    session: Value,
}

impl Talk {
    fn with(preset: &str, does: &str) -> Self {
        Self::of(&format!("preset = \"{preset}\""), preset, does)
    }

    /// One whose configuration says this of the agent, with a program of this name.
    fn of(settings: &str, name: &str, does: &str) -> Self {
        let sandbox = Sandbox::new();
        sandbox.write("config.toml", format!("[agent]\n{settings}\n"));
        program(&sandbox, name, does);
        let mut command = serving::command(&sandbox, serving::BEGIN, &[]);
        command.env("PATH", standin::path(&sandbox));
        let serve = Serving::ready(&sandbox, command.spawn().expect("serve starts"));
        let mut client = serve.client();
        let session = client.call("session.create", &json!({}))["session_id"].take();
        Self {
            sandbox,
            _serve: serve,
            client,
            session,
        }
    }

    /// A whole turn: its status, its answer, and what went wrong.
    fn turn(&mut self, text: &str) -> [String; 3] {
        let params = json!({"session_id": self.session, "text": text});
        self.client.call("prompt.submit", &params);
        let over = self.client.wait_for("message.complete")["payload"].take();
        ["status", "text", "error"].map(|key| over[key].as_str().unwrap_or_default().to_owned())
    }
}

fn words(words: &str) -> Vec<String> {
    words.split(' ').map(str::to_owned).collect()
}

const CLAUDE: &str = r#"echo '{"type":"result","subtype":"success","is_error":false,"result":"fine","session_id":"s-1"}'"#;
const HERMES: &str = "echo fine; printf '\\nsession_id: s-1\\n' >&2";
const CODEX: &str = r#"echo '{"type":"thread.started","thread_id":"s-1"}'
echo '{"type":"turn.started"}'
echo '{"type":"error","message":"Reconnecting... 1/5"}'
echo '{"type":"item.completed","item":{"type":"agent_message","text":"fine"}}'
echo '{"type":"turn.completed","usage":{}}'"#;

#[test]
fn each_preset_is_asked_in_its_own_words_and_goes_on_in_its_own_session() {
    let presets = [
        (
            "claude",
            CLAUDE,
            "-p --output-format json",
            "-p --output-format json --resume s-1",
        ),
        (
            "hermes",
            HERMES,
            "chat -Q --query-file -",
            "chat -Q --resume s-1 --query-file -",
        ),
        ("codex", CODEX, "exec --json -", "exec resume s-1 --json -"),
    ];
    for (preset, does, first, later) in presets {
        let sandbox = home(preset, does);
        let (error, document) = run(&sandbox);
        assert!(
            error.is_null() && document.ends_with("fine\n"),
            "{document}"
        );
        let asked = |line: &str, stdin: &str| Told {
            words: words(line),
            stdin: stdin.to_owned(),
        };
        assert_eq!(told(&sandbox, preset), [asked(first, "how is 'it'?")]);

        let mut talk = Talk::with(preset, does);
        assert_eq!(talk.turn("one"), ["complete", "fine", ""]);
        assert_eq!(talk.turn("two"), ["complete", "fine", ""]);
        let turns = [asked(first, "one"), asked(later, "two")];
        assert_eq!(told(&talk.sandbox, preset), turns);
    }
}

#[test]
fn a_prompt_among_the_words_is_one_word_of_a_preset_too() {
    let sandbox = home("claude", CLAUDE);
    let command = "command = [\"claude\", \"-p\", \"--ask={prompt}\"]";
    sandbox.write(
        "config.toml",
        format!("[agent]\npreset = \"claude\"\n{command}\n"),
    );
    assert!(run(&sandbox).0.is_null());
    let asked = Told {
        words: vec!["-p".to_owned(), "--ask=how is 'it'?".to_owned()],
        stdin: String::new(),
    };
    assert_eq!(told(&sandbox, "claude"), [asked]);
}

#[test]
fn a_prompt_that_no_argument_can_be_is_told_so_and_of_a_long_past_the_newest_is_given() {
    let sandbox = home("claude", CLAUDE);
    sandbox.write(
        "config.toml",
        "[agent]\ncommand = [\"claude\", \"{prompt}\"]\n",
    );
    let prompt = "x".repeat(140_000);
    let asks = json!({"no_agent": false, "script": null, "prompt": prompt});
    store(&sandbox, &[job(ID, &asks)]);
    let error = run(&sandbox).0;
    let error = error.as_str().expect("an error");
    assert!(
        error.contains("agent's program 'claude': it has 136 KiB"),
        "{error}"
    );
    assert!(!error.contains("/proc/self/exe"), "{error}");

    // A past that is longer than any argument.
    let long = "printf '%0140000d' 7; echo the end";
    let mut talk = Talk::of("command = [\"claude\", \"{prompt}\"]", "claude", long);
    for text in ["one", "two", "three"] {
        let [status, _, error] = talk.turn(text);
        assert_eq!((status.as_str(), error.as_str()), ("complete", ""));
    }
    let last = &told(&talk.sandbox, "claude")[2].words[0];
    assert!(
        last.len() < 128 << 10 && last.contains("You: [...] 0"),
        "{}",
        last.len()
    );
    assert!(last.contains("7the end\n\n---") && last.ends_with("\n\nthree"));

    let mut talk = Talk::of(
        "command = [\"claude\", \"{prompt}\"]",
        "claude",
        "echo fine",
    );
    let [status, _, error] = talk.turn("with a NUL\0");
    assert!(error.contains("NUL byte"), "{status} {error}");
}

#[test]
fn a_turn_that_the_agent_itself_calls_failed_is_failed_and_its_reason_is_told() {
    let failed = "the agent says that its turn failed";
    let long = r"head -c 3000000 /dev/zero | tr '\0' x";
    let cases = [
        (
            "claude",
            r#"echo '{"type":"result","subtype":"error_max_turns","is_error":true,"session_id":"s1"}'"#.to_owned(),
            format!("{failed}: error_max_turns"),
        ),
        (
            "claude",
            r#"echo '{"type":"result","subtype":"error_during_execution","is_error":false,"errors":["no network"]}'"#.to_owned(),
            format!("{failed}: no network"),
        ),
        (
            "claude",
            r#"echo '{"type":"result","is_error":true,"result":"Credit balance is too low"}'"#.to_owned(),
            format!("{failed}: Credit balance is too low"),
        ),
        (
            "claude",
            r#"echo '{"type":"result","is_error":true,"result":"Credit balance is too low"}'; exit 1"#.to_owned(),
            "agent exited with code 1: Credit balance is too low".to_owned(),
        ),
        (
            "claude",
            format!("printf '{{\"is_error\":true,\"errors\":[\"too long\"],\"more\":\"'; {long}; echo '\"}}'"),
            format!("{failed}: too long"),
        ),
        (
            "codex",
            r#"echo '{"type":"thread.started","thread_id":"t"}'; echo '{"type":"error","message":"quota"}'"#.to_owned(),
            format!("{failed}: quota"),
        ),
        (
            "hermes",
            r"printf 'no model\n\nsession_id: s-1\n' >&2; exit 1".to_owned(),
            "agent exited with code 1: no model".to_owned(),
        ),
        (
            "codex",
            r#"echo '{"type":"turn.failed","error":{"message":"no model"}}'"#.to_owned(),
            format!("{failed}: no model"),
        ),
        (
            "codex",
            r#"echo '{"type":"thread.started","thread_id":"t"}'; echo '{"type":"turn.completed"}'"#.to_owned(),
            "the agent gave no answer".to_owned(),
        ),
    ];
    for (preset, does, expected) in cases {
        let (error, document) = run(&home(preset, &does));
        assert_eq!(error, expected, "{does}: {document}");
    }
}

#[test]
fn the_end_of_a_long_stream_of_events_is_not_all_that_is_read() {
    let events = format!(
        "{CODEX}\nprintf '{{\"type\":\"other\",\"text\":\"'\nhead -c 9000000 /dev/zero | tr '\\0' x\necho '\"}}'"
    );
    let mut talk = Talk::with("codex", &events);
    assert_eq!(talk.turn("one"), ["complete", "fine", ""]);
    assert_eq!(talk.turn("two"), ["complete", "fine", ""]);
    let turns = told(&talk.sandbox, "codex");
    assert_eq!(turns[1].words, words("exec resume s-1 --json -"));
}

#[test]
fn a_session_that_the_agent_has_no_more_is_begun_anew_with_what_was_said() {
    let gone = "case \"$*\" in *--resume*) echo 'No conversation found' >&2; exit 1;; esac";
    let mut talk = Talk::with("claude", &format!("{gone}\n{CLAUDE}"));
    assert_eq!(talk.turn("one")[0], "complete");
    let [status, _, error] = talk.turn("two");
    assert_eq!(status, "error");
    assert_eq!(
        error,
        "the agent ended with status 1: No conversation found"
    );
    assert_eq!(talk.turn("three")[0], "complete");
    let turns = told(&talk.sandbox, "claude");
    let Told { words: last, stdin } = turns.last().expect("a turn");
    assert_eq!(*last, words("-p --output-format json"));
    assert!(
        stdin.contains("User: one\n\nYou: fine\n\nUser: two"),
        "{stdin}"
    );
    assert!(stdin.ends_with("\n\nthree"), "{stdin}");

    // One that has the session still, and says so, goes on in it.
    let poor = r#"case "$*" in *--resume*) echo '{"is_error":true,"result":"no credit","session_id":"s-1"}'; exit 1;; esac"#;
    let mut talk = Talk::with("claude", &format!("{poor}\n{CLAUDE}"));
    assert_eq!(talk.turn("one")[0], "complete");
    for text in ["two", "three"] {
        let [status, _, error] = talk.turn(text);
        assert_eq!(status, "error");
        assert_eq!(error, "the agent ended with status 1: no credit");
    }
    assert!(
        told(&talk.sandbox, "claude")[2]
            .words
            .contains(&"s-1".to_owned())
    );
}
