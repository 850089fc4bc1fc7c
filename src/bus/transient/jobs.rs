//! The ends of jobs, heard from before a job is asked for, so that none is missed.

use std::{future::poll_fn, pin::Pin};

use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::AbortHandle,
};
use zbus::{Message, MessageStream, OwnedObjectPath, export::futures_core::Stream, message::Type};

use crate::bus::{
    client::{CallError, Client},
    dial::BUS,
    report::Door,
    systemd::MANAGER_OBJECT,
};

const RULE: &str = "type='signal',sender='org.freedesktop.systemd1',\
    interface='org.freedesktop.systemd1.Manager',member='JobRemoved'";

/// The error of a second `Subscribe` over one connection.
const ALREADY: &str = "org.freedesktop.systemd1.AlreadySubscribed";

/// A job that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JobEnd {
    /// Its object path.
    pub(super) job: String,
    /// `done`, `failed`, `canceled`, `timeout`, `dependency`, `skipped`.
    pub(super) result: String,
}

/// The ends of all jobs since it was made.
#[derive(Debug)]
pub(super) struct Jobs {
    ends: UnboundedReceiver<JobEnd>,
    listener: AbortHandle,
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

impl Jobs {
    /// Starts to listen. The private door sends the signal unasked; a bus wants to be told.
    pub(super) async fn listen(client: &Client) -> Result<Self, CallError> {
        let (sender, ends) = unbounded_channel();
        let stream = MessageStream::from(&client.connection);
        let listener = tokio::spawn(forward(stream, sender)).abort_handle();
        let jobs = Self { ends, listener };
        if client.door != Door::Private {
            client.call::<_, ()>(BUS, "AddMatch", &RULE).await?;
            match client.call::<_, ()>(MANAGER_OBJECT, "Subscribe", &()).await {
                Err(error) if error.name() != Some(ALREADY) => return Err(error),
                _ => {}
            }
        }
        Ok(jobs)
    }

    /// Waits for the end of one job; `None`: the connection was lost.
    pub(super) async fn end_of(&mut self, job: &str) -> Option<String> {
        loop {
            let end = self.ends.recv().await?;
            if end.job == job {
                return Some(end.result);
            }
        }
    }
}

async fn forward(mut stream: MessageStream, sender: UnboundedSender<JobEnd>) {
    while let Some(Ok(message)) = poll_fn(|context| Pin::new(&mut stream).poll_next(context)).await
    {
        if let Some(end) = job_end(&message)
            && sender.send(end).is_err()
        {
            return;
        }
    }
}

/// `JobRemoved(u id, o job, s unit, s result)`
fn job_end(message: &Message) -> Option<JobEnd> {
    let header = message.header();
    let removed = message.message_type() == Type::Signal
        && header
            .interface()
            .is_some_and(|name| name.as_str() == MANAGER_OBJECT.interface)
        && header
            .member()
            .is_some_and(|name| name.as_str() == "JobRemoved");
    if !removed {
        return None;
    }
    let (_, job, _, result): (u32, OwnedObjectPath, String, String) =
        message.body().deserialize().ok()?;
    Some(JobEnd {
        job: job.to_string(),
        result,
    })
}
