//! The requests of clients, by method. Each is answered at once, or by the store's answer later.

use serde_json::{Value, json};

use super::Hub;
use super::event::{ConnId, Effect, Order, RunJob, Then, What};
use crate::server::protocol::{Failure, Params, Request, code};
use crate::sessions::refusal::Refusal;

/// What a request gets: an answer, or none yet.
pub(super) type Answer = Option<Result<Value, Failure>>;

/// A request, and whose it is.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    /// The connection.
    pub(super) conn: ConnId,
    /// The request's id.
    pub(super) id: &'a Value,
    /// Its parameters.
    pub(super) params: &'a Params,
}

impl Asked<'_> {
    /// What the store's answer is for.
    pub(super) fn then(&self, what: What) -> Then {
        Then::Answer {
            conn: self.conn,
            id: self.id.clone(),
            what,
        }
    }
}

impl Hub {
    pub(super) fn request(&mut self, conn: ConnId, id: &Value, request: &Request) -> Answer {
        let asked = Asked {
            conn,
            id,
            params: &request.params,
        };
        if let Err(failure) = self.own_profile(asked) {
            return Some(Err(failure));
        }
        match request.method.as_str() {
            "ping" => Some(Ok(json!({"pong": true}))),
            "gateway.ping" => Some(Ok(json!({"ok": true}))),
            "gateway.capabilities" => Some(Ok(json!({"per_session_exclusive_submit": true}))),
            "client.capabilities" => Some(self.capabilities(asked)),
            "setup.status" => Some(Ok(self.setup_status())),
            "cron.run" => self.run_job(asked).err().map(Err),
            method => match self.session_request(method, asked) {
                Ok(answer) => answer.map(Ok),
                Err(failure) => Some(Err(failure)),
            },
        }
    }

    /// `None` in `Ok`: the store answers later.
    fn session_request(
        &mut self,
        method: &str,
        asked: Asked<'_>,
    ) -> Result<Option<Value>, Failure> {
        match method {
            "session.create" => self.create(asked).map(Some),
            "session.resume" => self.resume(asked),
            "session.activate" => self.activate(asked).map(Some),
            "session.list" => self.list(asked),
            "session.active_list" => self.active_list(asked).map(Some),
            "session.most_recent" => self.most_recent(asked),
            "session.history" => self.history(asked),
            "session.status" => self.status(asked).map(Some),
            "session.usage" => self.known(asked).map(|_| Some(json!({"usage": {}}))),
            "session.title" => self.title(asked).map(Some),
            "session.events.since" => self.events_since(asked).map(Some),
            "session.events.stats" => self.events_stats(asked).map(Some),
            "session.interrupt" => self.interrupt(asked).map(Some),
            "session.close" => self.close(asked).map(Some),
            "session.delete" => self.delete(asked),
            "session.reap" => self.reap(asked).map(Some),
            "session.control.read" => self.control_read(asked).map(Some),
            "session.control" => self.control(asked),
            "prompt.submit" => self.submit(asked),
            "command.dispatch" => self.dispatch(asked),
            "slash.exec" => self.slash(asked),
            "timer.history" => self.timer_history(asked),
            "approval.pending" => self.known(asked).map(|_| Some(json!({"pending": []}))),
            "approval.respond" | "approval.received" | "request.answer" | "clarify.lock" => {
                self.nothing_waits(asked).map(Some)
            }
            _ => Err(Failure::new(
                code::UNKNOWN_METHOD,
                format!("unknown method: {method}"),
            )),
        }
    }

    /// A serve has one profile; a request for another would be answered with the wrong sessions.
    fn own_profile(&self, asked: Asked<'_>) -> Result<(), Failure> {
        let own = self.identity.backend.profile.as_str();
        match asked.params.text("profile")? {
            None | Some("") => Ok(()),
            Some(name) if name == own => Ok(()),
            Some(name) => {
                let text = format!("this serve has the profile {own}; {name} has one of its own");
                Err(Failure::new(code::PROFILE, text))
            }
        }
    }

    fn capabilities(&mut self, asked: Asked<'_>) -> Result<Value, Failure> {
        let names = match asked.params.0.get("server_requests") {
            None | Some(Value::Null | Value::Bool(_)) => Vec::new(),
            Some(Value::Array(names)) => names
                .iter()
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect(),
            Some(_) => {
                let text = "server_requests must be a list of names";
                return Err(Failure::new(code::INVALID_PARAMS, text));
            }
        };
        if let Some(client) = self.clients.get_mut(asked.conn) {
            client.answers.clone_from(&names);
        }
        Ok(json!({"server_requests": names, "declines_not_shown": true}))
    }

    /// A job, now; the answer comes once it has begun.
    fn run_job(&mut self, asked: Asked<'_>) -> Result<(), Failure> {
        if self.draining {
            return Err(Failure::new(code::RETIRING, "serve is stopping"));
        }
        let execution_id = asked.params.required("execution_id")?;
        let digits =
            execution_id.len() == 32 && execution_id.bytes().all(|b| b.is_ascii_hexdigit());
        if !digits {
            let text = "execution_id must be 32 hexadecimal digits";
            return Err(Failure::new(code::INVALID_PARAMS, text));
        }
        self.out.push(Effect::RunJob(RunJob {
            conn: asked.conn,
            id: asked.id.clone(),
            job_id: asked.params.required("job_id")?.to_owned(),
            execution_id: execution_id.to_owned(),
        }));
        Ok(())
    }

    fn setup_status(&self) -> Value {
        let (ready, why) = match &self.settings.agent {
            Ok(_) => (true, Value::Null),
            Err(why) => (false, Value::from(why.clone())),
        };
        json!({
            "provider_configured": ready,
            "ready": ready,
            "inference_provider": self.agent_name(),
            "error": why,
        })
    }

    /// The agent's program, for those who want to know what runs.
    pub(super) fn agent_name(&self) -> String {
        match &self.settings.agent {
            Ok(agent) => agent.command.first().cloned().unwrap_or_default(),
            Err(_) => String::new(),
        }
    }

    /// The live session that a request names.
    pub(super) fn known(&self, asked: Asked<'_>) -> Result<String, Failure> {
        let id = asked.params.required("session_id")?;
        if self.sessions.contains_key(id) {
            return Ok(id.to_owned());
        }
        if let Some(runtime) = self.by_stored.get(id) {
            return Ok(runtime.clone());
        }
        Err(Failure::new(
            code::SESSION_NOT_FOUND,
            format!("no live session has the id {id}; session.resume loads a stored one"),
        ))
    }

    /// The agent's command asks nothing, so nothing ever waits for an answer.
    fn nothing_waits(&self, asked: Asked<'_>) -> Result<Value, Failure> {
        let _session = self.known(asked)?;
        Err(Failure::new(
            code::BAD_ARGUMENT,
            "nothing waits for an answer in this session",
        ))
    }

    /// A refusal on the wire: who, since when, until when, all as times of day.
    pub(super) fn refused(&self, refusal: &Refusal) -> Failure {
        let wall = |awake: f64| self.now.wall + (awake - self.now.awake);
        let text = refusal.text(self.now.awake);
        Failure::new(i64::from(refusal.code), text).with_data(json!({
            "reason": if refusal.code == 4090 { "SESSION_NOT_OWNED" } else { "BUSY" },
            "holder": refusal.holder,
            "since": wall(refusal.since),
            "until": refusal.until.map(wall),
        }))
    }

    /// Sends an order to the store and waits for its answer.
    pub(super) fn order(&mut self, order: Order) {
        self.keeping.sent();
        self.out.push(Effect::Store(order));
    }
}
