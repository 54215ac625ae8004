//! The tree of assemblies: which draws, ids and parents belong to a place of it, without a walk.
//!
//! Assemblies are made depth first, a child with all below it before the next, so that the number
//! of an assembly in its order of creation shows the way from the root.

/// Children of a complex assembly.
pub const CHILDREN: u32 = 3;

/// Levels of the tree: the root is on the first, base assemblies are on the last.
pub const LEVELS: u32 = 7;

/// Complex assemblies of a module.
pub const COMPLEX: u32 = complex_below(1);

/// Base assemblies of a module.
pub const BASE: u32 = base_below(1);

/// Draws of a complex assembly: type, date.
const COMPLEX_DRAWS: u64 = 2;

/// Draws of a base assembly: type, date, its private and its shared components.
const BASE_DRAWS: u64 = 2 + 2 * COMPONENTS as u64;

/// Components of a base assembly of each kind.
pub const COMPONENTS: u32 = 3;

/// Draws of all assemblies of a module.
pub const TREE_DRAWS: u64 = draws_below(1);

/// The place where an assembly stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Draws of the tree before its own.
    pub draws_before: u64,
    /// Its parent: a complex assembly's number in order of creation, from 0; None at the root.
    pub parent: Option<u32>,
    /// 1 at the root.
    pub level: u32,
}

/// Base assemblies in the tree under an assembly on `level`, itself included.
const fn base_below(level: u32) -> u32 {
    CHILDREN.pow(LEVELS - level)
}

/// Complex assemblies in the tree under an assembly on `level`, itself included.
const fn complex_below(level: u32) -> u32 {
    (base_below(level) - 1) / (CHILDREN - 1)
}

const fn draws_below(level: u32) -> u64 {
    complex_below(level) as u64 * COMPLEX_DRAWS + base_below(level) as u64 * BASE_DRAWS
}

/// The place of the complex assembly that is made as number `number` of its kind, from 0.
pub fn complex(number: u32) -> Place {
    let mut place = Place { draws_before: 0, parent: None, level: 1 };
    let (mut here, mut rest) = (0, number);
    while rest > 0 {
        let below = complex_below(place.level + 1);
        let child = (rest - 1) / below;
        rest = (rest - 1) % below;
        place = descend(place, here, child);
        here += 1 + child * below;
    }
    place
}

/// The place of the base assembly that is made as number `number` of its kind, from 0.
pub fn base(number: u32) -> Place {
    let mut place = Place { draws_before: 0, parent: None, level: 1 };
    let (mut here, mut rest) = (0, number);
    while place.level < LEVELS {
        let below = base_below(place.level + 1);
        let child = rest / below;
        rest %= below;
        let complex = complex_below(place.level + 1);
        place = descend(place, here, child);
        here += 1 + child * complex;
    }
    place
}

/// The place of a child of the complex assembly `here`, which stands at `place`.
fn descend(place: Place, here: u32, child: u32) -> Place {
    let level = place.level + 1;
    let before = COMPLEX_DRAWS + u64::from(child) * draws_below(level);
    Place { draws_before: place.draws_before + before, parent: Some(here), level }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 3, literally: an assembly draws, then makes its children one at a time.
    fn make(level: u32, parent: Option<u32>, draws: &mut u64, made: &mut [Vec<Place>; 2]) {
        let place = Place { draws_before: *draws, parent, level };
        if level == LEVELS {
            *draws += BASE_DRAWS;
            made[1].push(place);
            return;
        }
        *draws += COMPLEX_DRAWS;
        let here = made[0].len() as u32;
        made[0].push(place);
        for _ in 0..CHILDREN {
            make(level + 1, Some(here), draws, made);
        }
    }

    #[test]
    fn places_are_those_of_the_tree_made_depth_first() {
        let (mut draws, mut made) = (0, [Vec::new(), Vec::new()]);
        make(1, None, &mut draws, &mut made);
        assert_eq!((made[0].len(), made[1].len()), (364, 729));
        assert_eq!((COMPLEX, BASE, TREE_DRAWS), (364, 729, draws));
        for (number, place) in (0..).zip(&made[0]) {
            assert_eq!(complex(number), *place, "complex assembly {number}");
        }
        for (number, place) in (0..).zip(&made[1]) {
            assert_eq!(base(number), *place, "base assembly {number}");
        }
    }
}
