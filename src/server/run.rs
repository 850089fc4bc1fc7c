//! The life of a serve: it takes the home, binds, publishes where it is, turns, and cleans up.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::admission::Admission;
use super::cron_driver::Cron;
use super::door::{self, Door};
use super::driver::{Driver as HubDriver, Input, Parts};
use super::drivers::{self, Driver, Turns};
use super::front::{EVENTS, Front};
use super::hub::Hub;
use super::instance::{self, Held, Instance, Reach};
use super::keeper::{Desk, Keeper, Watch};
use super::lease_file::Leases;
use super::neighbours::Neighbours;
use super::notes::Notes;
use super::settings::{self, Read};
use super::signals::Signals;
use super::socket::Ping;
use super::steps::Steps;
use super::{cron_driver, notify, router, stand_by, start, unix};
use crate::error::{Context as _, Error, Kind, Result};
use crate::home::Home;
use crate::runtime::Runtime;

/// What other drivers get at the end, beyond what a stop leaves to jobs.
const OTHERS: Duration = Duration::from_secs(60);
/// How long one that stood by waits for its port: the kernel may give the home of a process that was
/// killed free before its port.
const HANDOVER: Duration = Duration::from_secs(5);
/// How often it tries.
const RETRY: Duration = Duration::from_millis(20);
/// Shortest token with which serve listens to other hosts.
const TOKEN: usize = 32;

/// What was asked on the command line.
#[derive(Debug, Default)]
pub struct Options {
    /// Settings that flags set, over all others.
    pub flags: Vec<(&'static str, String)>,
    /// Clients of other hosts are let in, with the token.
    pub auth: bool,
}

/// How a serve ended.
#[derive(Debug)]
pub enum Ended {
    /// It was asked to.
    Stopped,
    /// It never began: somebody else has the home.
    Held(Error),
}

/// Sixty-four random hexadecimal digits.
pub(crate) fn random() -> String {
    let half = || uuid::Uuid::new_v4().simple().to_string();
    format!("{}{}", half(), half())
}

/// Serves a home until it is asked to stop.
///
/// # Errors
/// When it cannot begin.
pub fn serve(runtime: &mut Runtime, options: Options) -> Result<Ended> {
    let home = runtime.one_home()?;
    let read = settings::read(&home, &runtime.environ, &options.flags);
    log();
    let reactor = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::io("failed to start the event loop", error))?;
    reactor.block_on(async {
        let mut signals = Signals::listen()?;
        let now = runtime.clock.now();
        let mut start = Start {
            home,
            read,
            options,
            patience: Duration::ZERO,
        };
        let instance = match Instance::take(&start.home)? {
            Some(instance) => instance,
            None if start.read.serve.passive => {
                let Some(instance) = stand_by::wait(&start.home, &mut signals, now).await? else {
                    return Ok(Ended::Stopped);
                };
                start.patience = HANDOVER;
                // What was written in the meantime counts.
                start.read = settings::read(&start.home, &runtime.environ, &start.options.flags);
                instance
            }
            None => {
                return Ok(Ended::Held(
                    Held::look(&start.home, now).refusal(&start.home),
                ));
            }
        };
        let ran = start.run(runtime, instance, signals).await;
        notify::flush();
        ran.map(|()| Ended::Stopped)
    })
}

/// Lines of the log go to stderr; the journal puts the time before them itself.
fn log() {
    let filter = tracing_subscriber::filter::LevelFilter::INFO;
    let lines = tracing_subscriber::fmt()
        .with_max_level(filter)
        .with_target(false)
        .with_writer(io::stderr);
    let _already_set = if io::stderr().is_terminal() {
        tracing::subscriber::set_global_default(lines.finish())
    } else {
        tracing::subscriber::set_global_default(lines.without_time().finish())
    };
}

/// Listens there; where somebody else still does, it is tried again for so long.
async fn listener(place: (&str, u16), patience: Duration) -> io::Result<TcpListener> {
    let until = Instant::now() + patience;
    let mut said = false;
    loop {
        match TcpListener::bind(place).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && Instant::now() < until => {
                if !said {
                    tracing::info!("Port {} is not free yet, and is tried again.", place.1);
                    said = true;
                }
                tokio::time::sleep(RETRY).await;
            }
            other => return other,
        }
    }
}

struct Start {
    home: Home,
    read: Read,
    options: Options,
    /// How long a taken port is tried again.
    patience: Duration,
}

/// What is open once serve can be reached.
struct Open {
    listener: TcpListener,
    socket: tokio::net::UnixListener,
    front: Arc<Front>,
    keeper: Keeper,
    reach: Reach,
}

