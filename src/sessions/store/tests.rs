//! The store on disk, alone and in a file of Hermes Agent.

use super::*;
use crate::sessions::rows as theirs;

fn card(id: &str) -> Card {
    Card {
        id: id.to_owned(),
        source: "tui".to_owned(),
        started_at: 100.0,
        last_active: 200.0,
        ..Card::default()
    }
}

fn message(id: i64, session: &str, state: &'static str) -> Message {
    Message {
        id,
        session_id: session.to_owned(),
        role: "user",
        origin: "user",
        text: format!("message {id}"),
        at: 200.0,
        state,
    }
}

fn save(expected: Option<&str>, text: &str) -> Save {
    Save {
        expected: expected.map(str::to_owned),
        text: text.to_owned(),
        own: "{\"missed\":1}".to_owned(),
    }
}

#[test]
fn a_killed_serve_leaves_everything_for_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let mut store = Store::open(&path).unwrap();
    store
        .write(&[
            Write::Card(card("quiet")),
            Write::Card(card("asked")),
            Write::Card(card("looping")),
            Write::Card(card("removed")),
            Write::Message(message(7, "asked", state::RUNNING)),
            Write::Message(message(8, "asked", state::QUEUED)),
        ])
        .unwrap();
    for id in ["looping", "removed"] {
        let saved = store
            .save_timer(id, "loop", &save(None, "{\"status\": \"active\"}"))
            .unwrap();
        assert_eq!(saved, Saved::Done);
    }
    let reason = Some("its session has ended".to_owned());
    let not_driven = Write::NotDriven {
        session_id: "removed".to_owned(),
        kind: "loop",
        reason,
        due_at: Some(300.0),
    };
    store.write(&[not_driven]).unwrap();
    drop(store);

    let mut store = Store::open(&path).unwrap();
    let loaded = store.load().unwrap();
    assert_eq!((loaded.next_message, loaded.interrupted), (9, 1));
    let mut ids: Vec<_> = loaded.revived.iter().map(|found| &*found.card.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["asked", "looping"]);
    let asked = store.find("asked").unwrap().unwrap();
    let states: Vec<_> = asked.messages.iter().map(|message| message.state).collect();
    assert_eq!(states, [state::INTERRUPTED, state::QUEUED]);
    let looping = store.find("looping").unwrap().unwrap().looping.unwrap();
    assert_eq!(looping.own, "{\"missed\":1}");
    assert_eq!(store.load().unwrap().interrupted, 0);
}

#[test]
fn of_two_that_claim_one_wins() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let (mut one, mut two) = (Store::open(&path).unwrap(), Store::open(&path).unwrap());
    assert_eq!(
        one.save_timer("s", "loop", &save(None, "a")).unwrap(),
        Saved::Done
    );
    assert_eq!(
        one.save_timer("s", "loop", &save(Some("a"), "b")).unwrap(),
        Saved::Done
    );
    let late = two.save_timer("s", "loop", &save(Some("a"), "c")).unwrap();
    assert_eq!(late, Saved::Lost(Some("b".to_owned())));
    assert_eq!(
        two.save_timer("t", "loop", &save(Some("a"), "c")).unwrap(),
        Saved::Lost(None)
    );
}

#[test]
fn a_store_of_the_other_program_keeps_all_that_is_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    std::fs::copy("tests/data/stores/state.db", &path).unwrap();
    let read = |store: &Store| {
        let connection = &store.connection;
        let sessions = theirs::sessions(connection, 100).unwrap().unwrap();
        let routing = theirs::routing(connection, 100).unwrap().unwrap();
        (
            sessions,
            routing,
            theirs::schema_version(connection).unwrap(),
        )
    };
    let mut store = Store::open(&path).unwrap();
    let before = read(&store);
    let backend = Backend {
        id: "default@box:7:01234567".to_owned(),
        pid: 7,
        started_at: 50.0,
        profile: "default".to_owned(),
        host: "box".to_owned(),
    };
    store
        .write(&[
            Write::Card(card("ours")),
            Write::Alive(backend.clone(), 60.0),
        ])
        .unwrap();
    let beats = theirs::backend_heartbeats(&store.connection, 100)
        .unwrap()
        .unwrap();
    assert!(beats.iter().any(|beat| beat.backend_id == backend.id));
    store.write(&[Write::Gone(backend.id.clone())]).unwrap();
    let beats = theirs::backend_heartbeats(&store.connection, 100)
        .unwrap()
        .unwrap();
    assert!(beats.iter().all(|beat| beat.backend_id != backend.id));
    assert_eq!(read(&store), before);
    assert!(
        store.load().unwrap().revived.is_empty(),
        "its sessions are not ours"
    );
}

