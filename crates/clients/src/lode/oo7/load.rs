//! Filling a volume: first every object is given its place, then every reference is known.

use loadstone_datasets::oo7::{Database, texts, tree};
use lode::internals::btree::Btree;
use lode::internals::catalog::{Entry, FileKind};
use lode::internals::hash::Hash;
use lode::internals::objects::{Objects, Reference};

use super::files::{Class, Files, NAMES, date_key, title_key};
use super::writing::{fill, own_parts, placed};
use crate::lode::failure::Result;
use crate::lode::loading::{Loading, Places};
use crate::oo7::Object;
use crate::oo7::record::{self, REFERENCES};

/// The fill of leaves: updates put entries between those that are there.
const FILL_PERCENT: u8 = 90;

/// The place where the objects of the tree, and the composite parts, lie.
struct Placed {
    complex: Vec<Reference>,
    bases: Vec<Reference>,
    composites: Vec<Reference>,
    /// Base assemblies that use each composite part, privately and shared.
    users: Vec<[Vec<u64>; 2]>,
    documents: Vec<Reference>,
    parts: Places,
}

/// Make the files in an empty database, and fill them.
pub fn load(loading: &mut Loading<'_>, database: &Database) -> Result<Files> {
    let mut entries = Vec::with_capacity(NAMES.len());
    for (place, name) in NAMES.into_iter().enumerate() {
        let kind = [FileKind::Objects, FileKind::Hash, FileKind::Btree, FileKind::Btree]
            [place.saturating_sub(5).min(3)];
        entries.push(loading.create(name, kind)?);
    }
    let mut object = |place: usize| Objects::create(loading.pages(), entries[place].file);
    let (modules, complex, bases) = (object(0)?, object(1)?, object(2)?);
    let (composites, parts, texts) = (object(3)?, object(4)?, object(5)?);
    let mut files = Files {
        modules,
        complex,
        bases,
        composites,
        parts,
        texts,
        ids: Hash::open(0),
        dates: Btree::create(loading.pages(), entries[7].file)?,
        titles: Btree::create(loading.pages(), entries[8].file)?,
        fan_out: database.fan_out as usize,
    };
    let placed = place(&files, loading, database)?;
    fill_tree(&files, loading, database, &placed)?;
    fill_composites(&files, loading, database, &placed)?;
    let modules = add_modules(&files, loading, database, &placed)?;
    index(&mut files, loading, database, &entries, &placed, &modules)?;
    let roots = [
        files.modules.root(),
        files.complex.root(),
        files.bases.root(),
        files.composites.root(),
        files.parts.root(),
        files.texts.root(),
        files.ids.root(),
        files.dates.root(),
        files.titles.root(),
    ];
    let mut named = entries.into_iter().zip(roots);
    loading.publish([(); NAMES.len()].map(|()| named.next().expect("a root for each name")))?;
    Ok(files)
}

/// Give every object its place; texts are whole at once, since nothing in them refers to others.
fn place(files: &Files, loading: &mut Loading<'_>, database: &Database) -> Result<Placed> {
    let mut found = Placed {
        complex: Vec::new(),
        bases: Vec::new(),
        composites: Vec::new(),
        users: vec![[Vec::new(), Vec::new()]; database.composite_count() as usize],
        documents: Vec::new(),
        parts: Places::default(),
    };
    let children = tree::CHILDREN as usize;
    for _ in 0..database.modules * tree::COMPLEX {
        let length = REFERENCES + 8 * children;
        found.complex.push(placed(files.complex, loading.pages(), length)?);
        loading.step()?;
    }
    let mut draws = database.draws();
    for id in 1..=database.modules * tree::BASE {
        let length = REFERENCES + 8 * 2 * tree::COMPONENTS as usize;
        let base = placed(files.bases, loading.pages(), length)?;
        for (which, used) in database.components(&mut draws, id).into_iter().enumerate() {
            for one in used {
                found.users[one as usize - 1][which].push(base.0);
            }
        }
        found.bases.push(base);
        loading.step()?;
    }
    for id in 1..=database.composite_count() {
        let mut text = Vec::new();
        texts::push_document(&mut text, id, database.document_length());
        let title = texts::document_title(id);
        found.documents.push(files.add_text(loading.pages(), &title, id, &text)?);
        let users: usize = found.users[id as usize - 1].iter().map(Vec::len).sum();
        let length = REFERENCES + 8 * users;
        found.composites.push(placed(files.composites, loading.pages(), length)?);
        let parts = files.place_parts(loading.pages(), database, id)?;
        for (part, at) in own_parts(database, id).zip(parts) {
            found.parts.push(part, at);
            loading.step()?;
        }
    }
    Ok(found)
}