impl Start {
    async fn run(
        self,
        runtime: &mut Runtime,
        mut instance: Instance,
        signals: Signals,
    ) -> Result<()> {
        let (time, control) = start::time(runtime)?;
        runtime.clock = time.clock();
        let (cron, desk) = cron_driver::cron(runtime, &self.options.flags)?.unzip();
        let machine = instance::machine(time.now());
        let identity = instance::Identity::own(&machine, time.now());
        let (sender, inputs) = mpsc::channel(EVENTS);
        let turns = Turns::default();
        let leases = Leases::new(self.home.clone(), machine.clone(), &identity, time.clock());
        let books = Desk::new(self.home.state_db(), Some(leases));
        let watch = Watch {
            turns: turns.clone(),
            clock: time.clock(),
        };
        let open = self
            .open(&mut instance, &identity, (books, watch), &sender)
            .await?;
        let said = start::identity(&self.home, runtime, &identity);
        let neighbours = Neighbours::of(&self.home, runtime, &machine);
        let notes = Notes::new(neighbours, &self.read, time.now().monotonic);
        let (stop, stopped) = watch::channel(false);
        let drain = cron.as_ref().map(Cron::bound).unwrap_or_default();
        let cron = cron.map(|cron| {
            let driver: Box<dyn Driver> = Box::new(cron.stopped_by(&stopped, instance.farewell()));
            tokio::spawn(drivers::run(driver, time.clone(), turns.clone(), stopped))
        });
        let steps = Steps::listen(control.is_some());
        if let Some(control) = control {
            tokio::spawn(control.obey(sender.clone(), desk.clone()));
        }
        let parts = Parts {
            hub: Hub::new(self.read.hub.clone(), said, start::bits(), time.now()),
            steps,
            inputs,
            sender,
            orders: open.keeper.orders(),
            guard: instance.guard(),
            turns,
            stop,
            around: start::surroundings(&self.home, runtime),
            judge: self.read.judge.clone(),
            emergency: start::emergency(&self.home),
            notes,
            cron: desk,
            patience: self.read.serve.drain_timeout,
            drain,
            time,
        };
        self.serve(open, HubDriver::new(parts), signals, runtime)
            .await?;
        let all = async {
            if let Some(cron) = cron {
                let _panicked = cron.await;
            }
        };
        if tokio::time::timeout(drain + OTHERS, all).await.is_err() {
            tracing::warn!("A driver did not end in its time.");
        }
        instance.withdraw()
    }

    /// Binds, publishes, and starts the store's thread.
    async fn open(
        &self,
        instance: &mut Instance,
        identity: &instance::Identity,
        (desk, watch): (Desk, Watch),
        sender: &mpsc::Sender<Input>,
    ) -> Result<Open> {
        let token = self.read.token.clone().unwrap_or_else(random);
        let (listener, reach) = self.bind(&token).await?;
        instance.publish(&self.home, identity, &reach, &token)?;
        let socket = unix::bind(&instance.path("serve.sock"))?;
        let bound = (!start::is_loopback(&reach.host)).then(|| reach.host.clone());
        let admission = Admission::new(&token, bound);
        let front = Front::new(admission, Arc::clone(&watch.clock), sender.clone());
        let keeper = Keeper::start(desk, sender.clone(), watch)?;
        Ok(Open {
            listener,
            socket,
            front,
            keeper,
            reach,
        })
    }

    /// Serve listens to this host alone, unless it is told who else may come.
    async fn bind(&self, token: &str) -> Result<(TcpListener, Reach)> {
        let host = self.read.serve.host.clone();
        let port = self.read.serve.port;
        let chosen = self.read.token.is_some() && token.len() >= TOKEN;
        let fine = start::is_loopback(&host) || (self.options.auth && chosen);
        if !fine {
            return Err(Error::new(
                Kind::Refused,
                format!("serve does not listen at {host} without authentication"),
            )
            .with_hint(self.lacks())
            .with_hint("or leave it on this host and reach it through ssh -L"));
        }
        let listener = listener((&host, port), self.patience)
            .await
            .context(
                Kind::Unavailable,
                format!("failed to listen at {host}, port {port}"),
            )
            .map_err(|error| error.with_hint("another port: --port 0 takes a free one"))?;
        let port = listener
            .local_addr()
            .context(Kind::Io, "failed to learn the port")?
            .port();
        Ok((listener, Reach { host, port }))
    }

    /// What serve needs before clients of other hosts may come.
    fn lacks(&self) -> String {
        let token = match &self.read.token {
            None => format!(
                "set serve.token in {} to {TOKEN} random characters or more",
                self.home.join("config.toml").display()
            ),
            Some(token) if token.len() < TOKEN => format!(
                "serve.token has {} characters: {TOKEN} are the least",
                token.len()
            ),
            Some(_) => String::new(),
        };
        let auth = if self.options.auth {
            ""
        } else {
            "give --auth token"
        };
        let lacks = [auth, token.as_str()];
        let lacks = lacks.into_iter().filter(|lack| !lack.is_empty());
        lacks.collect::<Vec<_>>().join(", and ")
    }

    async fn serve(
        &self,
        open: Open,
        driver: HubDriver,
        signals: Signals,
        runtime: &mut Runtime,
    ) -> Result<()> {
        let Open {
            listener,
            socket,
            front,
            keeper,
            reach,
        } = open;
        let far = !start::is_loopback(&reach.host);
        let ping = self.read.serve.ping_interval.filter(|_| far);
        let within = Some(self.read.serve.ping_timeout).filter(|time| !time.is_zero());
        let ping = ping.map(|every| Ping { every, within });
        let app = router::routes(Arc::clone(&front), ping)
            .into_make_service_with_connect_info::<door::Peer>();
        let door = Door::new(listener, door::PATIENCE);
        let serving = tokio::spawn(async move { axum::serve(door, app).await });
        let local = tokio::spawn(unix::listen(socket, front));
        let environ = runtime.environ.clone();
        let reload = || settings::read(&self.home, &environ, &self.options.flags);
        let mut told = Ok(());
        let ready = || told = start::tell(runtime, reach.port);
        driver.run(signals, ready, reload).await;
        serving.abort();
        local.abort();
        // Whoever takes the home over binds the same port at once: it must be free by then.
        let _aborted = (serving.await, local.await);
        keeper.finish();
        told
    }
}
