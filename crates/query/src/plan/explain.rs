//! A plan as text, for people and for the lab's record of plans.

use std::fmt::Write;

use loadstone_quel::tree::BinaryOperator;

use super::{Access, Pack, Pipeline, Plan, Purpose, Side, Sink, Source, Step};
use crate::counters::Counts;
use crate::expression::Expr;

impl Plan {
    /// The plan as text: a line for each source, step and sink, with the rows that are expected to
    /// reach the sink. Where it has run, the rows that were counted stand beside: those that came
    /// from each source and step, and those that reached the sink.
    pub fn explain(&self, counted: Option<&Counts>) -> String {
        let mut text = String::new();
        for (number, pipeline) in self.pipelines.iter().enumerate() {
            let counted = counted.map(|counts| Counted {
                steps: counts.steps.get(number).map_or(&[], Vec::as_slice),
                rows: counts.pipelines.get(number).copied(),
                threads: counts.threads.get(number).map_or(&[], Vec::as_slice),
            });
            explain_pipeline(&mut text, number, pipeline, counted.unwrap_or_default());
            if self.threads > 1 {
                self.explain_threads(&mut text, number, counted.unwrap_or_default());
            }
        }
        text
    }

    /// The number of threads that a pipeline may have, or why it has one; and what each of them
    /// took.
    fn explain_threads(&self, text: &mut String, number: usize, counted: Counted<'_>) {
        let indent = " ".repeat(format!("{}. ", number + 1).len());
        // Writing to a String cannot fail.
        _ = match self.why_alone(number) {
            Some(why) => write!(text, "{indent}one thread, because {why}"),
            None => write!(text, "{indent}up to {} threads", self.threads),
        };
        match counted.threads {
            [] => {}
            [_] if self.why_alone(number).is_some() => {}
            [tuples] => _ = write!(text, " (counted 1, of {tuples} tuples)"),
            several => {
                let tuples: Vec<_> = several.iter().map(u64::to_string).collect();
                _ = write!(
                    text,
                    " (counted {}, of {} tuples)",
                    several.len(),
                    tuples.join(" and ")
                );
            }
        }
        text.push('\n');
    }

    /// The storage structures by which the plan reaches stored relations, in the order of their
    /// first use: `heap` for a scan, `clustered`, `hash`, `nonclustered`.
    pub fn access_paths(&self) -> Vec<&'static str> {
        let mut paths = Vec::new();
        let sources = self.pipelines.iter().flat_map(|pipeline| {
            let looped = pipeline.steps.iter().filter_map(|step| match step {
                Step::Loop(source) => Some(source),
                _ => None,
            });
            std::iter::once(&pipeline.source).chain(looped)
        });
        for source in sources {
            let source = match source {
                Source::First { source, .. } => source,
                other => other,
            };
            let path = match source {
                Source::Scan { .. } => "heap",
                Source::Range { access, .. }
                | Source::Lookup { access, .. }
                | Source::End { access, .. } => access.structure(),
                Source::Once
                | Source::Temporary { .. }
                | Source::Groups { .. }
                | Source::First { .. }
                | Source::Merge { .. } => continue,
            };
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }
}

impl Access {
    /// The attribute's position.
    pub fn attribute(&self) -> usize {
        match self {
            Self::Clustered { attribute }
            | Self::Hashed { attribute }
            | Self::Index { attribute } => *attribute,
        }
    }

    /// The lab's name for it.
    fn structure(&self) -> &'static str {
        match self {
            Self::Clustered { .. } => "clustered",
            Self::Hashed { .. } => "hash",
            Self::Index { .. } => "nonclustered",
        }
    }
}

impl Side {
    fn word(self) -> &'static str {
        match self {
            Self::Least => "least",
            Self::Greatest => "greatest",
        }
    }
}

/// The counts of one pipeline.
#[derive(Clone, Copy, Default)]
struct Counted<'a> {
    /// From the source, then from each step; empty if not counted.
    steps: &'a [u64],
    /// That reached the sink.
    rows: Option<u64>,
    /// The tuples that each thread took.
    threads: &'a [u64],
}

