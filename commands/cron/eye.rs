//! How the jobs of a home are looked at by `list`, `show`, `status` and a dry run of a pass: with what would
//! become of them when they are due.

use hermes::agent;
use hermes::config::Settings;
use hermes::cron::dispatcher::settings::machine;
use hermes::cron::due::{Policy, Witness};
use hermes::cron::edit_probe;
use hermes::cron::job::{Job, RawJob};
use hermes::cron::job_id;
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
    machine: String,
}

impl Eye {
    /// For the jobs of a home that is scheduled so.
    pub(crate) fn of(desk: &Desk, situation: &Situation) -> Self {
        let agent = agent::Settings::of(&desk.config).and_then(|agent| agent.resolve());
        let dispatch = situation.dispatch.as_ref();
        let refused = dispatch.filter(|dispatch| dispatch.decision.mode == Mode::Refused);
        let settings = Settings::of(&desk.config).cron;
        Self {
            agents: is_agents(&situation.scheduler),
            no_agent: agent.err().map(|error| error.to_string()),
            all_refused: refused.map(|dispatch| format!("refused: {}", dispatch.why())),
            policy: Policy::of(&settings),
            machine: machine(settings.machine_id.as_deref(), std::process::id()),
        }
    }

    /// Why a job would be refused if it were due.
    pub(crate) fn refusal(&self, desk: &Desk, job: &RawJob) -> Option<String> {
        let stands = self.hindered(desk, job);
        stands.and_then(|(state, why)| (state == Standing::Refused).then_some(why))
    }

    /// What keeps a job from its work when it is due.
    fn hindered(&self, desk: &Desk, job: &RawJob) -> Option<(Standing, String)> {
        let asks = !Job::read(job).no_agent.is_true();
        view::hindered(
            edit_probe::hindrance(job, &desk.home),
            self.all_refused.as_deref(),
            self.no_agent.as_deref().filter(|_| asks),
        )
    }

    /// Whether no worker may be started at all.
    pub(crate) fn refuses_all(&self) -> bool {
        self.all_refused.is_some()
    }

    /// Looks at the jobs of the store, as the next pass would find them.
    pub(crate) fn see(&self, desk: &Desk, jobs: &[RawJob]) -> Vec<View> {
        let (now, zones) = (desk.now, &desk.zone.zones);
        let pass = (!self.agents).then(|| {
            // What runs are known only saves jobs from being called overdue that are not.
            let known = StoreWitness::read(&desk.home, &self.machine, now).ok();
            let known = known.as_ref().map(|known| known as &dyn Witness);
            NextPass::over(jobs, (now, zones), self.policy, known)
        });
        let behind = job_id::behind(jobs);
        let see = |(index, job): (usize, &RawJob)| {
            let view = view::view(&Job::read(job), now, zones);
            let view = match &pass {
                // What our next pass would do is nothing to a home that the other program schedules.
                None => view.run_by_agent(),
                Some(pass) => self.when_due(desk, job, pass.see(index, view)),
            };
            if behind.contains(&index) {
                view.behind_another()
            } else {
                view
            }
        };
        jobs.iter().enumerate().map(see).collect()
    }

    /// A job with what would come of it when it is due.
    fn when_due(&self, desk: &Desk, job: &RawJob, view: View) -> View {
        if !matches!(view.state, Standing::Active | Standing::Overdue) {
            return view;
        }
        match self.hindered(desk, job) {
            Some((state, why)) => view.in_vain(state, &why),
            None => view,
        }
    }
}
