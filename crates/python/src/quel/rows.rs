//! The answer of Python rows, as a driver fetched them.

use loadstone_quel::Answer;
use loadstone_quel::answer::RowEncoder;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};

pub fn answer(rows: &Bound<'_, PyAny>) -> PyResult<Answer> {
    let mut answer = Answer::default();
    let mut encoder = RowEncoder::default();
    for row in rows.try_iter()? {
        encode_row(&row?, &mut encoder)?;
        answer.add(encoder.finish_row());
    }
    Ok(answer)
}

fn encode_row(row: &Bound<'_, PyAny>, encoder: &mut RowEncoder) -> PyResult<()> {
    if let Ok(tuple) = row.cast::<PyTuple>() {
        for value in tuple.iter_borrowed() {
            encode(&value, encoder)?;
        }
    } else if let Ok(list) = row.cast::<PyList>() {
        for value in list.iter() {
            encode(&value, encoder)?;
        }
    } else if row.is_instance_of::<PyString>() {
        let message = "a row must be a tuple or a list of values, not a str";
        return Err(PyTypeError::new_err(message));
    } else {
        for value in row.try_iter()? {
            encode(&value?, encoder)?;
        }
    }
    Ok(())
}

/// Exact types first, since nearly every value is of one of them; bool is a subclass of int.
fn encode(value: &Bound<'_, PyAny>, encoder: &mut RowEncoder) -> PyResult<()> {
    if value.is_exact_instance_of::<PyInt>() {
        encode_integer(value, encoder)
    } else if let Ok(text) = value.cast::<PyString>() {
        encoder.text(text.to_str()?.as_bytes());
        Ok(())
    } else if let Ok(real) = value.cast::<PyFloat>() {
        encoder.real(real.value());
        Ok(())
    } else if value.is_none() {
        encoder.null();
        Ok(())
    } else if let Ok(truth) = value.cast::<PyBool>() {
        encoder.integer(truth.is_true().into());
        Ok(())
    } else if value.is_instance_of::<PyInt>() {
        encode_integer(value, encoder)
    } else {
        encode_decimal(value, encoder)
    }
}

fn encode_integer(value: &Bound<'_, PyAny>, encoder: &mut RowEncoder) -> PyResult<()> {
    match value.extract::<i64>() {
        Ok(value) => encoder.integer(value),
        // Beyond 64 bits: as a decimal number would count.
        Err(_) => encoder.real(value.extract()?),
    }
    Ok(())
}

fn encode_decimal(value: &Bound<'_, PyAny>, encoder: &mut RowEncoder) -> PyResult<()> {
    static DECIMAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let decimal = DECIMAL.import(value.py(), "decimal", "Decimal")?;
    if !value.is_instance(decimal)? {
        let name = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "an answer cannot hold a {name}; it takes int, float, str, Decimal, bool and None"
        )));
    }
    let text = value.str()?;
    let text = text.to_str()?;
    if encoder.decimal_text(text) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("the Decimal {text} is not a number")))
}
