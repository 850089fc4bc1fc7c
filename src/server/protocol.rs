//! JSON-RPC 2.0 as the clients of Hermes Agent's backend speak it: one object a frame. Pure.

use serde_json::{Map, Value, json};

/// Codes of errors, those of the protocol first.
pub mod code {
    /// The frame is no JSON.
    pub const PARSE: i64 = -32700;
    /// It is no request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// There is no such method.
    pub const UNKNOWN_METHOD: i64 = -32601;
    /// `params` is no object, or one of them has the wrong type.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The handler broke.
    pub const INTERNAL: i64 = -32603;
    /// A contract was violated.
    pub const CONTRACT: i64 = 4000;
    /// No live session has this runtime id.
    pub const SESSION_NOT_FOUND: i64 = 4001;
    /// An argument makes no sense.
    pub const BAD_ARGUMENT: i64 = 4004;
    /// `session_id` is missing.
    pub const SESSION_ID_REQUIRED: i64 = 4006;
    /// No stored session has this id, or it is no longer live.
    pub const STORED_NOT_FOUND: i64 = 4007;
    /// Busy, or settling.
    pub const BUSY: i64 = 4009;
    /// The word is no command that can be dispatched.
    pub const NOT_DISPATCHABLE: i64 = 4018;
    /// A session that is live cannot be deleted.
    pub const DELETE_ACTIVE: i64 = 4023;
    /// There is no such profile here.
    pub const PROFILE: i64 = 4064;
    /// Somebody else holds the session, or there is no room for another.
    pub const LEASE_REFUSED: i64 = 4090;
    /// The store does not answer.
    pub const STORE: i64 = 5000;
    /// No agent, or it cannot be started.
    pub const AGENT: i64 = 5032;
    /// The backend is stopping.
    pub const RETIRING: i64 = 5035;
}

/// A failed request.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// A code of [`code`].
    pub code: i64,
    /// What went wrong, in words.
    pub message: String,
    /// Details for programs: who holds it, since when, until when.
    pub data: Option<Value>,
}

impl Failure {
    /// A failure without details.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// The same with details.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Its id; `None` for a notification, which gets no answer.
    pub id: Option<Value>,
    /// The method.
    pub method: String,
    /// The parameters; none is an empty object.
    pub params: Params,
}

/// What a frame of a client is.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// It asks.
    Request(Request),
    /// It answers a question of ours.
    Answer {
        /// The id of our question.
        id: Value,
        /// What it says.
        result: Result<Value, Value>,
    },
}

impl Frame {
    /// Reads a frame.
    ///
    /// # Errors
    /// The id to answer to (null where there is none), and what to answer.
    pub fn parse(text: &str) -> Result<Self, (Value, Failure)> {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            (
                Value::Null,
                Failure::new(code::PARSE, format!("no JSON: {error}")),
            )
        })?;
        let Value::Object(mut object) = value else {
            return Err((
                Value::Null,
                Failure::new(code::INVALID_REQUEST, "a frame is one object"),
            ));
        };
        let id = object
            .remove("id")
            .filter(|id| id.is_string() || id.is_number());
        if let (Some(id), false) = (&id, object.contains_key("method")) {
            return answer(id, &mut object);
        }
        let refuse =
            |code, text: &str| Err((id.clone().unwrap_or(Value::Null), Failure::new(code, text)));
        let Some(Value::String(method)) = object.remove("method") else {
            return refuse(code::INVALID_REQUEST, "there is no method");
        };
        let params = match object.remove("params") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return refuse(code::INVALID_PARAMS, "params is no object"),
        };
        Ok(Self::Request(Request {
            id,
            method,
            params: Params(params),
        }))
    }
}

fn answer(id: &Value, object: &mut Map<String, Value>) -> Result<Frame, (Value, Failure)> {
    let result = match (object.remove("result"), object.remove("error")) {
        (Some(result), _) => Ok(result),
        (None, Some(error)) => Err(error),
        (None, None) => {
            let failure = Failure::new(code::INVALID_REQUEST, "neither method, result nor error");
            return Err((id.clone(), failure));
        }
    };
    Ok(Frame::Answer {
        id: id.clone(),
        result,
    })
}

/// Longest message or command, in bytes.
const MESSAGE: usize = 4 << 20;
/// Longest other text: titles, ids, paths.
const NAME: usize = 4096;

/// The parameters of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params(pub Map<String, Value>);

