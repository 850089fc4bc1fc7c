//! Service, units, policy, descriptors: HM3xx and HM481.

use super::{Fixture, evidence, findings, fixture, found, severity};
use crate::doctor::finding::Severity::{Error, Info, Warning};
use crate::host::Facts;
use crate::host::facts::{Fact, ProgramLookup, UnitFacts, Viewpoint};

pub(super) const FIXTURES: &[Fixture] = &[
    fixture("HM301", Warning, Facts::without_linger, kill_mode_process),
    fixture("HM302", Error, Facts::without_linger, healthy).strict(),
    fixture("HM303", Info, Facts::without_linger, healthy),
    fixture("HM304", Error, old_agent, updated_agent),
    fixture("HM305", Warning, left_the_terminal, healthy),
    fixture("HM306", Warning, desktop, not_desktop),
    fixture("HM307", Warning, home_hidden, home_read_only),
    fixture("HM308", Warning, no_unix_sockets, unix_sockets),
    fixture("HM309", Warning, edited, reloaded),
    fixture("HM310", Error, broken_unit, healthy),
    fixture("HM311", Warning, masked, unmasked),
    fixture("HM311", Warning, masked_by_file, unmasked),
    fixture("HM312", Error, condition, healthy),
    fixture("HM313", Error, failed, healthy),
    fixture("HM314", Warning, flapping, steady),
    fixture("HM315", Warning, disabled, enabled),
    fixture("HM316", Info, other_home, same_home),
    fixture("HM317", Warning, program_missing, program_found),
    fixture("HM318", Error, installed_only, healthy),
    fixture("HM319", Info, root, bot),
    fixture("HM331", Error, healthy, healthy).said("Unknown assignment: OOMPolicy=kill"),
    fixture("HM332", Warning, healthy, healthy).said(NO_BUS),
    fixture("HM341", Info, laptop_service, healthy).strict(),
    fixture("HM481", Warning, leaking, not_leaking),
    fixture("HM481", Warning, near_the_limit, not_leaking),
];

const NO_BUS: &str = "Failed to connect to bus: No such file or directory";

fn healthy(facts: &mut Facts) {
    *facts = Facts::example();
}

fn kill_mode_process(facts: &mut Facts) {
    facts.edit_unit(|unit| unit.kill_mode = Some("process".to_owned()));
}

fn old_agent(facts: &mut Facts) {
    facts.hermes_agent("0.21.0");
    facts.without_linger();
}

fn updated_agent(facts: &mut Facts) {
    facts.hermes_agent("0.22.2");
}

fn left_the_terminal(facts: &mut Facts) {
    facts.dispatcher.unit = None;
    facts.units = Fact::Known(Vec::new());
    if let Some(process) = &mut facts.dispatcher.process {
        process.cgroup = Fact::Known("/user.slice/user-1001.slice/session-3.scope".to_owned());
    }
}

fn desktop(facts: &mut Facts) {
    left_the_terminal(facts);
    facts.dispatcher.desktop = true;
}

fn not_desktop(facts: &mut Facts) {
    facts.dispatcher.desktop = false;
}

fn home_hidden(facts: &mut Facts) {
    facts.edit_unit(|unit| unit.protect_home = Some("yes".to_owned()));
}

fn home_read_only(facts: &mut Facts) {
    facts.edit_unit(|unit| unit.protect_home = Some("read-only".to_owned()));
}

fn no_unix_sockets(facts: &mut Facts) {
    facts.edit_unit(|unit| unit.unix_sockets_forbidden = Some(true));
}

fn unix_sockets(facts: &mut Facts) {
    facts.edit_unit(|unit| unit.unix_sockets_forbidden = Some(false));
}

fn edited(facts: &mut Facts) {
    facts.edit_unit(|unit| unit.need_daemon_reload = Some(true));
}

fn reloaded(facts: &mut Facts) {
    facts.edit_unit(|unit| unit.need_daemon_reload = Some(false));
}

