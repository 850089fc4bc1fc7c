//! The answer in what an agent printed. Pure, and total: output in another form than the one expected
//! is the answer as it stands, and that is said.

use serde_json::Value;

use super::settings::AnswerIn;

/// What an agent said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The answer, without white space at its ends.
    pub text: String,
    /// The agent's own id of the session.
    pub session: Option<String>,
    /// The agent itself says that the turn failed.
    pub failed: bool,
    /// The output was not in the form expected, so all of it is taken as the answer.
    pub unexpected_form: bool,
}

impl Answer {
    /// Reads the answer out of all that was printed on stdout.
    #[must_use]
    pub fn read(form: AnswerIn, output: &str) -> Self {
        let found = match form {
            AnswerIn::Text => Some(Self {
                text: output.trim().to_owned(),
                ..Self::default()
            }),
            AnswerIn::JsonResult => json_result(output),
            AnswerIn::JsonLines => json_lines(output),
        };
        found.unwrap_or_else(|| Self {
            text: output.trim().to_owned(),
            unexpected_form: true,
            ..Self::default()
        })
    }
}

fn string(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// One object; warnings of the agent may stand on lines before it.
fn json_result(output: &str) -> Option<Answer> {
    let whole = serde_json::from_str::<Value>(output.trim()).ok();
    let last = || {
        output
            .lines()
            .rev()
            .find_map(|line| serde_json::from_str::<Value>(line.trim()).ok())
    };
    let object = whole
        .or_else(last)
        .filter(|value| value.get("result").is_some())?;
    Some(Answer {
        text: string(&object, "result")
            .unwrap_or_default()
            .trim()
            .to_owned(),
        session: string(&object, "session_id"),
        failed: object
            .get("is_error")
            .and_then(Value::as_bool)
            .unwrap_or(false),
        unexpected_form: false,
    })
}

fn json_lines(output: &str) -> Option<Answer> {
    let mut answer: Option<Answer> = None;
    let mut session = None;
    for event in output
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok())
    {
        match event.get("type").and_then(Value::as_str) {
            Some("thread.started") => session = string(&event, "thread_id").or(session),
            Some("item.completed") => {
                let item = event.get("item").unwrap_or(&Value::Null);
                if string(item, "type").as_deref() == Some("agent_message") {
                    answer.get_or_insert_default().text = string(item, "text").unwrap_or_default();
                }
            }
            Some("turn.failed") => answer.get_or_insert_default().failed = true,
            _ => {}
        }
    }
    answer.map(|answer| Answer {
        session,
        text: answer.text.trim().to_owned(),
        ..answer
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

    proptest! {
        #[test]
        fn any_output_is_read(output in ".*") {
            for form in [AnswerIn::Text, AnswerIn::JsonResult, AnswerIn::JsonLines] {
                let answer = Answer::read(form, &output);
                prop_assert!(answer.text.len() <= output.len().max(1) * 4);
            }
        }
    }
}