impl Params {
    /// A text; `None` where there is none, or null.
    ///
    /// # Errors
    /// When it is something else, or too long.
    pub fn text(&self, name: &str) -> Result<Option<&str>, Failure> {
        let most = match name {
            "text" | "command" | "arg" => MESSAGE,
            _ => NAME,
        };
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.len() > most => {
                let text = format!("{name} has {most} bytes at most");
                Err(Failure::new(code::BAD_ARGUMENT, text))
            }
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(wrong_type(name, "a string")),
        }
    }

    /// A text that must be there and not be empty.
    ///
    /// # Errors
    /// When it is not there, empty, or something else.
    pub fn required(&self, name: &str) -> Result<&str, Failure> {
        let missing = if name == "session_id" {
            code::SESSION_ID_REQUIRED
        } else {
            code::BAD_ARGUMENT
        };
        self.text(name)?
            .filter(|text| !text.is_empty())
            .ok_or_else(|| Failure::new(missing, format!("{name} is required")))
    }

    /// A yes or no; no where there is none.
    ///
    /// # Errors
    /// When it is something else.
    pub fn flag(&self, name: &str) -> Result<bool, Failure> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(wrong_type(name, "true or false")),
        }
    }

    /// A number that is not negative.
    ///
    /// # Errors
    /// When it is something else.
    pub fn number(&self, name: &str) -> Result<Option<u64>, Failure> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value
                .as_u64()
                .map(Some)
                .ok_or_else(|| wrong_type(name, "a number from 0")),
        }
    }
}

fn wrong_type(name: &str, wanted: &str) -> Failure {
    Failure::new(code::INVALID_PARAMS, format!("{name} must be {wanted}"))
}

/// The frame that answers a request.
#[must_use]
pub fn response(id: &Value, result: &Result<Value, Failure>) -> String {
    let frame = match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(failure) => {
            let mut error = json!({"code": failure.code, "message": failure.message});
            if let (Some(data), Some(error)) = (&failure.data, error.as_object_mut()) {
                error.insert("data".to_owned(), data.clone());
            }
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        }
    };
    frame.to_string()
}

/// The frame of an event. One of a session has a number; a global one has neither session nor number.
#[must_use]
pub fn event(kind: &str, session: &str, payload: Option<&Value>, seq: Option<u64>) -> String {
    let mut params = Map::new();
    params.insert("type".to_owned(), Value::from(kind));
    params.insert("session_id".to_owned(), Value::from(session));
    if let Some(payload) = payload {
        params.insert("payload".to_owned(), payload.clone());
    }
    if let Some(seq) = seq {
        params.insert("seq".to_owned(), Value::from(seq));
    }
    json!({"jsonrpc": "2.0", "method": "event", "params": params}).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refused(text: &str) -> i64 {
        Frame::parse(text).expect_err("it is refused").1.code
    }

    #[test]
    fn a_request_is_read_and_what_is_none_is_named() {
        let frame = Frame::parse(r#"{"jsonrpc":"2.0","id":"a8","method":"ping","params":null}"#);
        let Ok(Frame::Request(request)) = frame else {
            panic!("a request")
        };
        assert_eq!(
            (request.method.as_str(), request.id),
            ("ping", Some(json!("a8")))
        );
        assert_eq!(refused("{"), code::PARSE);
        assert_eq!(refused("[]"), code::INVALID_REQUEST);
        assert_eq!(refused(r#"{"id":1}"#), code::INVALID_REQUEST);
        assert_eq!(
            refused(r#"{"id":1,"method":"x","params":[]}"#),
            code::INVALID_PARAMS
        );
        assert_eq!(refused(r#"{"id":1,"method":7}"#), code::INVALID_REQUEST);
    }

    #[test]
    fn an_answer_to_our_question_is_told_from_a_request() {
        let frame = Frame::parse(r#"{"id":"q1","result":{"choice":"yes"}}"#).unwrap();
        assert_eq!(
            frame,
            Frame::Answer {
                id: json!("q1"),
                result: Ok(json!({"choice": "yes"}))
            }
        );
    }

    #[test]
    fn parameters_of_the_wrong_type_are_named() {
        let params = Params(
            json!({"cols": "wide", "text": 7, "on": 1})
                .as_object()
                .unwrap()
                .clone(),
        );
        for failure in [
            params.number("cols").unwrap_err(),
            params.text("text").unwrap_err(),
            params.flag("on").unwrap_err(),
        ] {
            assert_eq!(failure.code, code::INVALID_PARAMS);
        }
        assert_eq!(
            params.required("session_id").unwrap_err().code,
            code::SESSION_ID_REQUIRED
        );
        assert_eq!(params.number("absent"), Ok(None));
    }

    #[test]
    fn frames_have_the_shape_that_clients_know() {
        let failure = Failure::new(code::BUSY, "busy").with_data(json!({"since": 1}));
        assert_eq!(
            response(&json!(3), &Err(failure)),
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":4009,"message":"busy","data":{"since":1}}}"#
        );
        assert_eq!(
            event(
                "message.delta",
                "e4ee7782",
                Some(&json!({"text": "Hello"})),
                Some(6)
            ),
            r#"{"jsonrpc":"2.0","method":"event","params":{"type":"message.delta","session_id":"e4ee7782","payload":{"text":"Hello"},"seq":6}}"#
        );
    }

    proptest! {
        #[test]
        fn any_frame_is_read_without_a_panic(text in ".*") {
            let _read_or_refused = Frame::parse(&text);
        }

        #[test]
        fn any_object_is_read_without_a_panic(id in ".{0,8}", method in ".{0,12}", params in ".{0,8}") {
            let text = json!({"id": id, "method": method, "params": {"session_id": params}}).to_string();
            prop_assert!(Frame::parse(&text).is_ok());
        }
    }
}
