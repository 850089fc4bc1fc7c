//! Runs of tasks as processes: ends, limits, outputs.

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::agent::Settings;

struct Home {
    directory: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    fn script(&self, name: &str, text: &str) -> Script {
        let path = self.directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        Script {
            path,
            interpreter: None,
        }
    }

    fn task(work: Work) -> Task {
        Task {
            job_id: "a1".into(),
            name: "n".into(),
            work,
            workdir: None,
            timeout: None,
            env_file: None,
            deliver_command: Vec::new(),
            output_retention: 50,
        }
    }

    fn run(&self, task: &Task, agent: Option<&str>) -> Report {
        let agent = agent.map(|text| toml::from_str::<Settings>(text).unwrap().resolve().unwrap());
        let environment = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let (_keep, cancel) = watch::channel(false);
        let own = own_variables(task, &environment);
        if let Some(file) = &task.env_file {
            std::fs::write(file, "GREETING=changed\n").unwrap();
        }
        let mut context = Context {
            execution_id: "e1",
            agent: agent.as_ref(),
            environment: &environment,
            own,
            home: self.directory.path(),
            cancel,
            log: Log::none(),
            started: &mut |_| {},
            guard: false,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(context.run(task))
    }
}

#[test]
fn a_script_runs_with_its_own_variables() {
    let home = Home::new();
    let script = home.script("a.sh", "echo \"$HERMES_JOB_ID $GREETING\"; pwd");
    let file = home.directory.path().join("job.env");
    std::fs::write(
        &file,
        "# remark\nexport NAME=you # who\nGREETING=\"hello = ${NAME}\"\n",
    )
    .unwrap();
    let task = Task {
        env_file: Some(file),
        ..Home::task(Work::Script(script))
    };
    let report = home.run(&task, None);
    assert!(report.ok, "{report:?}");
    assert!(report.body.starts_with("a1 hello = you\n"), "{report:?}");
}

#[test]
fn b28_the_last_words_of_a_script_are_in_the_error() {
    let home = Home::new();
    let script = home.script("a.sh", "echo partial; echo no module named x >&2; exit 3");
    let report = home.run(&Home::task(Work::Script(script)), None);
    assert_eq!(
        report.error.as_deref(),
        Some("script a.sh exited with code 3: no module named x")
    );
    assert_eq!(report.body, "partial\n");
}

#[test]
fn the_output_of_a_script_goes_into_the_prompt() {
    let home = Home::new();
    let work = Work::Prompt {
        prompt: "what now?".into(),
        before: Some(home.script("facts.sh", "echo it rains")),
    };
    let report = home.run(&Home::task(work), Some("command = ['cat']"));
    assert!(report.ok);
    assert!(
        report.body.contains("it rains") && report.body.ends_with("what now?"),
        "{report:?}"
    );
}

#[test]
fn a_monitor_asks_the_agent_only_about_a_change() {
    let home = Home::new();
    let monitor = |last: Option<String>| {
        Home::task(Work::Monitor {
            script: home.script("watch.sh", "echo same"),
            prompt: "what changed?".into(),
            last,
        })
    };
    let first = home.run(&monitor(None), Some("command = ['cat']"));
    assert!(first.body.ends_with("what changed?"));
    let second = home.run(&monitor(first.monitor_digest), Some("command = ['false']"));
    assert!(
        second.ok && second.body.starts_with("unchanged"),
        "{second:?}"
    );
}

#[test]
fn a_change_that_was_not_dealt_with_is_a_change_again() {
    let home = Home::new();
    let work = Work::Monitor {
        script: home.script("watch.sh", "echo new"),
        prompt: "p".into(),
        last: None,
    };
    let report = home.run(&Home::task(work), Some("command = ['false']"));
    assert_eq!((report.ok, report.monitor_digest), (false, None));
}

#[test]
fn time_limits_are_told_from_failures() {
    let home = Home::new();
    let script = home.script("slow.sh", "exec sleep 1000");
    let task = Task {
        timeout: Some(1),
        ..Home::task(Work::Script(script))
    };
    let report = home.run(&task, None);
    assert!(report.time_limit && !report.cancelled, "{report:?}");
    assert!(report.error.unwrap().contains("time limit of 1s"));
}

#[test]
fn what_is_missing_is_named() {
    let home = Home::new();
    let gone = Script {
        path: "/nonexistent/x.sh".into(),
        interpreter: None,
    };
    let report = home.run(&Home::task(Work::Script(gone)), None);
    assert!(report.error.unwrap().contains("/nonexistent/x.sh"));
    let ask = Home::task(Work::Prompt {
        prompt: "p".into(),
        before: None,
    });
    assert!(home.run(&ask, None).error.unwrap().contains("no agent"));
    let elsewhere = Task {
        workdir: Some("/nonexistent".into()),
        ..ask
    };
    let report = home.run(&elsewhere, Some("command = ['cat']"));
    assert!(report.error.unwrap().contains("working directory"));
}
