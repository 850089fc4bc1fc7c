//! Colour: the flag, then `NO_COLOR`, then `CLICOLOR_FORCE` or `FORCE_COLOR`, then the terminal.
//! Colour only ever repeats what a word says.

use owo_colors::{OwoColorize, Style as Paint};

/// What `--color` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ColorChoice {
    /// As the environment and the terminal say.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What the environment says of colour. A variable counts when it is set and not empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColorEnvironment {
    /// `NO_COLOR` is set.
    pub no_color: bool,
    /// `CLICOLOR_FORCE` (not `0`) or `FORCE_COLOR` (not `0`) is set.
    pub force: bool,
    /// `TERM` is `dumb`.
    pub dumb: bool,
}

impl ColorChoice {
    /// Whether to colour, on a terminal or not.
    #[must_use]
    pub fn decide(self, environment: ColorEnvironment, terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto if environment.no_color => false,
            Self::Auto if environment.force => true,
            Self::Auto => terminal && !environment.dumb,
        }
    }
}

/// How words are painted, and which glyphs may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    color: bool,
    ascii: bool,
}

impl Style {
    /// No colour, ASCII only.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            color: false,
            ascii: true,
        }
    }

    /// With or without colour, with or without glyphs beyond ASCII.
    #[must_use]
    pub fn new(color: bool, ascii: bool) -> Self {
        Self { color, ascii }
    }

    /// Whether only ASCII may be printed.
    #[must_use]
    pub fn is_ascii(self) -> bool {
        self.ascii
    }

    /// Whether colour is on.
    #[must_use]
    pub fn is_colored(self) -> bool {
        self.color
    }

    fn paint(self, text: &str, paint: Paint) -> String {
        if self.color {
            text.style(paint).to_string()
        } else {
            text.to_owned()
        }
    }

    /// Something is broken.
    #[must_use]
    pub fn error(self, text: &str) -> String {
        self.paint(text, Paint::new().red().bold())
    }

    /// Something needs a look.
    #[must_use]
    pub fn warning(self, text: &str) -> String {
        self.paint(text, Paint::new().yellow().bold())
    }

    /// Something is as it should be.
    #[must_use]
    pub fn good(self, text: &str) -> String {
        self.paint(text, Paint::new().green())
    }

    /// Something worth knowing.
    #[must_use]
    pub fn info(self, text: &str) -> String {
        self.paint(text, Paint::new().cyan())
    }

    /// A way out.
    #[must_use]
    pub fn hint(self, text: &str) -> String {
        self.paint(text, Paint::new().cyan())
    }

    /// A heading.
    #[must_use]
    pub fn heading(self, text: &str) -> String {
        self.paint(text, Paint::new().bold())
    }

    /// Of lesser weight.
    #[must_use]
    pub fn dim(self, text: &str) -> String {
        self.paint(text, Paint::new().dimmed())
    }

    /// A command to copy.
    #[must_use]
    pub fn command(self, text: &str) -> String {
        self.paint(text, Paint::new().bold())
    }

    /// The first where glyphs are allowed, else the second.
    #[must_use]
    pub fn glyph(self, glyph: &'static str, ascii: &'static str) -> &'static str {
        if self.ascii { ascii } else { glyph }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flag_beats_no_color_beats_force_beats_terminal() {
        let all = ColorEnvironment {
            no_color: true,
            force: true,
            dumb: false,
        };
        assert!(ColorChoice::Always.decide(all, false));
        assert!(!ColorChoice::Auto.decide(all, true));
        let force = ColorEnvironment {
            no_color: false,
            force: true,
            dumb: true,
        };
        assert!(ColorChoice::Auto.decide(force, false));
        assert!(!ColorChoice::Never.decide(force, true));
        let none = ColorEnvironment::default();
        assert!(ColorChoice::Auto.decide(none, true));
        assert!(!ColorChoice::Auto.decide(none, false));
    }
}
