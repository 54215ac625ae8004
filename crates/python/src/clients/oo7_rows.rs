//! The parts of OO7's program in Rust that the one in Python uses: the same rows, the same answer.

use loadstone_clients::oo7::{
    Assembly, Contents, Kind, Letters, Object, Part, Stored, TABLES, Value, Visits, owners, rows_of,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(oo7_rows, module)?)?;
    module.add_function(wrap_pyfunction!(oo7_checksum, module)?)
}

fn relation(name: &str) -> Option<Stored> {
    TABLES.iter().find(|(_, table, _)| *table == name).map(|&(stored, _, _)| stored)
}

/// Rows of a relation: see `_core.pyi`.
#[pyfunction]
#[pyo3(signature = (parts, fan_out, seed, relation, owner=None))]
fn oo7_rows<'py>(
    py: Python<'py>,
    parts: u64,
    fan_out: u32,
    seed: u64,
    relation: &str,
    owner: Option<u32>,
) -> PyResult<Bound<'py, PyList>> {
    let database = super::oo7::database(parts, fan_out, seed)?;
    let stored = self::relation(relation).ok_or_else(|| no_kind(relation))?;
    let mut draws = database.draws();
    let rows = PyList::empty(py);
    let mut refused = Ok(());
    let all = owner.map_or(1..=owners(&database, stored), |owner| owner..=owner);
    for owner in all {
        let of = rows_of(&database, &mut draws, (stored, owner), &mut |row| {
            if refused.is_ok() {
                refused = tuple(py, row).and_then(|row| rows.append(row));
            }
            Ok(())
        });
        of.map_err(|error| super::failure(&error))?;
    }
    refused.map(|()| rows)
}

fn tuple<'py>(py: Python<'py>, row: &[Value<'_>]) -> PyResult<Bound<'py, PyTuple>> {
    let value = |value: &Value<'_>| {
        Ok(match *value {
            Value::Id(id) => id.into_pyobject(py)?.into_any(),
            Value::Number(number) => number.into_pyobject(py)?.into_any(),
            Value::Text(text) => PyString::new(py, text).into_any(),
            Value::Ids(ids) => PyList::new(py, ids)?.into_any(),
        })
    };
    PyTuple::new(py, row.iter().map(value).collect::<PyResult<Vec<_>>>()?)
}

fn no_kind(kind: &str) -> PyErr {
    let seen = "part, complex, base, pair, letters, ends";
    let stored = TABLES.map(|(_, table, _)| table).join(", ");
    PyValueError::new_err(format!("no kind {kind:?}; there is: {seen}, {stored}"))
}

/// (count, checksum) of what a program saw, or found stored, as `crates/clients` counts it.
#[pyfunction]
fn oo7_checksum(kind: &str, rows: &Bound<'_, PyAny>) -> PyResult<(u64, String)> {
    let mut seen = Visits::default();
    let mut contents = Contents::default();
    let stored = relation(kind);
    for row in rows.try_iter()? {
        let row = row?;
        match stored {
            Some(stored) => add_stored(&mut contents, stored, &row)?,
            None => add_seen(&mut seen, kind, &row)?,
        }
    }
    let Visits { count, checksum } = if stored.is_some() { *contents.visits() } else { seen };
    Ok((count, format!("{checksum:016x}")))
}

fn add_seen(visits: &mut Visits, kind: &str, row: &Bound<'_, PyAny>) -> PyResult<()> {
    match kind {
        "part" => visits.part(&part(row)?),
        "complex" | "base" => {
            visits.assembly(&Assembly { object: object(row)?, is_base: kind == "base" });
        }
        "pair" => visits.pair(number(row, 0)?, text(row, 1)?.to_str()?.as_bytes()),
        "letters" => visits.letters(number(row, 0)?, number(row, 1)?),
        "ends" => {
            let end =
                |place| Ok::<_, PyErr>(text(row, place)?.to_str()?.as_bytes().first().copied());
            visits.ends(end(0)?, end(1)?);
        }
        _ => return Err(no_kind(kind)),
    }
    Ok(())
}

fn add_stored(contents: &mut Contents, stored: Stored, row: &Bound<'_, PyAny>) -> PyResult<()> {
    match stored {
        Stored::Module => contents.module(&object(row)?, number(row, 3)?),
        Stored::Manual => {
            let (title, letters) = (text(row, 1)?, text(row, 3)?);
            let letters = Letters::default().and(letters.to_str()?.as_bytes());
            contents.manual(number(row, 0)?, title.to_str()?.as_bytes(), letters);
        }
        Stored::Complex | Stored::Base => {
            let assembly = Assembly { object: object(row)?, is_base: stored == Stored::Base };
            contents.assembly(&assembly, number(row, 3)?, number(row, 4)?);
        }
        Stored::Private | Stored::Shared => {
            contents.component(number(row, 0)?, number(row, 1)?, stored == Stored::Private);
        }
        Stored::Composite => contents.composite(&object(row)?, number(row, 3)?),
        Stored::Document => {
            let (title, letters) = (text(row, 1)?, text(row, 3)?);
            let letters = Letters::default().and(letters.to_str()?.as_bytes());
            contents.document(number(row, 2)?, title.to_str()?.as_bytes(), letters);
        }
        Stored::Part => contents.part(&part(row)?, number(row, 6)?),
        Stored::Connection => {
            let (from, to) = (number(row, 0)?, number(row, 1)?);
            contents.connection(from, to, kind(row, 2)?, number(row, 3)?);
        }
    }
    Ok(())
}

fn object(row: &Bound<'_, PyAny>) -> PyResult<Object> {
    Ok(Object { id: number(row, 0)?, kind: kind(row, 1)?, build_date: number(row, 2)? })
}

fn part(row: &Bound<'_, PyAny>) -> PyResult<Part> {
    let (x, y) = (number(row, 3)?, number(row, 4)?);
    Ok(Part { object: object(row)?, x, y, document: number(row, 5)? })
}

/// Rows are tuples or lists, as the engine gives them.
fn number<'py, T>(row: &Bound<'py, PyAny>, place: usize) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    row.get_item(place)?.extract()
}

fn text<'py>(row: &Bound<'py, PyAny>, place: usize) -> PyResult<Bound<'py, PyString>> {
    Ok(row.get_item(place)?.cast_into::<PyString>()?)
}

fn kind(row: &Bound<'_, PyAny>, place: usize) -> PyResult<Kind> {
    let value = text(row, place)?;
    Kind::read("python", value.to_str()?.as_bytes()).map_err(|error| super::failure(&error))
}
