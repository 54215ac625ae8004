//! References with guesses: they lead to the object, or say nothing.

use super::*;

fn made(pages: MemoryPages) -> (MemoryPages, Objects) {
    let mut pages = pages;
    let objects = Objects::create(&mut pages, FILE).unwrap();
    (pages, objects)
}

fn value_at(view: View<'_>, at: usize) -> u64 {
    view.u64(at)
}

fn glance(pages: &MemoryPages, objects: Objects, guess: Guess) -> Option<u64> {
    objects.glance(pages, guess, value_at)
}

fn number(value: u64, len: usize) -> Vec<u8> {
    let mut object = vec![0; len];
    object[..8].copy_from_slice(&value.to_le_bytes());
    object
}

#[test]
fn a_guess_leads_to_its_object_whether_or_not_the_tactics_swizzle() {
    for (pages, swizzles) in [(MemoryPages::new(), false), (MemoryPages::swizzling(), true)] {
        let (mut pages, objects) = made(pages);
        let oids =
            [7, 8].map(|value| objects.insert(&mut pages, &number(value, 24), None).unwrap());
        for (oid, value) in oids.into_iter().zip([7, 8]) {
            let guess = objects.guess(&pages, oid).unwrap();
            assert_eq!(guess.oid(), Some(oid));
            if swizzles {
                assert_eq!(glance(&pages, objects, guess), None, "there is no mark yet");
                assert_eq!(objects.look(&pages, oid, value_at).unwrap(), value);
            }
            assert_eq!(glance(&pages, objects, guess), Some(value));
            let wrong = [Guess(oid.to_u64()), Guess(guess.0 ^ 8 << 48), Guess(guess.0 ^ 1)];
            for wrong in wrong.into_iter().filter(|wrong| wrong.oid() != Some(oids[1])) {
                assert_ne!(glance(&pages, objects, wrong), Some(value), "{wrong:?}");
            }
        }
    }
}

#[test]
fn an_object_that_has_moved_is_not_where_it_was() {
    for pages in [MemoryPages::new(), MemoryPages::swizzling()] {
        let (mut pages, objects) = made(pages);
        let oids =
            [7, 8].map(|value| objects.insert(&mut pages, &number(value, 24), None).unwrap());
        let before = objects.guess(&pages, oids[0]).unwrap();
        // Longer, so that it lies behind the other now; what it leaves is not cleared.
        objects.update(&mut pages, oids[0], &number(9, 64)).unwrap();
        assert_eq!(objects.look(&pages, oids[0], value_at).unwrap(), 9);
        assert_eq!(glance(&pages, objects, before), None);
        let now = objects.guess(&pages, oids[0]).unwrap();
        assert_ne!(now, before);
        assert_eq!(glance(&pages, objects, now), Some(9));
    }
}

#[test]
fn an_object_away_from_home_has_no_guess() {
    let (mut pages, objects) = made(MemoryPages::new());
    let oid = objects.insert(&mut pages, &number(7, 24), None).unwrap();
    objects.insert(&mut pages, &vec![0; 3_000], Some(oid.page)).unwrap();
    objects.update(&mut pages, oid, &number(9, 2_000)).unwrap();
    let guess = objects.guess(&pages, oid).unwrap();
    assert_eq!(guess, Guess(oid.to_u64()));
    assert_eq!(glance(&pages, objects, guess), None);
    assert_eq!(objects.look(&pages, oid, value_at).unwrap(), 9);
}