fn installed_only(facts: &mut Facts) {
    facts.dispatcher.viewpoint = Viewpoint::Unit;
    facts.dispatcher.process = None;
    facts.edit_unit(|unit| {
        unit.active_state = Some("inactive".to_owned());
        unit.main_pid = None;
    });
}

fn broken_unit(facts: &mut Facts) {
    installed_only(facts);
    facts.edit_unit(|unit| {
        unit.load_state = Some("bad-setting".to_owned());
        unit.load_error = Some("Unit hermes.service has a bad unit file setting.".to_owned());
    });
}

fn masked(facts: &mut Facts) {
    facts.edit_unit(|unit| unit.file_state = Some("masked".to_owned()));
}

/// As its file tells, where no manager has loaded it.
fn masked_by_file(facts: &mut Facts) {
    masked(facts);
    facts.edit_unit(|unit| unit.asked = false);
}

fn unmasked(facts: &mut Facts) {
    facts.edit_unit(|unit| unit.file_state = Some("enabled".to_owned()));
}

fn condition(facts: &mut Facts) {
    installed_only(facts);
    facts.edit_unit(|unit| unit.condition_result = Some(false));
}

fn failed(facts: &mut Facts) {
    installed_only(facts);
    facts.edit_unit(|unit| {
        unit.active_state = Some("failed".to_owned());
        unit.result = Some("start-limit-hit".to_owned());
    });
}

fn flapping(facts: &mut Facts) {
    let since = facts.machine.clock.wall - 30.0;
    facts.edit_unit(|unit| {
        unit.restarts = Some(7);
        unit.active_since = Some(since);
    });
}

fn steady(facts: &mut Facts) {
    facts.machine.clock.wall += 3600.0;
}

fn disabled(facts: &mut Facts) {
    facts.edit_unit(|unit| unit.file_state = Some("disabled".to_owned()));
}

fn enabled(facts: &mut Facts) {
    facts.edit_unit(|unit| unit.file_state = Some("enabled".to_owned()));
}

fn other_home(facts: &mut Facts) {
    facts.shell.home = Fact::Known("/srv/bot/other".into());
}

fn same_home(facts: &mut Facts) {
    facts.shell.home = facts.dispatcher.home.clone();
}

fn program_missing(facts: &mut Facts) {
    facts.set_variable("PATH", "/nix/store/abc/bin");
    facts.dispatcher.programs.push(ProgramLookup {
        name: "date".to_owned(),
        wanted_by: "4e1f".to_owned(),
        found: Fact::Known(None),
    });
}

fn program_found(facts: &mut Facts) {
    for program in &mut facts.dispatcher.programs {
        program.found = Fact::Known(Some("/usr/bin/date".into()));
    }
}

fn root(facts: &mut Facts) {
    facts.account.uid = 0;
}

fn bot(facts: &mut Facts) {
    facts.account.uid = 1001;
}

fn laptop_service(facts: &mut Facts) {
    left_the_terminal(facts);
}

fn leaking(facts: &mut Facts) {
    descriptors(
        facts,
        60,
        vec![("/srv/bot/.hermes/state.db".to_owned(), 12)],
    );
}

fn near_the_limit(facts: &mut Facts) {
    descriptors(facts, 900, Vec::new());
}

fn not_leaking(facts: &mut Facts) {
    descriptors(facts, 20, Vec::new());
}

fn descriptors(facts: &mut Facts, open: u64, repeated: Vec<(String, u64)>) {
    if let Some(process) = &mut facts.dispatcher.process {
        process.descriptors = Fact::Known(crate::host::facts::Descriptors {
            open,
            limit: Some(1024),
            repeated,
        });
    }
}

