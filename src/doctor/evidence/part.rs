//! The parts of the evidence by name, as a check declares what it reads of it. What is judged (the
//! account, the home, the instant) is no part: that is the question, and the parts are the answers.

/// One part of the evidence: what one source told, and what is lost where that source is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// PID 1, containers, namespaces, this boot, the kernel.
    Machine,
    /// The clocks of the host.
    Clock,
    /// Memory and swap.
    Memory,
    /// cgroup hierarchies, and the controllers that scopes of the account can use.
    Cgroup,
    /// The system bus and PID 1 on it.
    SystemBus,
    /// What logind says of the account.
    Logind,
    /// The unit of the account's user manager.
    UserManager,
    /// The marker file of linger.
    Linger,
    /// The runtime directory.
    RuntimeDir,
    /// The doors to the user manager of the account.
    SessionBus,
    /// This process: the shell's point of view.
    Shell,
    /// The process that dispatches, or would.
    Dispatcher,
    /// Its environment.
    Environment,
    /// Programs, looked up as it would.
    Programs,
    /// Service units that run, or would run, a dispatcher.
    Units,
    /// Other processes that serve a home.
    Processes,
    /// What processes recorded of themselves in the homes and beside them.
    Records,
    /// The decision how jobs and long-lived workers are launched, and what it had to assume.
    Decision,
    /// The configuration of the homes, and what it came to.
    Config,
    /// The zone that schedules and stamps are read in.
    Zone,
    /// The agent that prompts are given to.
    Agent,
    /// Owners and modes of the files, and who reads them.
    Files,
    /// The file system under the home.
    Disk,
    /// Who holds the locks of the home and of its databases.
    Locks,
    /// `cron/jobs.json`.
    Jobs,
    /// Copies of it that lie beside it.
    Backups,
    /// Scripts, working directories and programs that armed jobs name.
    Needs,
    /// The emergency stop.
    Stop,
    /// Heartbeat, last success and last error of the ticker.
    Ticker,
    /// `cron/executions.db`.
    Ledger,
    /// Processes that rows and claims name.
    Owners,
    /// What workers left behind in `cron/external-workers`.
    Workers,
    /// `cron/output`.
    Output,
    /// `state.db`: sessions, timers, gateways, leases.
    State,
    /// `runtime/active_sessions.json`.
    Registry,
    /// `kanban.db`.
    Kanban,
    /// What SQLite's own check says of the databases.
    Soundness,
    /// Helper processes that backends started.
    Helpers,
}

impl Part {
    /// All of them: of the host first, then of its homes.
    pub const ALL: [Self; 38] = [
        Self::Machine,
        Self::Clock,
        Self::Memory,
        Self::Cgroup,
        Self::SystemBus,
        Self::Logind,
        Self::UserManager,
        Self::Linger,
        Self::RuntimeDir,
        Self::SessionBus,
        Self::Shell,
        Self::Dispatcher,
        Self::Environment,
        Self::Programs,
        Self::Units,
        Self::Processes,
        Self::Records,
        Self::Decision,
        Self::Config,
        Self::Zone,
        Self::Agent,
        Self::Files,
        Self::Disk,
        Self::Locks,
        Self::Jobs,
        Self::Backups,
        Self::Needs,
        Self::Stop,
        Self::Ticker,
        Self::Ledger,
        Self::Owners,
        Self::Workers,
        Self::Output,
        Self::State,
        Self::Registry,
        Self::Kanban,
        Self::Soundness,
        Self::Helpers,
    ];

    /// Its stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Clock => "clock",
            Self::Memory => "memory",
            Self::Cgroup => "cgroup",
            Self::SystemBus => "system-bus",
            Self::Logind => "logind",
            Self::UserManager => "user-manager",
            Self::Linger => "linger",
            Self::RuntimeDir => "runtime-dir",
            Self::SessionBus => "session-bus",
            Self::Shell => "shell",
            Self::Dispatcher => "dispatcher",
            Self::Environment => "environment",
            Self::Programs => "programs",
            Self::Units => "units",
            Self::Processes => "processes",
            Self::Records => "records",
            Self::Decision => "decision",
            Self::Config => "config",
            Self::Zone => "zone",
            Self::Agent => "agent",
            Self::Files => "files",
            Self::Disk => "disk",
            Self::Locks => "locks",
            Self::Jobs => "jobs",
            Self::Backups => "backups",
            Self::Needs => "needs",
            Self::Stop => "stop",
            Self::Ticker => "ticker",
            Self::Ledger => "ledger",
            Self::Owners => "owners",
            Self::Workers => "workers",
            Self::Output => "output",
            Self::State => "state",
            Self::Registry => "registry",
            Self::Kanban => "kanban",
            Self::Soundness => "soundness",
            Self::Helpers => "helpers",
        }
    }

    /// Whether it lies in homes, and so cannot be had where a home does not answer.
    #[must_use]
    pub fn is_of_home(self) -> bool {
        self >= Self::Config
    }
}
