//! Statements as text, by the simple protocol: parameters are written into them, and the server
//! parses and plans each anew.

use std::io::Write;

use postgres_protocol::message::frontend;

use super::row::Row;
use super::session::Session;
use super::statement::Value;
use super::wire::WireError;

impl Session {
    /// Run a statement with its parameters `$1`, `$2` … in its text; rows go to `visit`.
    pub fn ask(
        &mut self,
        sql: &str,
        parameters: &[Value<'_>],
        visit: impl FnMut(Row<'_>),
    ) -> Result<(), WireError> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        render(sql, parameters, &mut text)?;
        let words = std::str::from_utf8(&text).expect("made of strings");
        frontend::query(words, &mut self.wire.output)?;
        self.text = text;
        self.wire.statements += 1;
        self.wire.flush()?;
        self.until_ready(visit)
    }
}

fn render(sql: &str, parameters: &[Value<'_>], text: &mut Vec<u8>) -> Result<(), WireError> {
    let mut pieces = sql.split('$');
    text.extend(pieces.next().unwrap_or_default().as_bytes());
    for piece in pieces {
        let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = piece.split_at(digits);
        let position: usize = number.parse().unwrap_or(0);
        let value = parameters.get(position.wrapping_sub(1)).ok_or_else(|| {
            WireError::Protocol(format!("there is no parameter ${number} for {sql}"))
        })?;
        write(*value, text)?;
        text.extend(rest.as_bytes());
    }
    Ok(())
}

fn write(value: Value<'_>, text: &mut Vec<u8>) -> Result<(), WireError> {
    match value {
        Value::Int(number) => write!(text, "{number}")?,
        Value::Time(seconds) => write!(text, "(timestamp 'epoch' + interval '{seconds} s')")?,
        Value::Text(letters) => {
            // Backslashes are letters like any other: standard_conforming_strings is on.
            write!(text, "'{}'", letters.replace('\'', "''"))?;
        }
        Value::Ints(numbers) => {
            text.extend(b"'{");
            for (at, number) in numbers.iter().enumerate() {
                let comma = if at == 0 { "" } else { "," };
                write!(text, "{comma}{number}")?;
            }
            text.extend(b"}'");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Value, render};

    #[test]
    fn parameters_stand_where_they_belong() {
        let mut text = Vec::new();
        let values = [Value::Int(-3), Value::Text("it's $1"), Value::Ints(&[1, 2])];
        render("a $3 b $1, $2", &values, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "a '{1,2}' b -3, 'it''s $1'");
        assert!(render("$2", &[Value::Int(1)], &mut Vec::new()).is_err());
    }
}