fn fill_tree(
    files: &Files,
    loading: &mut Loading<'_>,
    database: &Database,
    placed: &Placed,
) -> Result<()> {
    let mut draws = database.draws();
    let mut below = vec![[Vec::new(), Vec::new()]; placed.complex.len()];
    for id in 1..=database.modules * tree::BASE {
        let made = database.base_assembly(&mut draws, id);
        let at = placed.bases[id as usize - 1];
        let parent = made.parent.expect("it belongs to a complex one") as usize - 1;
        below[parent][1].push(at.0);
        let used = database.components(&mut draws, id);
        let word = |id: &u32| placed.composites[*id as usize - 1].0;
        let [private, shared] = used.map(|ids| ids.iter().map(word).collect::<Vec<_>>());
        let own = [placed.complex[parent].0, 0];
        let object = Object::of(&made.object);
        let bytes = record::design(&object, made.module, own, [&private, &shared]);
        fill(files.bases, loading.pages(), at, &bytes)?;
        loading.step()?;
    }
    for id in 1..=database.modules * tree::COMPLEX {
        let made = database.complex_assembly(&mut draws, id);
        if let Some(parent) = made.parent {
            below[parent as usize - 1][0].push(placed.complex[id as usize - 1].0);
        }
    }
    for (id, [complex, bases]) in (1..).zip(&below) {
        let made = database.complex_assembly(&mut draws, id);
        let parent = made.parent.map_or(0, |parent| placed.complex[parent as usize - 1].0);
        let object = Object::of(&made.object);
        let bytes = record::design(&object, made.module, [parent, 0], [complex, bases]);
        fill(files.complex, loading.pages(), placed.complex[id as usize - 1], &bytes)?;
        loading.step()?;
    }
    Ok(())
}

fn fill_composites(
    files: &Files,
    loading: &mut Loading<'_>,
    database: &Database,
    placed: &Placed,
) -> Result<()> {
    let mut draws = database.draws();
    for id in 1..=database.composite_count() {
        let place = id as usize - 1;
        let parts: Vec<Reference> =
            own_parts(database, id).map(|part| Reference(placed.parts.word(part))).collect();
        let own = [parts[0].0, placed.documents[place].0];
        let [private, shared] = &placed.users[place];
        let object = Object::of(&database.composite(&mut draws, id));
        let bytes = record::design(&object, 0, own, [private, shared]);
        let at = placed.composites[place];
        fill(files.composites, loading.pages(), at, &bytes)?;
        files.fill_parts(loading.pages(), database, (id, at), &parts)?;
        loading.step()?;
    }
    Ok(())
}

fn add_modules(
    files: &Files,
    loading: &mut Loading<'_>,
    database: &Database,
    placed: &Placed,
) -> Result<Vec<Reference>> {
    let mut draws = database.draws();
    let mut modules = Vec::new();
    for id in 1..=database.modules {
        let mut text = Vec::new();
        texts::push_manual(&mut text, id, database.manual_length());
        let title = texts::manual_title(id);
        let manual = files.add_text(loading.pages(), &title, id, &text)?;
        let root = placed.complex[((id - 1) * tree::COMPLEX) as usize];
        let object = Object::of(&database.module(&mut draws, id));
        let bytes = record::design(&object, database.fan_out, [root.0, manual.0], [&[], &[]]);
        let oid = files.modules.insert(loading.pages(), &bytes, None)?;
        modules.push(files.modules.reference(loading.pages(), oid)?);
        loading.commit()?;
    }
    Ok(modules)
}

fn index(
    files: &mut Files,
    loading: &mut Loading<'_>,
    database: &Database,
    entries: &[Entry],
    placed: &Placed,
    modules: &[Reference],
) -> Result<()> {
    loading.commit()?;
    let keyed = |class: Class, all: &[Reference]| {
        let keys = (1..).map(move |id| class.key(id));
        keys.zip(all.iter().map(|at| at.0).collect::<Vec<_>>())
    };
    let parts = 1..=database.part_count();
    let words = keyed(Class::Module, modules)
        .chain(keyed(Class::Base, &placed.bases))
        .chain(keyed(Class::Composite, &placed.composites))
        .chain(keyed(Class::Document, &placed.documents))
        .chain(parts.clone().map(|id| (Class::Part.key(id), placed.parts.word(id))));
    files.ids = Hash::open(Hash::load(loading.pages(), entries[6].file, words)?);
    loading.commit()?;
    let mut draws = database.draws();
    let mut in_order: Vec<_> =
        parts.map(|id| (database.part(&mut draws, id).object.build_date, id)).collect();
    in_order.sort_unstable();
    let entries_by_date = in_order
        .into_iter()
        .map(|(date, id)| (date_key(date, id), placed.parts.word(id).to_le_bytes()));
    files.dates.bulk_load(loading.pages(), entries_by_date, FILL_PERCENT)?;
    loading.commit()?;
    let titled = (1..)
        .zip(&placed.composites)
        .map(|(id, composite)| (title_key(&texts::document_title(id)), composite.0.to_le_bytes()));
    files.titles.bulk_load(loading.pages(), titled, FILL_PERCENT)?;
    loading.commit()
}
