//! The parts of the calling program in Rust that the one in Python uses: the same inputs, the same
//! answer.

use loadstone_clients::oo1::{Kind, Link, Measure, Part, Visits};
use loadstone_datasets::oo1::{Connection, NewPart};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

/// The inputs of an iteration of a measure: see `_core.pyi`.
#[pyfunction]
pub fn oo1_inputs<'py>(
    py: Python<'py>,
    parts: u64,
    seed: u64,
    locality: bool,
    measure: &str,
    iteration: u32,
) -> PyResult<Bound<'py, PyList>> {
    let database = super::database(parts, seed, locality)?;
    match Measure::named(measure).map_err(|error| super::failure(&error))? {
        Measure::Lookup | Measure::LookupBatch => PyList::new(py, database.lookup_ids(iteration)),
        Measure::Group => PyList::new(py, database.group_ids(iteration)),
        Measure::Traversal | Measure::Ordered | Measure::TraversalBatch => {
            PyList::new(py, [database.start(iteration)])
        }
        Measure::Reverse | Measure::ReverseBatch => {
            PyList::new(py, [database.reverse_start(iteration)])
        }
        Measure::Range => {
            let (first_s, end_s) = database.build_range(iteration);
            PyList::new(py, [first_s, end_s])
        }
        Measure::Reference => {
            let connections = database.reference_numbers(iteration).into_iter();
            let ends = connections.map(|number| {
                let connection = database.connection(number);
                (connection.from, connection.to)
            });
            PyList::new(py, ends.collect::<Vec<_>>())
        }
        Measure::Update => {
            let ids = database.update_ids(iteration).into_iter();
            PyList::new(py, ids.map(|id| (id, database.part(id).build_s)).collect::<Vec<_>>())
        }
        Measure::Insert => {
            let parts = database.new_parts(iteration);
            let rows = parts.iter().map(|new| new_part(py, new)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, rows)
        }
        Measure::Scan | Measure::Nothing | Measure::Empty | Measure::Constant => {
            Ok(PyList::empty(py))
        }
    }
}

/// (id, x, y, type, build, ((to, length, type), …)).
fn new_part<'py>(py: Python<'py>, new: &NewPart) -> PyResult<Bound<'py, PyTuple>> {
    let link = |to: &Connection| (to.to, to.length, Kind::of(to.kind).text().to_owned());
    let links = PyTuple::new(py, new.to.iter().map(link).collect::<Vec<_>>())?;
    let part = &new.part;
    (part.id, part.x, part.y, Kind::of(part.kind).text(), part.build_s, links).into_pyobject(py)
}

/// (count, checksum) of what a program saw, as `crates/clients` counts it.
#[pyfunction]
pub fn oo1_checksum(kind: &str, rows: &Bound<'_, PyAny>) -> PyResult<(u64, String)> {
    let add = match kind {
        "part" => add_part,
        "part-in-order" => add_part_in_order,
        "link" => add_link,
        "point" => add_point,
        _ => {
            let known = "part, part-in-order, link, point";
            return Err(PyValueError::new_err(format!("no kind {kind:?}; there is: {known}")));
        }
    };
    let mut visits = Visits::default();
    for row in rows.try_iter()? {
        add(&mut visits, &row?)?;
    }
    Ok((visits.count, format!("{:016x}", visits.checksum)))
}

fn add_part(visits: &mut Visits, row: &Bound<'_, PyAny>) -> PyResult<()> {
    visits.part(&part(row)?);
    Ok(())
}

fn add_part_in_order(visits: &mut Visits, row: &Bound<'_, PyAny>) -> PyResult<()> {
    visits.part_in_order(&part(row)?);
    Ok(())
}

fn add_link(visits: &mut Visits, row: &Bound<'_, PyAny>) -> PyResult<()> {
    let (from, to) = (number(row, 0)?, number(row, 1)?);
    visits.link(&Link { from, to, length: number(row, 2)?, kind: kind(row)? });
    Ok(())
}

fn add_point(visits: &mut Visits, row: &Bound<'_, PyAny>) -> PyResult<()> {
    visits.point(number(row, 0)?, number(row, 1)?);
    Ok(())
}

fn part(row: &Bound<'_, PyAny>) -> PyResult<Part> {
    Ok(Part { id: number(row, 0)?, x: number(row, 1)?, y: number(row, 2)?, kind: kind(row)? })
}

/// Rows are tuples or lists, as the engine gives them.
fn number<'py, T>(row: &Bound<'py, PyAny>, place: usize) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    row.get_item(place)?.extract()
}

/// The type, which stands fourth in parts and in connections.
fn kind(row: &Bound<'_, PyAny>) -> PyResult<Kind> {
    let value = row.get_item(3)?;
    let text = value.cast::<PyString>()?.to_str()?;
    Kind::from_text(text.as_bytes())
        .ok_or_else(|| PyValueError::new_err(format!("{text:?} is not a type of OO1")))
}