#[test]
fn b112_kill_mode_decides_whether_a_restart_kills() {
    let finding = |kill_mode: &str| {
        let mut facts = Facts::example();
        facts.without_linger();
        let kill_mode = kill_mode.to_owned();
        facts.edit_unit(|unit| unit.kill_mode = Some(kill_mode.clone()));
        found(facts, "HM301")
    };
    assert!(finding("mixed").unwrap().summary.contains("kills the jobs"));
    assert!(finding("control-group").is_some());
    assert_eq!(finding("process"), None);
}

#[test]
fn b02_old_hermes_agent_as_root_is_an_error_with_its_causes() {
    let mut facts = Facts::example();
    facts.hermes_agent("0.21.2");
    facts.without_linger();
    facts.account.uid = 0;
    facts.account.name = Some("root".to_owned());
    let found = findings(&evidence(facts));
    let codes: Vec<_> = found.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["HM221", "HM245", "HM304", "HM319"]);
    assert!(found[..3].iter().all(|finding| severity(finding) == Error));
    assert!(found[2].causes.contains(&"HM221") && found[2].causes.contains(&"HM245"));
}

#[test]
fn b03_the_drop_in_names_directory_and_bus_for_hermes_agent_only() {
    let mut facts = Facts::example();
    facts.hermes_agent("0.21.2");
    let finding = found(facts, "HM245").unwrap();
    let line = &finding.remedies[0].argv[2];
    assert!(
        line.contains("Environment=XDG_RUNTIME_DIR=/run/user/1001"),
        "{line}"
    );
    assert!(
        line.contains("DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1001/bus"),
        "{line}"
    );
    assert!(
        line.contains("/etc/systemd/system/hermes-gateway.service.d"),
        "{line}"
    );
    assert_eq!(found(Facts::example(), "HM245"), None);
}

#[test]
fn b34_an_installed_unit_is_the_way_back() {
    let mut facts = Facts::example();
    let mut unit = facts.dispatcher.unit.clone().unwrap();
    unit.main_pid = None;
    unit.active_state = Some("inactive".to_owned());
    left_the_terminal(&mut facts);
    facts.units = Fact::Known(vec![unit]);
    let finding = found(facts, "HM305").unwrap();
    let line = &finding.remedies[0].argv[2];
    assert!(line.starts_with("kill 812 && "), "{line}");
    assert!(line.ends_with("systemctl start hermes.service"), "{line}");
    let mut facts = Facts::example();
    left_the_terminal(&mut facts);
    let written = &found(facts, "HM305").unwrap().remedies[0];
    assert!(written.argv[2].contains("ExecStart=/usr/local/bin/hermes serve"));
}

#[test]
fn b34_a_terminal_that_still_watches_is_only_told() {
    let mut facts = Facts::example();
    left_the_terminal(&mut facts);
    if let Some(process) = &mut facts.dispatcher.process {
        process.ppid = Fact::Known(4150);
    }
    assert_eq!(severity(&found(facts, "HM305").unwrap()), Info);
}

#[test]
fn b31_b32_the_path_of_the_service_counts_and_is_shown() {
    let mut facts = Facts::example();
    program_missing(&mut facts);
    let finding = found(facts, "HM317").unwrap();
    assert_eq!(finding.summary, "not on the dispatcher's PATH: date");
    assert_eq!(finding.evidence[0].observed, "/nix/store/abc/bin");
    assert!(finding.remedies[0].argv[2].contains("/usr/local/bin:/usr/bin:/bin"));
}

#[test]
fn b39_both_early_signs_are_seen_with_file_and_count() {
    let mut facts = Facts::example();
    leaking(&mut facts);
    let finding = found(facts, "HM481").unwrap();
    assert!(
        finding
            .summary
            .contains("/srv/bot/.hermes/state.db open 12 times")
    );
    let mut facts = Facts::example();
    descriptors(&mut facts, 60, vec![("/dev/null".to_owned(), 30)]);
    assert_eq!(found(facts, "HM481"), None);
}

