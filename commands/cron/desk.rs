//! One home on the desk: what every verb of `cron` needs to know of it before it begins.

use std::cell::OnceCell;
use std::path::Path;

use hermes::config::Config;
use hermes::cron::job::RawJob;
use hermes::cron::jobs_file::JobsFile;
use hermes::cron::jobs_text::ShapeNote;
use hermes::cron::view_firing::Situation;
use hermes::cron::view_probe;
use hermes::cron::zone::{Zone, ZoneVariables};
use hermes::cron::zone_probe;
use hermes::db::{self, Damage, Snapshot};
use hermes::error::{Error, Kind, Result};
use hermes::home::Home;
use hermes::host::Caller;
use hermes::host::scheduler_owner::Scheduler;
use hermes::ledger::{ExecutionFacts, rows};
use hermes::output::human;
use hermes::runtime::Runtime;
use jiff::Timestamp;

/// One home, with its configuration and its zone.
pub(crate) struct Desk {
    pub(crate) home: Home,
    pub(crate) config: Config,
    pub(crate) zone: Zone,
    pub(crate) now: Timestamp,
    /// Why it cannot be told in which zone schedules are read.
    zone_unknown: Option<String>,
    /// What this process was told of the zone.
    told: ZoneVariables,
    situation: OnceCell<Situation>,
    /// What is odd about the job store, once it was read.
    odd: OnceCell<Option<String>>,
}

impl Desk {
    /// The one home that a writing verb is about.
    pub(crate) fn one(runtime: &mut Runtime) -> Result<Self> {
        let home = runtime.one_home()?;
        Ok(Self::of(runtime, home))
    }

    /// The homes that a reading verb is about.
    pub(crate) fn all(runtime: &mut Runtime) -> Result<Vec<Self>> {
        let homes = runtime.homes()?;
        if let [home] = homes.as_slice()
            && let Some(missing) = home.missing()
        {
            runtime.out.warn(&human::printable(&missing));
        }
        Ok(homes
            .into_iter()
            .map(|home| Self::of(runtime, home))
            .collect())
    }

    /// One home, whoever runs it.
    pub(crate) fn of(runtime: &mut Runtime, home: Home) -> Self {
        let environ = &runtime.environ;
        let variable = |name: &str| environ.text(name).map(str::to_owned);
        let config = Config::load(&home, &variable, &[]);
        let told = ZoneVariables::of(variable);
        let zone = Zone::of(&config).asked_by(told.tz.as_deref());
        warn_of_settings(runtime, &config, &zone);
        Self {
            home,
            config,
            zone,
            now: microsecond(runtime.clock.wall()),
            zone_unknown: None,
            told,
            situation: OnceCell::new(),
            odd: OnceCell::new(),
        }
    }

    /// The warnings of a document: those of configuration and zone, which were told on stderr already,
    /// and these.
    pub(crate) fn warnings(&self, said: &[String]) -> Vec<String> {
        let settings = self.config.warnings().into_iter();
        let all = settings.chain(self.zone.warnings());
        let odd = self.odd.get().cloned().flatten();
        let all = all.chain(self.zone_warning());
        all.chain(odd).chain(said.iter().cloned()).collect()
    }

    /// The job store.
    pub(crate) fn file(&self) -> JobsFile {
        JobsFile::new(&self.home, self.zone.zones.configured.clone())
    }

    /// The jobs as they are.
    pub(crate) fn jobs(&self) -> Result<Vec<RawJob>> {
        let file = self.file();
        let store = file.read()?.jobs;
        self.odd.get_or_init(|| odd(&file.path(), &store.notes));
        Ok(store.jobs)
    }

    /// Tells, on stderr, what is odd about the job store, which was read before.
    pub(crate) fn warn_of_store(&self, runtime: &mut Runtime) {
        if let Some(odd) = self.odd.get().and_then(Option::as_ref) {
            runtime.out.warn(&human::printable(odd));
        }
    }

    /// A copy of the ledger, which is left as it is; none where there is none yet.
    pub(crate) fn ledger(&self) -> Result<Option<Snapshot>> {
        match db::snapshot(&self.home.ledger(), &db::wait) {
            Ok(copy) => Ok(Some(copy)),
            Err(Damage::Missing | Damage::Empty) => Ok(None),
            Err(damage) => Err(self.unreadable(damage)),
        }
    }

