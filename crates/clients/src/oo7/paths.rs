//! The operations of several users: a random way from the root to a base assembly, T1 of its
//! components, and T2b of some of them in the same transaction.

use crate::clocked;
use crate::error::ClientError;
use crate::oo7::asked::{Asked, MODULE};
use crate::oo7::driver::Driver;
use crate::oo7::measure::{Components, Visit};
use crate::oo7::objects::Part;
use crate::oo7::traversal::{Visited, Walk};
use crate::oo7::updates::{self, Done};
use crate::oo7::visits::Visits;
use crate::outcome::Outcome;

/// Run one once. What it wrote is taken back before it returns.
pub fn run<C: Driver>(asked: &mut Asked<'_, C>, visit: Visit) -> Result<Outcome, ClientError> {
    let path = asked.database.path(asked.iteration);
    let Some(changes) = visit.changes else {
        let (done, read) = clocked::reading(asked.driver, asked.meter, |driver| {
            execute(driver, &path, visit, &mut |_| {})
        })?;
        let Visits { count, checksum } = done.visits;
        return Ok(Outcome { visits: count, checksum, calls: done.calls, ..read });
    };
    updates::writing(
        asked,
        |driver| execute(driver, &path, visit, &mut |_| {}),
        // A swap is its own inverse.
        |driver| {
            let mut walk = Walk::new(driver);
            let base = base_at(&mut walk, &path)?;
            change(&mut walk, base, changes, &mut Done::default())
        },
    )
}

/// Within a transaction; `see` is shown each atomic part that T1 comes to.
pub fn execute<C: Driver>(
    driver: &mut C,
    path: &[u32],
    visit: Visit,
    see: &mut impl FnMut(&Part),
) -> Result<Done, ClientError> {
    let mut done = Done::default();
    let mut walk = Walk::new(driver);
    let base = base_at(&mut walk, path)?;
    for &components in visit.reads {
        each(&mut walk, base, components, &mut |_, it| {
            done.visits.part(&it.part);
            see(&it.part);
            Ok(())
        })?;
    }
    if let Some(components) = visit.changes {
        change(&mut walk, base, components, &mut done)?;
    }
    done.calls = walk.calls;
    Ok(done)
}

/// T2b of a base assembly's components.
fn change<C: Driver>(
    walk: &mut Walk<'_, C>,
    base: C::Base,
    components: Components,
    done: &mut Done,
) -> Result<(), ClientError> {
    each(walk, base, components, &mut |walk, it| {
        done.visits.part(&it.part);
        walk.driver.swap(it.handle)?;
        walk.calls += 1;
        done.updates += 1;
        Ok(())
    })
}

/// The base assembly at the end of a way, by the child to go on to at each complex one.
fn base_at<C: Driver>(walk: &mut Walk<'_, C>, path: &[u32]) -> Result<C::Base, ClientError> {
    let mut here = walk.driver.design_root(MODULE)?;
    walk.calls += 1;
    let (mut complex, mut bases) = (Vec::new(), Vec::new());
    for &child in path {
        complex.clear();
        walk.driver.subassemblies(here, &mut complex, &mut bases)?;
        walk.calls += 1;
        let found = (complex.get(child as usize), bases.get(child as usize));
        match found {
            (Some(&next), _) => here = next,
            (None, Some(&base)) => return Ok(base),
            (None, None) => break,
        }
    }
    let what = "a tree that ends before its base assemblies".to_owned();
    Err(ClientError::Malformed { engine: C::ENGINE, what })
}

/// Each atomic part of the graphs of a base assembly's components of a kind.
fn each<C: Driver>(
    walk: &mut Walk<'_, C>,
    base: C::Base,
    components: Components,
    at: &mut impl FnMut(&mut Walk<'_, C>, &Visited<C::Part>) -> Result<(), ClientError>,
) -> Result<(), ClientError> {
    let mut composites = Vec::new();
    match components {
        Components::Private => walk.driver.components(base, &mut composites)?,
        Components::Shared => walk.driver.shared_components(base, &mut composites)?,
    }
    walk.calls += 1;
    composites.into_iter().try_for_each(|composite| walk.graph(composite, at))
}
