//! The answer in what an agent prints, read as it comes. Pure, and total: output in another form than the
//! one expected is the answer as it stands, and that is said.

use serde_json::Value;

use super::events::Events;
use super::settings::AnswerIn;

/// The longest JSON object that is read, in bytes.
const LONGEST: usize = 8 << 20;
/// No more is told of a reason, in characters.
const REASON: usize = 300;

/// What an agent said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The answer, without white space at its ends.
    pub text: String,
    /// The agent's own id of the session.
    pub session: Option<String>,
    /// The agent itself says that the turn failed.
    pub failed: bool,
    /// What it says of why, in one line.
    pub reason: Option<String>,
    /// The output was not in the form expected, so all of it is taken as the answer.
    pub unexpected_form: bool,
}

impl Answer {
    /// Reads the answer out of all that was printed on stdout.
    #[must_use]
    pub fn read(form: AnswerIn, output: &str) -> Self {
        let mut reader = Reader::new(form, output.len());
        reader.hear(output.as_bytes());
        reader.answer()
    }

    /// What is wrong with a turn whose command ended well; `None`: nothing. No answer is none.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let failed = "the agent says that its turn failed";
        match &self.reason {
            _ if !self.failed && !self.text.is_empty() => None,
            _ if !self.failed => Some("the agent gave no answer".to_owned()),
            Some(reason) => Some(format!("{failed}: {reason}")),
            None => Some(failed.to_owned()),
        }
    }
}

/// The end of what was printed, up to twice as much as is wanted of it.
#[derive(Debug)]
pub struct Tail {
    kept: usize,
    bytes: Vec<u8>,
}

impl Tail {
    /// One that keeps so many bytes.
    #[must_use]
    pub fn new(kept: usize) -> Self {
        let bytes = Vec::new();
        Self { kept, bytes }
    }

    /// Hears a piece.
    pub fn hear(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
        if self.bytes.len() > self.kept.saturating_mul(2) {
            self.bytes.drain(..self.bytes.len() - self.kept);
        }
    }

    /// What was kept, as text.
    #[must_use]
    pub fn text(&self) -> String {
        let start = self.bytes.len().saturating_sub(self.kept);
        String::from_utf8_lossy(self.bytes.get(start..).unwrap_or_default()).into_owned()
    }
}

/// Reads an answer piece by piece: what tells of a session or a failure may stand far before the end.
#[derive(Debug)]
pub struct Reader {
    form: AnswerIn,
    tail: Tail,
    /// What may be an object that goes on: a line of JSON lines, all of a JSON result.
    open: Vec<u8>,
    /// More than is read of one.
    too_long: bool,
    events: Events,
}

impl Reader {
    /// One for this form, of whose answer so many bytes are kept.
    #[must_use]
    pub fn new(form: AnswerIn, kept: usize) -> Self {
        Self {
            form,
            tail: Tail::new(kept),
            open: Vec::new(),
            too_long: false,
            events: Events::default(),
        }
    }

    /// Hears a piece of stdout.
    pub fn hear(&mut self, piece: &[u8]) {
        self.tail.hear(piece);
        match self.form {
            AnswerIn::Text | AnswerIn::TextSession => {}
            AnswerIn::JsonResult => self.goes_on(piece),
            AnswerIn::JsonLines => {
                for part in piece.split_inclusive(|byte| *byte == b'\n') {
                    self.goes_on(part);
                    if part.ends_with(b"\n") {
                        self.line();
                    }
                }
            }
        }
    }

    fn goes_on(&mut self, part: &[u8]) {
        self.too_long |= self.open.len() + part.len() > LONGEST;
        if self.too_long {
            self.open = Vec::new();
        } else {
            self.open.extend_from_slice(part);
        }
    }

    /// A line is over. One that is too long is the output of some tool, and no answer.
    fn line(&mut self) {
        let line = std::mem::take(&mut self.open);
        if !std::mem::take(&mut self.too_long)
            && let Some(event) = json(&line)
        {
            self.events.hear(&event);
        }
    }