    /// Reads the ledger with one of the readers of `rows`; the default where there is nothing to read.
    pub(crate) fn read<T: Default>(
        &self,
        copy: Option<&Snapshot>,
        read: impl FnOnce(&Snapshot) -> std::result::Result<Option<T>, Damage>,
    ) -> Result<T> {
        match copy.map(read) {
            Some(Ok(found)) => Ok(found.unwrap_or_default()),
            Some(Err(damage)) => Err(self.unreadable(damage)),
            None => Ok(T::default()),
        }
    }

    /// What was recorded of a run beside its row.
    pub(crate) fn facts(&self, id: &str) -> Result<Option<ExecutionFacts>> {
        let copy = self.ledger()?;
        self.read(copy.as_ref(), |copy| {
            copy.read(|c| rows::facts_of(c, id).map(Some))
        })
    }

    fn unreadable(&self, damage: Damage) -> Error {
        let path = self.home.ledger();
        Error::new(
            Kind::Io,
            format!("the ledger {} cannot be read", path.display()),
        )
        .with_source(damage)
        .with_hint("hermes cron doctor --only stores says what is wrong with it")
    }

    /// Who schedules this home, and whether anything will fire: looked at once.
    pub(crate) fn situation(&self, runtime: &Runtime) -> &Situation {
        let look = || view_probe::look(&Caller::of(runtime), &self.home, &self.config, self.now);
        self.situation.get_or_init(look)
    }

    /// The zone in which the serve that ticks this home reads schedules, or why it cannot be told; none where
    /// no serve ticks it.
    fn zone_of_serve(&self, runtime: &Runtime) -> Option<std::result::Result<Zone, String>> {
        let situation = self.situation(runtime);
        let is_serves = matches!(situation.scheduler, Scheduler::Serve { .. });
        if !is_serves || !situation.serve_ticks {
            return None;
        }
        let told = situation.serve_zone.as_ref();
        if told == Some(&self.told) {
            return Some(Ok(self.zone.clone()));
        }
        let pid = situation.scheduler.pid();
        Some(zone_probe::of_serve(&self.home, pid, told))
    }

    /// The same desk where jobs are looked at: by the zone of the serve that plans them. Where that cannot be
    /// told times are by the zone of this command.
    pub(crate) fn beside_serve(mut self, runtime: &Runtime) -> Self {
        match self.zone_of_serve(runtime) {
            Some(Ok(zone)) => self.zone = zone,
            Some(Err(why)) => self.zone_unknown = Some(why),
            None => {}
        }
        self
    }

    /// In which zone schedules are read and who said so, or that it cannot be told.
    pub(crate) fn zone_words(&self) -> String {
        let words = self.zone.words();
        self.zone_unknown.as_ref().map_or(words.clone(), |why| {
            format!("cannot be told: {why}; times are shown in {words}")
        })
    }

    /// The same for tools: no name where it cannot be told.
    pub(crate) fn zone_named(&self) -> (Option<&str>, String) {
        match &self.zone_unknown {
            Some(why) => (None, format!("cannot be told: {why}")),
            None => (Some(&self.zone.name), self.zone.origin.clone()),
        }
    }

    /// The warning that the zone of the schedules cannot be told.
    fn zone_warning(&self) -> Option<String> {
        let why = self.zone_unknown.as_ref()?;
        Some(format!(
            "It cannot be told in which zone serve reads schedules: {why}. Times are shown in {}.",
            self.zone.words()
        ))
    }

    /// What is to be known where the serve that runs reads schedules by another clock than this command.
    pub(crate) fn other_zone(&self, runtime: &Runtime) -> Option<String> {
        let theirs = match self.zone_of_serve(runtime)? {
            Ok(theirs) => theirs,
            Err(why) => {
                return Some(format!(
                    "It cannot be told in which zone serve reads schedules: {why}. Serve plans the job by its own."
                ));
            }
        };
        let is_same = theirs.is_like(&self.zone, self.now);
        (!is_same).then(|| {
            let (theirs, ours) = (theirs.words(), self.zone.words());
            format!(
                "The serve of this home reads schedules in {theirs}, and this command in {ours}: serve plans the job by its own."
            )
        })
    }

