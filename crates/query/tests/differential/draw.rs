//! Decisions taken from a list of numbers. Whatever the numbers, the decisions make a program that
//! means something; with fewer and smaller numbers it is a simpler one, so that a failing case
//! shrinks as its numbers do.

/// Takes one number after another; behind the last one, zeros.
pub struct Draw<'n> {
    numbers: std::slice::Iter<'n, u16>,
}

impl<'n> Draw<'n> {
    /// From these.
    pub fn new(numbers: &'n [u16]) -> Self {
        Self { numbers: numbers.iter() }
    }

    /// A number below `count`, which is no more than 65,536; 0 is the simplest.
    pub fn below(&mut self, count: usize) -> usize {
        let number = self.numbers.next().copied().unwrap_or(0);
        (usize::from(number) * count) >> 16
    }

    /// Whether something happens that does so once in `count` times.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    /// One of these, the first being the simplest.
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A number between two, both included.
    pub fn between(&mut self, least: i64, most: i64) -> i64 {
        least + self.below((most - least + 1) as usize) as i64
    }
}