#[test]
fn lists_are_by_use_and_a_title_is_a_name() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(&directory.path().join("state.db")).unwrap();
    let mut named = card("b");
    named.title = Some("nightly build".to_owned());
    named.last_active = 300.0;
    let mut hidden = card("c");
    hidden.hidden = true;
    store
        .write(&[
            Write::Card(card("a")),
            Write::Card(named),
            Write::Card(hidden),
        ])
        .unwrap();
    let ids = |cards: Vec<Card>| cards.into_iter().map(|card| card.id).collect::<Vec<_>>();
    assert_eq!(ids(store.list(10, false, None).unwrap()), ["b", "a"]);
    assert_eq!(ids(store.list(10, true, None).unwrap()).len(), 3);
    assert_eq!(ids(store.list(10, false, Some("build")).unwrap()), ["b"]);
    assert_eq!(store.find("nightly build").unwrap().unwrap().card.id, "b");
    assert_eq!(store.find("none").unwrap(), None);
    assert_eq!(ids(store.left_open(250.0, 10).unwrap()), ["a", "c"]);
}

#[test]
fn a_start_gets_each_session_with_its_own_timers_and_its_newest_messages() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(&directory.path().join("state.db")).unwrap();
    let ids = ["a", "b"];
    let mut writes: Vec<Write> = ids.map(|id| Write::Card(card(id))).into();
    // Two conversations, turn by turn, longer than what a start wants.
    writes.extend((0..500).map(|id| {
        let session = if id % 2 == 0 { "a" } else { "b" };
        Write::Message(message(id, session, state::DONE))
    }));
    store.write(&writes).unwrap();
    let active = "{\"status\": \"active\"}";
    store.save_timer("a", "loop", &save(None, active)).unwrap();
    let beats = "{\"status\": \"active\", \"of\": \"b\"}";
    store
        .save_timer("b", "heartbeat", &save(None, beats))
        .unwrap();
    let revived = store.load().unwrap().revived;
    for (found, parity) in revived.iter().zip([0, 1]) {
        let ids: Vec<i64> = found.messages.iter().map(|message| message.id).collect();
        let wanted: Vec<i64> = (50..250).map(|number| 2 * number + parity).collect();
        assert_eq!(ids, wanted, "{}", found.card.id);
    }
    let [a, b] = revived.as_slice() else {
        panic!("two sessions: {revived:?}");
    };
    assert_eq!((a.card.id.as_str(), b.card.id.as_str()), ("a", "b"));
    assert_eq!(a.looping.as_ref().unwrap().text, active);
    assert!(a.heartbeat.is_none() && b.looping.is_none());
    assert_eq!(b.heartbeat.as_ref().unwrap().text, beats);
    assert_eq!(b.heartbeat.as_ref().unwrap().own, "{\"missed\":1}");
    assert_eq!(store.find_live("b").unwrap().as_ref(), Some(b));
    assert_eq!(store.find_live("c").unwrap(), None);
}

#[test]
fn only_the_newest_ticks_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(&directory.path().join("state.db")).unwrap();
    let tick = |number| {
        Write::Tick(Tick {
            session_id: "s".to_owned(),
            kind: "loop",
            number,
            missed: 0,
            claimed_at: 1.0,
            ended_at: 2.0,
            outcome: "finished",
            detail: String::new(),
        })
    };
    let kept = u64::from(schema::TICKS_KEPT);
    let all: Vec<_> = (1..=kept + 5).map(tick).collect();
    store.write(&all).unwrap();
    let ticks = store.ticks("s", None, 1000).unwrap();
    assert_eq!(ticks.len() as u64, kept);
    assert_eq!(ticks.first().map(|tick| tick.number), Some(kept + 5));
    assert!(!store.delete("s").unwrap(), "no session of ours");
    assert_eq!(store.ticks("s", None, 1000).unwrap().len() as u64, kept);
    store.write(&[Write::Card(card("s"))]).unwrap();
    assert!(store.delete("s").unwrap());
    assert!(store.ticks("s", None, 10).unwrap().is_empty());
}