    /// The zone that a pass by hand goes by. Where a serve ticks it is that of the serve: two that plan by two
    /// clocks would each plan anew what the other has planned, and a slot would be lost in between.
    pub(crate) fn zone_of_pass(&self, runtime: &Runtime) -> Result<Zone> {
        // A serve that lives holds a lock there; to look for it takes longer than a pass with nothing to do.
        if !self.home.run_dir().join("serve.lock").exists() {
            return Ok(self.zone.clone());
        }
        match self.zone_of_serve(runtime) {
            None => Ok(self.zone.clone()),
            Some(zone) => zone.map_err(|why| unknown_zone(&why)),
        }
    }

    /// An instant for people: the wall clock of the home's zone.
    pub(crate) fn wall(&self, at: Timestamp) -> String {
        human::wall(at, &self.zone.zones.configured)
    }

    /// The same, and how far off that is.
    pub(crate) fn when(&self, at: Timestamp) -> String {
        human::when(at, self.now, &self.zone.zones.configured)
    }

    /// A stored instant for people; text that is none stays as it is.
    pub(crate) fn stored(&self, text: &str) -> String {
        match self.zone.zones.instant(text) {
            Some(at) => self.when(at),
            None => human::printable(text),
        }
    }

    /// How long ago a stored instant was.
    pub(crate) fn ago(&self, text: &str) -> String {
        match self.zone.zones.instant(text) {
            Some(at) => human::relative(at, self.now),
            None => human::printable(text),
        }
    }
}

/// What a writer puts right in the shape of a store; it keeps what was there.
fn odd(path: &Path, notes: &[ShapeNote]) -> Option<String> {
    let mended = notes.iter().filter(|note| note.is_put_right());
    let words: Vec<_> = mended.map(ShapeNote::words).collect();
    (!words.is_empty()).then(|| {
        format!(
            "The job store {} is read, though {}. The next change puts that right, and keeps the file as it was in cron/backups.",
            path.display(),
            words.join("; ")
        )
    })
}

/// An instant as exact as the stores have it.
fn microsecond(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}

/// Tells, on stderr, what of the configuration does not count, and what is assumed instead.
pub(crate) fn warn_of_settings(runtime: &mut Runtime, config: &Config, zone: &Zone) {
    for warning in config.warnings().into_iter().chain(zone.warnings()) {
        runtime.out.warn(&human::printable(&warning));
    }
}

/// Tells, on stderr, that nothing will fire, and what to do about it.
pub(crate) fn warn_of(runtime: &mut Runtime, situation: &Situation, now: Timestamp) {
    let firing = situation.firing(now);
    let reasons = firing.reasons();
    match firing.known() {
        Some(true) => {}
        Some(false) => {
            let reasons = human::printable(&reasons.join("; "));
            runtime.out.warn(&format!("Nothing will fire: {reasons}."));
            runtime.out.note(&format!("  {}", way_out(situation)));
        }
        None => {
            let reasons = human::printable(&reasons.join("; "));
            runtime.out.warn(&format!(
                "It cannot be told whether anything will fire: {reasons}."
            ));
        }
    }
}

/// What starts the firing, in one sentence.
pub(crate) fn way_out(situation: &Situation) -> &'static str {
    if situation.stop.is_some() {
        return "Lift the stop: hermes resume";
    }
    if situation.scheduler.runs() == Some(false) {
        return "Start a scheduler, and keep it running: hermes serve";
    }
    if situation.stopping.is_some() {
        return "Start the next one, which takes over when it has ended: hermes serve --passive";
    }
    "See what is wrong: hermes cron doctor"
}

/// Whether this user may run jobs of a home: they are its owner's, and anybody else's rights, root's above
/// all, are not theirs. `words` is the command that its owner gives.
pub(crate) fn is_ours_to_run(runtime: &Runtime, home: &Home, words: &str) -> Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let owner = std::fs::metadata(home.path()).map(|home| home.uid());
    let own = runtime.account.uid;
    match owner {
        Ok(owner) if owner != own => Err(Error::new(
            Kind::Refused,
            format!("this home belongs to uid {owner}, and you are uid {own}"),
        )
        .with_hint(format!(
            "run it as its owner: sudo -u '#{owner}' hermes --home {} {words}",
            home.path().display()
        ))),
        _ => Ok(()),
    }
}

fn unknown_zone(why: &str) -> Error {
    Error::new(
        Kind::Refused,
        format!("it cannot be told in which zone the serve of this home reads schedules: {why}"),
    )
    .with_hint("leave the pass to it, or set 'timezone' in the configuration")
}
