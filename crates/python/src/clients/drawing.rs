//! Values drawn for each request of a user's, for Python.

use loadstone_clients::statements::drawing::{
    Draw, DrawError, Drawing as Drawn, Shape, Template, Value, Zipf, values,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Kind, start, numbers, exponent, words: see `_core.pyi`.
type Given = (String, u64, Vec<i64>, f64, Vec<String>);
/// Weight, draws, the literals of each, and each text's pieces and places.
type GivenShape = (u64, Vec<Given>, Vec<Vec<String>>, Vec<(Vec<String>, Vec<usize>)>);

/// Requests that are drawn by their numbers. See `_core.pyi`.
#[pyclass(frozen, module = "loadstone._core")]
pub struct Drawing(pub Drawn);

#[pymethods]
impl Drawing {
    #[new]
    fn new(start: u64, shapes: Vec<GivenShape>) -> PyResult<Self> {
        let shapes = shapes.into_iter().map(shape).collect::<PyResult<Vec<_>>>()?;
        let drawn = Drawn::new(start, shapes);
        drawn.map(Self).ok_or_else(|| PyValueError::new_err("a drawing lacks values or places"))
    }

    fn texts(&self, number: u64) -> PyResult<(usize, Vec<String>)> {
        let texts = self.0.texts(number).map_err(|error| refused(&error))?;
        Ok((self.0.shape(number), texts))
    }
}

/// The values of a request's draws.
#[pyfunction]
pub fn drawn_values(
    py: Python<'_>,
    draws: Vec<Given>,
    first: u64,
    count: u64,
) -> PyResult<Vec<Vec<Py<PyAny>>>> {
    let draws = read(draws)?;
    let numbers = first..first + count;
    let each = numbers.map(|number| {
        let found = values(&draws, number).map_err(|error| refused(&error))?;
        found
            .into_iter()
            .zip(&draws)
            .map(|(value, draw)| match (draw.text(number), value) {
                (Some(text), _) => Ok(text.into_pyobject(py)?.into_any().unbind()),
                (None, Value::Null) => Ok(py.None()),
                (None, Value::Bool(is_true)) => {
                    Ok(is_true.into_pyobject(py)?.to_owned().into_any().unbind())
                }
                (None, Value::Whole(whole)) => Ok(whole.into_pyobject(py)?.into_any().unbind()),
                (None, Value::Real(real)) => Ok(real.into_pyobject(py)?.into_any().unbind()),
            })
            .collect::<PyResult<Vec<_>>>()
    });
    each.collect()
}

fn shape((weight, draws, literals, texts): GivenShape) -> PyResult<Shape> {
    let template = |(pieces, places)| {
        Template::new(pieces, places)
            .ok_or_else(|| PyValueError::new_err("one more piece than there are places"))
    };
    let texts = texts.into_iter().map(template).collect::<PyResult<_>>()?;
    Ok(Shape { weight, draws: read(draws)?, literals, texts })
}

fn read(draws: Vec<Given>) -> PyResult<Vec<Draw>> {
    let mut found = Vec::new();
    for (kind, start, numbers, exponent, words) in draws {
        let draw = match (kind.as_str(), &numbers[..]) {
            ("uniform", &[low, high]) if low <= high => Draw::Uniform { start, low, high },
            ("zipf", &[low, high]) if low <= high => {
                Draw::Zipf { start, of: Zipf::cached(low, high, exponent) }
            }
            ("sequence", &[first, step]) => Draw::Sequence { first, step },
            ("place", &[count]) if count > 0 => Draw::Place { start, count: count as u64 },
            ("pattern", []) if words.len() == 1 => Draw::Pattern { start, text: words[0].clone() },
            ("within", &[place]) if (0..found.len() as i64).contains(&place) => {
                Draw::Within { place: place as usize }
            }
            ("program", []) => {
                Draw::program(start, &words, found.len()).map_err(|error| refused(&error))?
            }
            _ => return Err(PyValueError::new_err(format!("{kind} is not drawn in this way"))),
        };
        found.push(draw);
    }
    Ok(found)
}

fn refused(error: &DrawError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