    /// The answer, when all is heard, with the session that the end of stderr tells where the form has it
    /// there. Such lines are taken out of it: they are no last words.
    #[must_use]
    pub fn answer_beside(self, stderr: &mut String) -> Answer {
        let mut session = None;
        if self.form == AnswerIn::TextSession {
            let mut rest = Vec::new();
            for line in stderr.lines() {
                match line.strip_prefix("session_id:").map(str::trim) {
                    Some(id) if !id.is_empty() && !id.contains(' ') => {
                        session = Some(id.to_owned());
                    }
                    _ => rest.push(line),
                }
            }
            let rest = rest.join("\n").trim().to_owned();
            *stderr = rest;
        }
        let answer = self.answer();
        let session = session.or(answer.session);
        Answer { session, ..answer }
    }

    /// The answer, when all is heard.
    #[must_use]
    pub fn answer(mut self) -> Answer {
        let found = match self.form {
            AnswerIn::Text | AnswerIn::TextSession => None,
            AnswerIn::JsonResult if self.too_long => Some(Answer {
                text: self.tail.text(),
                failed: true,
                reason: Some(format!("more than {} MiB of JSON", LONGEST >> 20)),
                ..Answer::default()
            }),
            AnswerIn::JsonResult => json_result(&self.open),
            AnswerIn::JsonLines => {
                self.line();
                self.events.answer()
            }
        };
        let mut answer = found.unwrap_or_else(|| Answer {
            text: self.tail.text(),
            unexpected_form: !self.form.is_text(),
            ..Answer::default()
        });
        let kept = answer.text.trim();
        let start = kept.ceil_char_boundary(kept.len().saturating_sub(self.tail.kept));
        answer.text = kept.get(start..).unwrap_or_default().to_owned();
        answer.reason = answer.reason.as_deref().and_then(in_one_line);
        answer
    }
}

fn in_one_line(reason: &str) -> Option<String> {
    let words: Vec<_> = reason.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(REASON).collect();
    (!line.is_empty()).then_some(line)
}

fn json(bytes: &[u8]) -> Option<Value> {
    serde_json::from_str(String::from_utf8_lossy(bytes).trim()).ok()
}