#[test]
fn drop_ins_are_shown_with_what_they_change() {
    let mut facts = Facts::example();
    edited(&mut facts);
    facts.edit_unit(|unit| {
        unit.drop_ins = vec!["/etc/systemd/system/hermes.service.d/x.conf".to_owned()];
    });
    let finding = found(facts, "HM309").unwrap();
    assert!(
        finding
            .evidence
            .iter()
            .any(|seen| seen.target == "DropInPaths")
    );
}

#[test]
fn a_unit_that_was_never_started_has_no_failed_condition() {
    let mut facts = Facts::example();
    installed_only(&mut facts);
    facts.edit_unit(|unit| unit.condition_result = None);
    assert_eq!(found(facts.clone(), "HM312"), None);
    assert!(found(facts, "HM318").is_some());
}

#[test]
fn an_installed_unit_that_its_manager_has_not_loaded_is_judged_by_its_file() {
    let mut facts = Facts::example();
    installed_only(&mut facts);
    facts.edit_unit(|unit| {
        *unit = UnitFacts {
            name: unit.name.clone(),
            manager: unit.manager,
            role: unit.role,
            program: unit.program,
            fragment: unit.fragment.clone(),
            active_state: Some("inactive".to_owned()),
            file_state: Some("disabled".to_owned()),
            ..UnitFacts::default()
        };
    });
    let codes = |facts: &Facts| -> Vec<_> {
        let found = findings(&evidence(facts.clone())).into_iter();
        found.map(|finding| finding.code).collect()
    };
    let told = codes(&facts);
    assert!(
        told.contains(&"HM318") && told.contains(&"HM315"),
        "{told:?}"
    );
    // Where no manager spoke, only the file is known.
    facts.edit_unit(|unit| unit.active_state = None);
    let told = codes(&facts);
    assert!(!told.contains(&"HM318"), "{told:?}");
}

#[test]
fn sandbox_of_the_unit_is_the_cause_and_not_the_bus() {
    let mut facts = Facts::example();
    home_hidden(&mut facts);
    let found = findings(&evidence(facts));
    let codes: Vec<_> = found.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["HM301", "HM303", "HM307"]);
    assert!(found[0].causes.contains(&"HM307"));
}

#[test]
fn b01_the_property_and_the_version_are_named_and_linger_is_not() {
    let mut evidence = evidence(Facts::example());
    let home = super::home_after("Unknown assignment: OOMPolicy=kill");
    evidence = evidence.with_homes(vec![home]);
    let found = findings(&evidence);
    let finding = found
        .iter()
        .find(|finding| finding.code == "HM331")
        .unwrap();
    assert!(finding.summary.contains("OOMPolicy") && finding.summary.contains("252.39"));
    assert_eq!(finding.causes, Vec::<&str>::new());
    assert!(found.iter().all(|finding| finding.code != "HM221"));
}

#[test]
fn b18_a_missing_systemd_run_is_the_cause_of_degraded_jobs() {
    let mut facts = Facts::example();
    facts.hermes_agent("0.22.2");
    facts.dispatcher.programs.push(ProgramLookup {
        name: "systemd-run".to_owned(),
        wanted_by: "hermes-gateway.service".to_owned(),
        found: Fact::Known(None),
    });
    let found = findings(&evidence(facts));
    let codes: Vec<_> = found.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["HM301", "HM303", "HM317"]);
    assert!(found[0].causes.contains(&"HM317"));
}

#[test]
fn nobody_misses_systemd_run_where_there_is_no_systemd() {
    let mut facts = Facts::example();
    facts.hermes_agent("0.22.2");
    facts.without_systemd(crate::host::facts::Container::Docker);
    facts.dispatcher.programs.push(ProgramLookup {
        name: "systemd-run".to_owned(),
        wanted_by: "hermes-agent".to_owned(),
        found: Fact::Known(None),
    });
    assert_eq!(found(facts, "HM317"), None);
}
