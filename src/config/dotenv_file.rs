//! Reads the `.env` files of a home.

use super::dotenv::Environment;
use super::file::read_text;
use crate::home::Home;

impl Environment {
    /// Lays the files of a home over an environment, as Hermes Agent does at its start: `.env` wins
    /// over what is there; `.op.env` yields to it, and is read only without a service account's token.
    ///
    /// # Errors
    /// Which file could not be read, and why; the environment is then not known.
    pub fn under_home(mut self, home: &Home) -> Result<Self, String> {
        let read = |name: &str| {
            read_text(&home.join(name)).map_err(|(_, why)| format!("{name} cannot be read: {why}"))
        };
        if let Some(text) = read(".env")? {
            self.lay(&text, true);
        }
        if self
            .get("OP_SERVICE_ACCOUNT_TOKEN")
            .is_none_or(str::is_empty)
            && let Some(text) = read(".op.env")?
        {
            self.lay(&text, false);
        }
        Ok(self)
    }
}
