//! The window on the terminal: style, tables, JSON, words.