fn explain_pipeline(text: &mut String, number: usize, pipeline: &Pipeline, counted: Counted<'_>) {
    let head = format!("{}. ", number + 1);
    let indent = " ".repeat(head.len());
    let purpose = match pipeline.purpose {
        Purpose::Plain => "",
        Purpose::Detachment => "detach: ",
        Purpose::Reformatting => "reformat: ",
        Purpose::Substitution => "substitute: ",
    };
    let first = format!("{purpose}{}", source(&pipeline.source, pipeline));
    let steps = pipeline.steps.iter().map(|one| step(one, pipeline));
    let lines = std::iter::once(first).chain(steps);
    for (at, line) in lines.enumerate() {
        text.push_str(if at == 0 { &head } else { &indent });
        text.push_str(&line);
        if let Some(rows) = counted.steps.get(at) {
            // Writing to a String cannot fail.
            _ = write!(text, " (counted {rows})");
        }
        text.push('\n');
    }
    let estimated = pipeline.rows_estimated.max(0.0);
    _ = write!(text, "{indent}{} (about {estimated:.0} rows", sink(&pipeline.sink));
    if let Some(rows) = counted.rows {
        _ = write!(text, ", counted {rows}");
    }
    text.push_str(")\n");
}

/// The letter of a slot.
fn letter(slot: usize) -> String {
    match u8::try_from(slot) {
        Ok(slot @ 0..26) => char::from(b'a' + slot).to_string(),
        _ => format!("s{slot}"),
    }
}

fn source(one: &Source, pipeline: &Pipeline) -> String {
    match one {
        Source::Once => "once".to_owned(),
        Source::Scan { relation, slot, qualification } => {
            let filtered = qualification.as_ref().map(|one| format!(" where {}", expr(one)));
            format!("scan {} is {relation}{}", letter(*slot), filtered.unwrap_or_default())
        }
        Source::Range { relation, slot, access, low, high } => {
            let name = &pipeline.slots[*slot].fields[access.attribute()].name;
            let side = |bound: &Option<(Expr, bool)>, open: &str, closed: &str| {
                bound.as_ref().map(|(key, is_included)| {
                    let sign = if *is_included { closed } else { open };
                    format!("{name} {sign} {}", expr(key))
                })
            };
            let bounds: Vec<String> =
                side(low, ">", ">=").into_iter().chain(side(high, "<", "<=")).collect();
            // Without a bound it is read for its order.
            let bounds = if bounds.is_empty() { name.clone() } else { bounds.join(" and ") };
            let structure = access.structure();
            format!("range {} is {relation} by {structure} {bounds}", letter(*slot))
        }
        Source::Lookup { relation, slot, access, key } => {
            let name = &pipeline.slots[*slot].fields[access.attribute()].name;
            let structure = access.structure();
            format!("look-up {} is {relation} by {structure} {name} = {}", letter(*slot), expr(key))
        }
        Source::End { relation, slot, access, side } => {
            let name = &pipeline.slots[*slot].fields[access.attribute()].name;
            let (side, structure) = (side.word(), access.structure());
            format!("{side} {} is {relation} by {structure} {name}", letter(*slot))
        }
        Source::Temporary { temporary, slot } => {
            format!("scan {} is temporary {temporary}", letter(*slot))
        }
        Source::Groups { aggregation, slot } => {
            format!("partitions {} of aggregation {aggregation}", letter(*slot))
        }
        Source::First { source: inner, condition } => {
            let condition = condition.as_ref().map(|one| format!(" where {}", expr(one)));
            format!("first of {}{}", source(inner, pipeline), condition.unwrap_or_default())
        }
        Source::Merge { left, right, left_key, right_key } => {
            let keys = |slot: usize, key: &[usize]| {
                let fields = key.iter().map(|&field| &pipeline.slots[slot].fields[field].name);
                fields.map(|name| format!("{}.{name}", letter(slot))).collect::<Vec<_>>().join(", ")
            };
            let (left_key, right_key) = (keys(0, left_key), keys(1, right_key));
            let right = format!("b is temporary {right} by {right_key}");
            format!("merge a is temporary {left} by {left_key} with {right}")
        }
    }
}

fn step(step: &Step, pipeline: &Pipeline) -> String {
    match step {
        Step::Filter(condition) => format!("where {}", expr(condition)),
        Step::Loop(inner) => format!("loop {}", source(inner, pipeline)),
        Step::Probe { table, slot, keys } => {
            format!("probe {} is table {table} by {}", letter(*slot), list(keys))
        }
        Step::ProbeGroups { aggregation, slot, keys } => {
            format!("probe {} is aggregation {aggregation} by {}", letter(*slot), list(keys))
        }
        Step::Distinct { pack, slot } => {
            format!("distinct {} is ({})", letter(*slot), list(&pack.values))
        }
    }
}

