//! Turns of agents that do not behave: silent, slow, dying, flooding, deaf to SIGTERM, leaving others
//! behind. Each costs its own turn and nothing else.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::agent::{self, Alive};
use crate::common::cost::{MIB, disk, memory};
use crate::common::serving::{self, Serving};
use crate::common::ws::Ws;

/// A session whose agent does what a test says.
struct Talk {
    sandbox: Sandbox,
    alive: Alive,
    serve: Serving,
    client: Ws,
    session: Value,
}

impl Talk {
    /// One with this in `[agent]` of the configuration.
    fn with(more: &str) -> Self {
        let sandbox = Sandbox::new();
        serving::configure(&sandbox, more);
        let alive = Alive::of(&sandbox);
        let serve = Serving::start(&sandbox);
        let mut client = serve.client();
        let session = client.call("session.create", &json!({}))["session_id"].take();
        Self {
            sandbox,
            alive,
            serve,
            client,
            session,
        }
    }

    /// Begins a turn in which the agent does this.
    fn begin(&mut self, steps: &[&str]) {
        agent::does(&self.sandbox, steps);
        let params = json!({"session_id": self.session, "text": "ask: how is it?"});
        self.client.call("prompt.submit", &params);
    }

    /// How the turn ends.
    fn over(&mut self) -> Value {
        self.client.wait_for("message.complete")["payload"].take()
    }

    /// A whole turn: its status, its answer, and what went wrong.
    fn turn(&mut self, steps: &[&str]) -> (String, String, String) {
        self.begin(steps);
        let over = self.over();
        let text = |key: &str| over[key].as_str().unwrap_or_default().to_owned();
        (text("status"), text("text"), text("error"))
    }

    /// The session goes on: its next turn is one like any other.
    fn goes_on(&mut self) {
        let (status, text, _) = self.turn(&["say all good"]);
        assert_eq!((status.as_str(), text.as_str()), ("complete", "all good"));
    }
}

#[test]
fn an_agent_that_falls_silent_is_ended_at_its_limit_and_so_is_what_left_its_group() {
    let mut talk = Talk::with("inactivity_timeout = 3");
    let (status, text, error) = talk.turn(&["child leave; say I begin; stall", "stall"]);
    assert_eq!((status.as_str(), text.as_str()), ("error", "I begin"));
    assert_eq!(error, "the agent was silent for longer than its limit");
    talk.alive.ended();
    talk.goes_on();
}

#[test]
fn an_agent_that_is_slow_is_not_silent_and_has_a_limit_of_its_own() {
    let slow = "gründlich, Schritt für Schritt, über mehr als drei Sekunden, weil gut Ding Weile haben will";
    let drips = format!("drip {slow}");
    let mut talk = Talk::with("inactivity_timeout = 3");
    let (status, text, _) = talk.turn(&[&drips]);
    assert_eq!((status.as_str(), text.as_str()), ("complete", slow));
    assert!(!text.contains('\u{fffd}'));

    let mut talk = Talk::with("timeout = 3");
    let (status, text, error) = talk.turn(&[&drips]);
    assert_eq!(status, "error");
    assert_eq!(error, "the turn ran longer than its limit");
    assert!(!text.is_empty() && slow.starts_with(text.trim_end_matches('\u{fffd}')));
}

#[test]
fn an_agent_that_dies_is_told_by_its_status_or_its_signal_and_its_last_words() {
    let mut talk = Talk::with("");
    let (status, text, error) = talk.turn(&["say partly", "complain no credit", "exit 3"]);
    assert_eq!((status.as_str(), text.as_str()), ("error", "partly"));
    assert_eq!(error, "the agent ended with status 3: no credit");
    let (status, _, error) = talk.turn(&["crash SIGKILL"]);
    assert_eq!(status, "error");
    assert_eq!(error, "the agent was killed by signal 9");
    talk.goes_on();
}

#[test]
fn an_agent_that_ignores_sigterm_is_killed_with_its_group() {
    let mut talk = Talk::with("timeout = 3");
    let (status, text, error) = talk.turn(&[
        "ignore SIGTERM",
        "child ignore SIGTERM; say I stay; stall",
        "stall",
    ]);
    assert_eq!((status.as_str(), text.as_str()), ("error", "I stay"));
    assert_eq!(error, "the turn ran longer than its limit");
    talk.alive.ended();
    talk.goes_on();
}

#[test]
fn an_agent_that_floods_takes_bounded_memory_and_disk_and_its_end_is_kept() {
    let mut talk = Talk::with("");
    let before = memory(talk.serve.pid());
    talk.begin(&[
        "flood stderr 100000000",
        "say I begin",
        "flood stdout 100000000",
        "say done",
    ]);
    talk.client.wait_for("message.delta");
    assert_eq!(talk.serve.page("/healthz").0, 200);
    let over = talk.over();
    let text = over["text"].as_str().expect("an answer");
    assert_eq!(over["status"], "complete");
    assert!(text.ends_with("xxxdone"));
    assert!(text.len() as u64 <= 8 * MIB, "{} bytes", text.len());
    let more = memory(talk.serve.pid()) - before;
    assert!(more <= 112 * MIB, "{more} bytes");
    let bytes = disk(&talk.sandbox.home());
    assert!(bytes <= 32 * MIB, "{bytes} bytes");
    talk.goes_on();
}

#[test]
fn an_answer_that_is_no_text_is_shown_as_far_as_it_is_one() {
    let mut talk = Talk::with("");
    let (status, text, _) = talk.turn(&["bytes 63 c3 a9 ff fe 20", "say so", "bytes e2 82"]);
    assert_eq!(status, "complete");
    assert_eq!(text, "c\u{e9}\u{fffd}\u{fffd} so\n\u{fffd}");
    talk.goes_on();
}

#[test]
fn a_child_that_holds_the_outputs_open_does_not_keep_its_turn_open() {
    let mut talk = Talk::with("");
    talk.sandbox.fifo("left");
    let go = talk.sandbox.fifo("go");
    let (status, text, _) =
        talk.turn(&["child leave; tell left; wait go", "wait left", "say done"]);
    assert_eq!((status.as_str(), text.as_str()), ("complete", "done"));
    talk.goes_on();
    // The turn ended by itself, so what it left running is meant to run.
    assert!(!talk.alive.ends_within(0));
    std::fs::write(go, "go").expect("it listens");
    talk.alive.ended();
}

#[test]
fn a_turn_that_waits_for_the_world_holds_up_nobody_else() {
    let mut talk = Talk::with("");
    let go = talk.sandbox.fifo("go");
    talk.begin(&["say I begin", "wait go", "say now"]);
    talk.client.wait_for("message.delta");
    let slow = talk.session.take();
    talk.session = talk.client.call("session.create", &json!({}))["session_id"].take();
    talk.goes_on();
    std::fs::write(go, "go").expect("it listens");
    let over = talk.client.wait_for("message.complete");
    assert_eq!(over["session_id"], slow);
    assert_eq!(over["payload"]["text"], "I begin\nnow");
}
