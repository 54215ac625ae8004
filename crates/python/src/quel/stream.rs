//! The answer of Arrow batches.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatchReader};
use arrow_schema::DataType;
use loadstone_quel::Answer;
use loadstone_quel::answer::RowEncoder;
use pyo3::exceptions::{PyIOError, PyTypeError};
use pyo3::prelude::*;

/// Encodes the value of one column in a row.
type Cell<'a> = Box<dyn Fn(usize, &mut RowEncoder) + 'a>;

pub fn answer(reader: impl RecordBatchReader) -> PyResult<Answer> {
    let schema = reader.schema();
    let mut answer = Answer::default();
    let mut encoder = RowEncoder::default();
    for batch in reader {
        let batch = batch.map_err(|error| PyIOError::new_err(error.to_string()))?;
        let cells = batch
            .columns()
            .iter()
            .zip(schema.fields())
            .map(|(column, field)| {
                cell(column.as_ref()).ok_or_else(|| {
                    let (name, kind) = (field.name(), field.data_type());
                    PyTypeError::new_err(format!("column '{name}': an answer cannot hold {kind}"))
                })
            })
            .collect::<PyResult<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            for cell in &cells {
                cell(row, &mut encoder);
            }
            answer.add(encoder.finish_row());
        }
    }
    Ok(answer)
}

/// None for a type that answers do not know.
fn cell(array: &dyn Array) -> Option<Cell<'_>> {
    let value = value(array)?;
    let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else {
        return Some(value);
    };
    Some(Box::new(move |row, encoder| {
        if nulls.is_null(row) {
            encoder.null();
        } else {
            value(row, encoder);
        }
    }))
}

fn value(array: &dyn Array) -> Option<Cell<'_>> {
    Some(match array.data_type() {
        DataType::Null => Box::new(|_, encoder| encoder.null()),
        DataType::Boolean => {
            let values = array.as_boolean();
            Box::new(move |row, encoder| encoder.integer(values.value(row).into()))
        }
        DataType::Int8 => integers::<Int8Type>(array),
        DataType::Int16 => integers::<Int16Type>(array),
        DataType::Int32 => integers::<Int32Type>(array),
        DataType::Int64 => integers::<Int64Type>(array),
        DataType::UInt8 => integers::<UInt8Type>(array),
        DataType::UInt16 => integers::<UInt16Type>(array),
        DataType::UInt32 => integers::<UInt32Type>(array),
        DataType::UInt64 => {
            let values = array.as_primitive::<UInt64Type>();
            Box::new(move |row, encoder| encoder.unsigned(values.value(row)))
        }
        DataType::Float16 => reals::<Float16Type>(array),
        DataType::Float32 => reals::<Float32Type>(array),
        DataType::Float64 => reals::<Float64Type>(array),
        DataType::Decimal32(_, scale) => decimals::<Decimal32Type>(array, *scale),
        DataType::Decimal64(_, scale) => decimals::<Decimal64Type>(array, *scale),
        DataType::Decimal128(_, scale) => decimals::<Decimal128Type>(array, *scale),
        DataType::Decimal256(_, scale) => wide_decimals(array, *scale),
        DataType::Utf8 => {
            let values = array.as_string::<i32>();
            Box::new(move |row, encoder| encoder.text(values.value(row).as_bytes()))
        }
        DataType::LargeUtf8 => {
            let values = array.as_string::<i64>();
            Box::new(move |row, encoder| encoder.text(values.value(row).as_bytes()))
        }
        DataType::Utf8View => {
            let values = array.as_string_view();
            Box::new(move |row, encoder| encoder.text(values.value(row).as_bytes()))
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            if dictionary.values().is_empty() {
                // Every key is null; there is nothing to look up.
                return Some(Box::new(|_, encoder| encoder.null()));
            }
            let keys: Arc<[usize]> = dictionary.normalized_keys().into();
            let values = cell(dictionary.values().as_ref())?;
            Box::new(move |row, encoder| values(keys[row], encoder))
        }
        _ => return None,
    })
}

fn integers<T>(array: &dyn Array) -> Cell<'_>
where
    T: ArrowPrimitiveType,
    T::Native: Into<i64>,
{
    let values = array.as_primitive::<T>();
    Box::new(move |row, encoder| encoder.integer(values.value(row).into()))
}

fn reals<T>(array: &dyn Array) -> Cell<'_>
where
    T: ArrowPrimitiveType,
    T::Native: Into<f64>,
{
    let values = array.as_primitive::<T>();
    Box::new(move |row, encoder| encoder.real(values.value(row).into()))
}

fn decimals<T>(array: &dyn Array, scale: i8) -> Cell<'_>
where
    T: ArrowPrimitiveType,
    T::Native: Into<i128>,
{
    let values = array.as_primitive::<T>();
    Box::new(move |row, encoder| encoder.decimal(values.value(row).into(), scale))
}

fn wide_decimals(array: &dyn Array, scale: i8) -> Cell<'_> {
    let values = array.as_primitive::<Decimal256Type>();
    Box::new(move |row, encoder| {
        let unscaled = values.value(row);
        if let Some(narrow) = unscaled.to_i128() {
            encoder.decimal(narrow, scale);
        } else {
            // A decimal of that many digits is a number whatever they are.
            encoder.decimal_text(&format!("{unscaled}e{}", -i32::from(scale)));
        }
    })
}
