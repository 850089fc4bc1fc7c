//! What an operator asked for of the isolation of jobs, read in one place: by the process that runs them, and by
//! whoever looks on.

use super::mode::Policy;
use crate::config::{Config, ProblemKind, settings};

/// The setting.
const SETTING: &str = "cron.require_restart_safe_scope";

impl Policy {
    /// As the process that runs jobs takes its own configuration: what it cannot read counts as on.
    #[must_use]
    pub fn of(cron: &settings::Cron) -> Self {
        Self {
            require_restart_safe_scope: cron.require_restart_safe_scope,
            is_unread: cron.scope_unread.is_some(),
        }
    }

    /// As that process takes this configuration, as far as whoever looks can tell: what this process may not read,
    /// the dispatcher may.
    #[must_use]
    pub fn seen(config: &Config) -> Self {
        let unread = config.unknown(SETTING);
        Self {
            require_restart_safe_scope: config.flag(SETTING),
            is_unread: unread.is_some_and(|why| why.kind != ProblemKind::Denied),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layer, Problem, Settings};

    fn with(kind: ProblemKind) -> Config {
        let problem = Problem {
            kind,
            file: Some("/srv/home/config.yaml".into()),
            at: None,
            key: None,
            message: "no".to_owned(),
            hint: None,
        };
        Config::of_layers(Vec::new(), vec![Layer::wrong(problem)])
    }

    #[test]
    fn only_whoever_runs_jobs_takes_what_it_may_not_read_for_on() {
        let of = |config: &Config| Policy::of(&Settings::of(config).cron);
        let denied = with(ProblemKind::Denied);
        assert!(of(&denied).is_strict() && !Policy::seen(&denied).is_strict());
        assert!(denied.warnings()[0].contains("nor whether cron.require_restart_safe_scope is on"));
        // What nobody can read is on for all.
        let broken = with(ProblemKind::Unreadable);
        assert!(of(&broken).is_strict() && Policy::seen(&broken).is_strict());
        let none = Config::of_layers(Vec::new(), Vec::new());
        assert!(!of(&none).is_strict() && !Policy::seen(&none).is_strict());
    }
}
