//! How the jobs of a home are looked at by `list`, `show`, `status` and a dry run of a pass: with what would
//! become of them when they are due.

use std::collections::HashSet;

use hermes::agent;
use hermes::config::Settings;
use hermes::cron::dispatcher::settings::machine;
use hermes::cron::due::{Policy, Witness};
use hermes::cron::edit_probe;
use hermes::cron::job::{Job, RawJob};
use hermes::cron::view::{self, Standing, View};
use hermes::cron::view_firing::Situation;
use hermes::cron::view_foreseen::NextPass;
use hermes::cron::witness_store::StoreWitness;
use hermes::dispatch::Mode;

use super::create::is_agents;
use super::desk::Desk;

/// How the jobs of a home are looked at: with what would become of them when they are due.
pub(crate) struct Eye {
    agents: bool,
    no_agent: Option<String>,
    /// Why no worker may be started at all.
    all_refused: Option<String>,
    policy: Policy,
    witness: Option<StoreWitness>,
}

impl Eye {
    /// For the jobs of a home that is scheduled so.
    pub(crate) fn of(desk: &Desk, situation: &Situation) -> Self {
        let agent = agent::Settings::of(&desk.config).and_then(|agent| agent.resolve());
        let dispatch = situation.dispatch.as_ref();
        let refused = dispatch.filter(|dispatch| dispatch.decision.mode == Mode::Refused);
        let settings = Settings::of(&desk.config).cron;
        let machine = machine(settings.machine_id.as_deref(), std::process::id());
        Self {
            agents: is_agents(&situation.scheduler),
            no_agent: agent.err().map(|error| error.to_string()),
            all_refused: refused.map(|dispatch| format!("refused: {}", dispatch.why())),
            policy: Policy::of(&settings),
            // What runs are known only saves jobs from being called overdue that are not.
            witness: StoreWitness::read(&desk.home, &machine, desk.now).ok(),
        }
    }

    /// Why a job would be refused if it were due.
    pub(crate) fn refusal(&self, desk: &Desk, job: &RawJob) -> Option<String> {
        match edit_probe::hindrance(job, &desk.home) {
            Some((Standing::Refused, error)) => return Some(error.to_string()),
            _ if self.all_refused.is_some() => return self.all_refused.clone(),
            _ => {}
        }
        let asks = !Job::read(job).no_agent.is_true();
        self.no_agent.clone().filter(|_| asks)
    }

    /// Whether no worker may be started at all.
    pub(crate) fn refuses_all(&self) -> bool {
        self.all_refused.is_some()
    }

    /// Looks at the jobs of the store, as the next pass would find them.
    pub(crate) fn see(&self, desk: &Desk, jobs: &[RawJob]) -> Vec<View> {
        let (now, zones) = (desk.now, &desk.zone.zones);
        let witness = self.witness.as_ref().map(|known| known as &dyn Witness);
        let pass = NextPass::over(jobs, (now, zones), self.policy, witness);
        let mut ids = HashSet::new();
        let see = |(index, job)| {
            let view = pass.see(index, view::view(&Job::read(job), now, zones));
            let view = self.expect(desk, job, view);
            if view.id.is_empty() || ids.insert(view.id.clone()) {
                view
            } else {
                view.behind_another()
            }
        };
        jobs.iter().enumerate().map(see).collect()
    }

    /// A job with what would come of it when it is due.
    fn expect(&self, desk: &Desk, job: &RawJob, view: View) -> View {
        if self.agents {
            return view.run_by_agent();
        }
        if !matches!(view.state, Standing::Active | Standing::Overdue) {
            return view;
        }
        let hindrance = edit_probe::hindrance(job, &desk.home);
        match (hindrance, &self.all_refused, &self.no_agent) {
            (Some((Standing::Refused, error)), ..) => {
                view.in_vain(Standing::Refused, &error.in_full())
            }
            (_, Some(why), _) => view.in_vain(Standing::Refused, why),
            (Some((state, error)), ..) => view.in_vain(state, &error.in_full()),
            (None, None, Some(why)) => view.without_agent(why),
            (None, None, None) => view,
        }
    }
}
