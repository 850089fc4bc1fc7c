//! Prose fitted to a width. Commands and quotations (lines that start with two spaces) are never
//! touched: a command must be copied as it is.

use unicode_width::UnicodeWidthStr;

/// The widest that prose gets: longer lines are hard to read, however wide the terminal.
pub const WIDEST: usize = 100;

/// Columns that this text takes on a terminal.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.width()
}

/// One paragraph, each line behind this indent. Without a width it stays on one line. A word that is
/// wider than the line stands alone and runs over.
#[must_use]
pub fn paragraph(text: &str, width: Option<usize>, indent: &str) -> String {
    hanging(text, width, indent, indent)
}

/// One paragraph whose first line has another indent than the rest.
#[must_use]
pub fn hanging(text: &str, width: Option<usize>, first: &str, rest: &str) -> String {
    let limit = width.map_or(usize::MAX, |width| width.min(WIDEST));
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && columns(&line) + 1 + columns(word) > limit {
            lines.push(std::mem::replace(&mut line, rest.to_owned()));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines.push(line);
    lines.join("\n")
}

/// Paragraphs parted by empty lines; lines that start with two spaces stay as they are.
#[must_use]
pub fn prose(text: &str, width: Option<usize>, indent: &str) -> String {
    let mut blocks: Vec<String> = Vec::new();
    let mut flowing: Vec<&str> = Vec::new();
    let flush = |flowing: &mut Vec<&str>, blocks: &mut Vec<String>| {
        if !flowing.is_empty() {
            blocks.push(paragraph(&flowing.join(" "), width, indent));
            flowing.clear();
        }
    };
    for line in text.trim().lines() {
        if line.starts_with("  ") {
            flush(&mut flowing, &mut blocks);
            blocks.push(format!("{indent}{}", line.trim_end()));
        } else if line.trim().is_empty() {
            flush(&mut flowing, &mut blocks);
            blocks.push(String::new());
        } else {
            flowing.push(line.trim());
        }
    }
    flush(&mut flowing, &mut blocks);
    blocks.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_wrapped_and_commands_are_not() {
        let text = "one two three four\nfive\n\n  sudo a very long command that stays whole\n\nsix";
        assert_eq!(
            prose(text, Some(12), ""),
            "one two\nthree four\nfive\n\n  sudo a very long command that stays whole\n\nsix"
        );
        assert_eq!(
            prose(text, None, "> "),
            "> one two three four five\n\n>   sudo a very long command that stays whole\n\n> six"
        );
    }

    #[test]
    fn a_long_word_stands_alone_and_wide_letters_count_twice() {
        assert_eq!(
            paragraph("a /very/long/path b", Some(6), ""),
            "a\n/very/long/path\nb"
        );
        assert_eq!(paragraph("日本 日本", Some(8), ""), "日本\n日本");
        assert_eq!(hanging("a b c", Some(5), "- ", "  "), "- a b\n  c");
    }
}
