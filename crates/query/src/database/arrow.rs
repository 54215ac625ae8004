//! Tuples as Arrow record batches, and back.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type};
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field as Column, Schema, SchemaRef};
use loadstone_quel::schema::Kind;

use crate::error::{QueryError, Result};
use crate::tuple::{Field, Layout, Value, read, width};

/// The schema of tuples: integers and reals of their widths, texts as Utf8.
pub fn schema_of(layout: &Layout) -> SchemaRef {
    let column =
        |field: &Field| Column::new(&field.name, type_of(field.kind), field.null_at.is_some());
    Arc::new(Schema::new(layout.fields.iter().map(column).collect::<Vec<_>>()))
}

fn type_of(kind: Kind) -> DataType {
    match kind {
        Kind::Integer { bytes: 1 } => DataType::Int8,
        Kind::Integer { bytes: 2 } => DataType::Int16,
        Kind::Integer { bytes: 4 } => DataType::Int32,
        Kind::Integer { .. } => DataType::Int64,
        Kind::Real { bytes: 4 } => DataType::Float32,
        Kind::Real { .. } => DataType::Float64,
        Kind::Text { .. } => DataType::Utf8,
    }
}

/// Tuples, which lie one behind the other, as a batch. Texts lose their trailing blanks.
///
/// # Errors
///
/// A text that is not UTF-8.
pub fn batch_of(
    schema: &SchemaRef,
    layout: &Layout,
    tuples: &[u8],
) -> Result<RecordBatch, ArrowError> {
    let columns = layout.fields.iter().map(|field| match field.kind {
        Kind::Integer { bytes: 1 } => {
            Ok(numbers::<Int8Type, 1>(field, layout, tuples, |b| b[0] as i8))
        }
        Kind::Integer { bytes: 2 } => {
            Ok(numbers::<Int16Type, 2>(field, layout, tuples, i16::from_le_bytes))
        }
        Kind::Integer { bytes: 4 } => {
            Ok(numbers::<Int32Type, 4>(field, layout, tuples, i32::from_le_bytes))
        }
        Kind::Integer { .. } => {
            Ok(numbers::<Int64Type, 8>(field, layout, tuples, i64::from_le_bytes))
        }
        Kind::Real { bytes: 4 } => {
            Ok(numbers::<Float32Type, 4>(field, layout, tuples, f32::from_le_bytes))
        }
        Kind::Real { .. } => {
            Ok(numbers::<Float64Type, 8>(field, layout, tuples, f64::from_le_bytes))
        }
        Kind::Text { .. } => texts(field, layout, tuples),
    });
    RecordBatch::try_new(Arc::clone(schema), columns.collect::<Result<_, _>>()?)
}

fn numbers<T: ArrowPrimitiveType, const BYTES: usize>(
    field: &Field,
    layout: &Layout,
    tuples: &[u8],
    from: impl Fn([u8; BYTES]) -> T::Native,
) -> ArrayRef {
    let rows = tuples.chunks_exact(layout.bytes);
    let value = |tuple: &[u8]| {
        let bytes = &tuple[field.offset..field.offset + BYTES];
        from(bytes.try_into().expect("a field has the bytes of its kind"))
    };
    match field.null_at {
        None => Arc::new(PrimitiveArray::<T>::from_iter_values(rows.map(value))),
        Some(null_at) => {
            let nullable = rows.map(|tuple| (tuple[null_at] == 0).then(|| value(tuple)));
            Arc::new(nullable.collect::<PrimitiveArray<T>>())
        }
    }
}

fn texts(field: &Field, layout: &Layout, tuples: &[u8]) -> Result<ArrayRef, ArrowError> {
    let count = tuples.len() / layout.bytes;
    let mut texts = StringBuilder::with_capacity(count, count * width(field.kind).min(64));
    for tuple in tuples.chunks_exact(layout.bytes) {
        match read(tuple, field) {
            Value::Text(text) => {
                let text = std::str::from_utf8(crate::tuple::trimmed(text));
                texts.append_value(text.map_err(|error| {
                    ArrowError::InvalidArgumentError(format!(
                        "a text of `{}` is not valid UTF-8: {error}",
                        field.name
                    ))
                })?);
            }
            _ => texts.append_null(),
        }
    }
    Ok(Arc::new(texts.finish()))
}

