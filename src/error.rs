//! The only error a person ever sees: kind, message, source, hints.