pub(super) fn string(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// What an event or a result says of an error: in words, in an object, or in a list of either.
pub(super) fn message(value: &Value) -> Option<String> {
    match value {
        Value::String(words) => Some(words.clone()),
        Value::Array(all) => {
            let words: Vec<_> = all.iter().filter_map(message).collect();
            (!words.is_empty()).then(|| words.join("; "))
        }
        Value::Object(_) => value.get("message").and_then(message),
        _ => None,
    }
}

/// One object; warnings of the agent may stand on lines before it, and it may be the last one of a list.
fn json_result(output: &[u8]) -> Option<Answer> {
    let lines = || output.rsplit(|byte| *byte == b'\n');
    let whole = json(output).into_iter();
    let mut values = whole.chain(lines().filter_map(json));
    values.find_map(|value| match value {
        Value::Array(all) => all.iter().rev().find_map(result),
        value => result(&value),
    })
}

fn result(object: &Value) -> Option<Answer> {
    let is_result = string(object, "type").as_deref() == Some("result");
    let tells = ["result", "is_error", "session_id"];
    if !is_result && !tells.iter().any(|key| object.get(key).is_some()) {
        return None;
    }
    let is_error = object.get("is_error").and_then(Value::as_bool);
    let subtype = string(object, "subtype").filter(|subtype| subtype.starts_with("error"));
    let text = string(object, "result").unwrap_or_default();
    let mut errors = ["errors", "error"].into_iter();
    let errors = errors.find_map(|key| object.get(key).and_then(message));
    let said = Some(text.clone()).filter(|text| !text.trim().is_empty());
    let failed = is_error == Some(true) || subtype.is_some();
    Some(Answer {
        session: string(object, "session_id"),
        failed,
        reason: errors.or(said).or(subtype).filter(|_| failed),
        unexpected_form: false,
        text,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_all_of_it() {
        assert_eq!(
            Answer::read(AnswerIn::Text, "\n all good \n").text,
            "all good"
        );
    }

    #[test]
    fn a_json_result_tells_its_session_and_its_failure() {
        let output = "warning: old\n{\"result\":\"done\",\"session_id\":\"s\",\"is_error\":true}\n";
        let answer = Answer::read(AnswerIn::JsonResult, output);
        assert_eq!(
            (answer.text.as_str(), answer.session.as_deref()),
            ("done", Some("s"))
        );
        assert!(answer.failed && !answer.unexpected_form);
    }

    #[test]
    fn the_last_message_of_json_lines_is_the_answer() {
        let output = concat!(
            "{\"type\":\"thread.started\",\"thread_id\":\"t1\"}\n",
            "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"first\"}}\n",
            "{\"type\":\"item.completed\",\"item\":{\"type\":\"command_execution\"}}\n",
            "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"last\"}}\n",
        );
        let answer = Answer::read(AnswerIn::JsonLines, output);
        assert_eq!(
            (answer.text.as_str(), answer.session.as_deref()),
            ("last", Some("t1"))
        );
    }

    #[test]
    fn another_form_is_taken_as_it_stands_and_said() {
        let answer = Answer::read(AnswerIn::JsonResult, "plain words");
        assert_eq!(answer.text, "plain words");
        assert!(answer.unexpected_form);
    }

    #[test]
    fn the_last_of_a_list_is_the_result_and_what_tells_nothing_is_none() {
        let list = r#"[{"type":"system","session_id":"s"},{"type":"result","result":"done"}]"#;
        assert_eq!(Answer::read(AnswerIn::JsonResult, list).text, "done");
        let answer = Answer::read(AnswerIn::JsonResult, "[1, {\"level\": 3}]");
        assert!(answer.unexpected_form && answer.failure().is_none());
    }

    #[test]
    fn an_error_that_the_agent_got_over_is_none() {
        let error = "{\"type\":\"error\",\"message\":\"busy\"}\n";
        let message =
            "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"a\"}}\n";
        let read = |lines: [&str; 2]| Answer::read(AnswerIn::JsonLines, &lines.concat()).failure();
        assert_eq!(read([error, message]), None);
        let failure = read([message, error]).unwrap();
        assert!(failure.ends_with("failed: busy"), "{failure}");
    }

    #[test]
    fn a_result_of_more_than_is_read_is_no_success() {
        let mut reader = Reader::new(AnswerIn::JsonResult, 100);
        reader.hear(&vec![b'x'; LONGEST]);
        reader.hear(b"\n{\"result\":\"done\"}");
        let answer = reader.answer();
        assert!(answer.failed && answer.text.len() <= 100, "{answer:?}");
    }

    proptest! {
        #[test]
        fn any_output_is_read(output in "[\\PC\n]*", cut in 0usize..9) {
            for form in [AnswerIn::Text, AnswerIn::JsonResult, AnswerIn::JsonLines] {
                let answer = Answer::read(form, &output);
                // What is no object of the form is the answer as it stands, and none of it is lost.
                if form.is_text() || !output.contains(['{', '[']) {
                    prop_assert_eq!(&answer.text, output.trim());
                    prop_assert_eq!(answer.unexpected_form, !form.is_text());
                    prop_assert_eq!(answer.failure().is_some(), answer.text.is_empty());
                }
                let mut reader = Reader::new(form, output.len());
                output.as_bytes().chunks(cut + 1).for_each(|piece| reader.hear(piece));
                prop_assert_eq!(answer, reader.answer());
            }
        }
    }
}