/// The rows of a batch as tuples, one behind the other. Columns are taken by their positions.
///
/// # Errors
///
/// [`QueryError::Input`] for a batch of other columns, a null, and a value that does not fit.
pub fn tuples_of(layout: &Layout, batch: &RecordBatch) -> Result<Vec<u8>> {
    let (given, wanted) = (batch.num_columns(), layout.fields.len());
    if given != wanted {
        let what = format!("the rows have {given} columns, and the relation {wanted} attributes");
        return Err(QueryError::Input { what });
    }
    let mut tuples = vec![0; layout.bytes * batch.num_rows()];
    for (field, column) in layout.fields.iter().zip(batch.columns()) {
        if column.null_count() > 0 {
            let what = format!("`{}` cannot hold a null", field.name);
            return Err(QueryError::Input { what });
        }
        put_column(&mut tuples, layout, field, column)?;
    }
    Ok(tuples)
}

fn put_column(tuples: &mut [u8], layout: &Layout, field: &Field, column: &dyn Array) -> Result<()> {
    let places = || Places { bytes: layout.bytes, field };
    match (column.data_type(), field.kind) {
        (DataType::Int8, Kind::Integer { .. }) => places().integers::<Int8Type>(tuples, column),
        (DataType::Int16, Kind::Integer { .. }) => places().integers::<Int16Type>(tuples, column),
        (DataType::Int32, Kind::Integer { .. }) => places().integers::<Int32Type>(tuples, column),
        (DataType::Int64, Kind::Integer { .. }) => places().integers::<Int64Type>(tuples, column),
        (DataType::Float32, Kind::Real { .. }) => {
            places().reals(tuples, column.as_primitive::<Float32Type>().iter().map(widened))
        }
        (DataType::Float64, Kind::Real { .. }) => {
            places().reals(tuples, column.as_primitive::<Float64Type>().iter().flatten())
        }
        (DataType::Utf8, Kind::Text { .. }) => {
            places().texts(tuples, column.as_string::<i32>().iter())
        }
        (DataType::LargeUtf8, Kind::Text { .. }) => {
            places().texts(tuples, column.as_string::<i64>().iter())
        }
        (DataType::Utf8View, Kind::Text { .. }) => {
            places().texts(tuples, column.as_string_view().iter())
        }
        (found, _) => {
            let wanted = type_of(field.kind);
            let what = format!("`{}` takes {wanted}, and the column has {found}", field.name);
            Err(QueryError::Input { what })
        }
    }
}

fn widened(value: Option<f32>) -> f64 {
    value.unwrap_or_default().into()
}

/// The place where the values of one attribute go.
struct Places<'a> {
    /// Of a tuple.
    bytes: usize,
    field: &'a Field,
}

impl Places<'_> {
    fn each<'t>(&self, tuples: &'t mut [u8]) -> impl Iterator<Item = &'t mut [u8]> {
        let (from, to) = (self.field.offset, self.field.offset + width(self.field.kind));
        tuples.chunks_exact_mut(self.bytes).map(move |tuple| &mut tuple[from..to])
    }

    fn integers<T>(&self, tuples: &mut [u8], column: &dyn Array) -> Result<()>
    where
        T: ArrowPrimitiveType,
        T::Native: Into<i64>,
    {
        let bytes = width(self.field.kind);
        let (low, high) = (i64::MIN >> (64 - 8 * bytes), i64::MAX >> (64 - 8 * bytes));
        for (place, value) in self.each(tuples).zip(column.as_primitive::<T>().values()) {
            let value: i64 = (*value).into();
            if value < low || value > high {
                return Err(self.unfit(&value.to_string()));
            }
            place.copy_from_slice(&value.to_le_bytes()[..bytes]);
        }
        Ok(())
    }

    fn reals(&self, tuples: &mut [u8], values: impl Iterator<Item = f64>) -> Result<()> {
        let is_short = width(self.field.kind) == 4;
        for (place, value) in self.each(tuples).zip(values) {
            let is_finite = if is_short { (value as f32).is_finite() } else { value.is_finite() };
            if !is_finite {
                return Err(self.unfit(&value.to_string()));
            }
            if is_short {
                place.copy_from_slice(&(value as f32).to_le_bytes());
            } else {
                place.copy_from_slice(&value.to_le_bytes());
            }
        }
        Ok(())
    }

    fn texts<'t>(
        &self,
        tuples: &mut [u8],
        values: impl Iterator<Item = Option<&'t str>>,
    ) -> Result<()> {
        for (place, value) in self.each(tuples).zip(values) {
            let text = crate::tuple::trimmed(value.unwrap_or_default().as_bytes());
            if text.len() > place.len() {
                return Err(self.unfit(&format!("a text of {} bytes", text.len())));
            }
            place[..text.len()].copy_from_slice(text);
            place[text.len()..].fill(b' ');
        }
        Ok(())
    }

    #[cold]
    fn unfit(&self, value: &str) -> QueryError {
        let (name, bytes) = (&self.field.name, width(self.field.kind));
        QueryError::Input { what: format!("{value} does not fit into `{name}`: {bytes} bytes") }
    }
}