fn sink(sink: &Sink) -> String {
    match sink {
        Sink::Rows(pack) => format!("rows ({})", values(pack)),
        Sink::Store { relation, pack } => format!("store {relation} ({})", values(pack)),
        Sink::Append { relation, pack } => format!("append {relation} ({})", values(pack)),
        Sink::Replace { relation, pack, changed, .. } => {
            let changed = changed.iter().map(|&column| {
                format!("{} = {}", pack.layout.fields[column].name, expr(&pack.values[column]))
            });
            format!("replace {relation} ({})", changed.collect::<Vec<_>>().join(", "))
        }
        Sink::Delete { relation, .. } => format!("delete {relation}"),
        Sink::Build { table, pack, key } => {
            let key = list_of(key.iter().map(|&field| &pack.values[field]));
            format!("build table {table} by {key} ({})", values(pack))
        }
        Sink::Materialise { temporary, pack } => {
            format!("keep temporary {temporary} ({})", values(pack))
        }
        Sink::Sort { temporary, pack, key, unique } => {
            let key = list_of(key.iter().map(|&field| &pack.values[field]));
            let unique = if *unique { " unique" } else { "" };
            format!("sort{unique} temporary {temporary} by {key} ({})", values(pack))
        }
        Sink::Aggregate { aggregation, by, updates } => {
            let updates = updates.iter().map(|update| {
                let condition =
                    update.condition.as_ref().map(|one| format!(" where {}", expr(one)));
                format!("{}{}", expr(&update.argument), condition.unwrap_or_default())
            });
            let updates = updates.collect::<Vec<_>>().join(", ");
            let by = if by.is_empty() { String::new() } else { format!(" by {}", list(by)) };
            format!("aggregation {aggregation}{by} ({updates})")
        }
    }
}

/// So many values of one slot, one after another, are shown as a number.
const RUN_SHOWN_MAX: usize = 7;

/// The values of a tuple.
fn values(pack: &Pack) -> String {
    let slot = |value: &Expr| match value {
        Expr::Column { slot, .. } => Some(*slot),
        _ => None,
    };
    let runs = pack.values.chunk_by(|one, next| slot(one).is_some() && slot(one) == slot(next));
    let runs = runs.map(|run| match slot(&run[0]) {
        Some(slot) if run.len() > RUN_SHOWN_MAX => format!("{} of {}", run.len(), letter(slot)),
        _ => list(run),
    });
    runs.collect::<Vec<_>>().join(", ")
}

fn list(exprs: &[Expr]) -> String {
    list_of(exprs.iter())
}

fn list_of<'e>(exprs: impl Iterator<Item = &'e Expr>) -> String {
    exprs.map(expr).collect::<Vec<_>>().join(", ")
}

/// An expression as text; operands that are no single word stand in parentheses.
fn expr(one: &Expr) -> String {
    match one {
        Expr::Integer(value) => value.to_string(),
        Expr::Real(value) => format!("{value:?}"),
        Expr::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
        Expr::Parameter { number, .. } => format!("${}", number + 1),
        Expr::Column { slot, field } => format!("{}.{}", letter(*slot), field.name),
        Expr::Scalar { aggregation, field } => format!("aggregation {aggregation}.{}", field.name),
        Expr::RecordId { slot } => format!("{}.record id", letter(*slot)),
        Expr::Not(operand) => format!("not {}", operand_of(operand)),
        Expr::And(parts) => parts.iter().map(operand_of).collect::<Vec<_>>().join(" and "),
        Expr::Or(parts) => parts.iter().map(operand_of).collect::<Vec<_>>().join(" or "),
        Expr::Compare { operator, left, right }
        | Expr::Arithmetic { operator, left, right, .. } => two(*operator, left, right),
        Expr::Match { text, pattern, negated } => {
            let sign = if *negated { "!=" } else { "=" };
            format!("{} {sign} {pattern}", operand_of(text))
        }
        Expr::Negate { operand, .. } => format!("-{}", operand_of(operand)),
        Expr::Call { function, argument, .. } => {
            format!("{}({})", format!("{function:?}").to_lowercase(), expr(argument))
        }
    }
}

fn two(operator: BinaryOperator, left: &Expr, right: &Expr) -> String {
    format!("{} {} {}", operand_of(left), operator.text(), operand_of(right))
}

fn operand_of(one: &Expr) -> String {
    match one {
        Expr::Compare { .. }
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Not(_)
        | Expr::Arithmetic { .. }
        | Expr::Match { .. } => format!("({})", expr(one)),
        _ => expr(one),
    }
}
