//! Whether a user manager can place a process, as far as the system bus tells. Pure.
//!
//! A user manager may not move a process out of another part of the cgroup tree itself; it asks PID 1
//! over the system bus. So a bus that is absent or hung, or a PID 1 that is, stops every scope.

use crate::bus::{Door, DoorReport, Failure, FailureKind, Placement, Stage, SystemBusReport};

/// What at the system bus keeps every user manager from asking PID 1.
#[must_use]
pub fn hindrance(system: &SystemBusReport) -> Option<Placement> {
    let bus = system
        .doors
        .iter()
        .find(|door| door.door == Door::SystemBus)?;
    let (stage, failure) = bus.refusal()?;
    let text = format!(
        "{}: {}",
        bus.path,
        failure.text.as_deref().unwrap_or("refused")
    );
    let of = |kind| Failure {
        kind,
        errno: failure.errno,
        text: Some(text),
    };
    Some(match (stage, failure.kind) {
        (Stage::ManagerAnswers, FailureKind::Mute) => Placement::Unable(of(FailureKind::InitMute)),
        (Stage::Socket | Stage::Connect, FailureKind::Absent | FailureKind::Refused)
        | (_, FailureKind::Mute | FailureKind::BacklogFull) => {
            Placement::Unable(of(FailureKind::NoSystemBus))
        }
        // What keeps us out need not keep the user manager out.
        _ => Placement::Unknown(failure.clone()),
    })
}

/// Whether that way hangs. A user manager that lost it refuses a scope at once; where it hangs, a manager that is
/// asked for a scope hangs with it.
#[must_use]
pub fn hangs(system: &SystemBusReport) -> bool {
    let mut doors = system.doors.iter();
    let bus = doors.find(|door| door.door == Door::SystemBus);
    let refusal = bus.and_then(DoorReport::refusal);
    refusal.is_some_and(|(_, failure)| {
        matches!(failure.kind, FailureKind::Mute | FailureKind::BacklogFull)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::{LogindReport, StageReport};

    fn system(refused: Option<(Stage, FailureKind)>) -> SystemBusReport {
        let stages = refused.map(|(stage, kind)| StageReport {
            stage,
            failure: Some(Failure::of(kind)),
            ms: 0,
        });
        SystemBusReport {
            doors: vec![DoorReport {
                door: Door::SystemBus,
                path: "/run/dbus/system_bus_socket".to_owned(),
                stages: stages.into_iter().collect(),
                manager: None,
            }],
            logind: LogindReport::default(),
            user_manager: None,
            user_manager_failure: None,
        }
    }

    #[test]
    fn what_hinders_a_user_manager() {
        let unable = |stage, kind| match hindrance(&system(Some((stage, kind)))) {
            Some(Placement::Unable(failure)) => Some(failure.kind),
            _ => None,
        };
        let no_bus = Some(FailureKind::NoSystemBus);
        assert_eq!(hindrance(&system(None)), None);
        assert_eq!(unable(Stage::Socket, FailureKind::Absent), no_bus);
        assert_eq!(unable(Stage::Connect, FailureKind::Refused), no_bus);
        assert_eq!(unable(Stage::Connect, FailureKind::BacklogFull), no_bus);
        assert_eq!(unable(Stage::Authenticate, FailureKind::Mute), no_bus);
        let init = unable(Stage::ManagerAnswers, FailureKind::Mute);
        assert_eq!(init, Some(FailureKind::InitMute));
    }

    #[test]
    fn a_way_that_is_barred_hangs_or_does_not() {
        let told = |stage, kind| hangs(&system(Some((stage, kind))));
        assert!(told(Stage::Authenticate, FailureKind::Mute));
        assert!(told(Stage::Connect, FailureKind::BacklogFull));
        assert!(told(Stage::ManagerAnswers, FailureKind::Mute));
        assert!(!told(Stage::Socket, FailureKind::Absent));
        assert!(!told(Stage::Connect, FailureKind::Refused));
        assert!(!hangs(&system(None)));
    }

    #[test]
    fn what_keeps_only_us_out_is_no_proof() {
        for kind in [
            FailureKind::PermissionDenied,
            FailureKind::AddressFamilyForbidden,
        ] {
            let found = hindrance(&system(Some((Stage::Connect, kind))));
            assert!(matches!(found, Some(Placement::Unknown(_))), "{kind:?}");
        }
    }
}
