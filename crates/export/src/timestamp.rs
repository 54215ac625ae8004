//! Seconds since 1970 as the text of SQL's timestamps: `1984-02-29 23:59:59`, UTC.

/// Bytes of the text.
pub(crate) const TEXT_BYTES: usize = "1984-02-29 23:59:59".len();

const DAY_S: i64 = 86_400;

/// From 1 March of the year 0, a leap day being the last of its year, to 1 January 1970.
const DAYS_TO_1970: i64 = 719_468;

/// Days of 400, 100, 4 and 1 years; the last of each group of four is longer or, of a century,
/// not.
const CYCLE_DAYS: i64 = 146_097;
const CENTURY_DAYS: i64 = 36_524;
const FOUR_YEARS_DAYS: i64 = 1_461;
const YEAR_DAYS: i64 = 365;

/// Days of a year that starts in March before each of its months.
const DAYS_BEFORE: [i64; 12] = [0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337];

/// Write the text of `seconds`, in a year from 0 to 9999.
pub(crate) fn write(seconds: i64, text: &mut [u8; TEXT_BYTES]) {
    let (year, month, day) = date(seconds.div_euclid(DAY_S));
    let second = seconds.rem_euclid(DAY_S);
    *text = *b"0000-00-00 00:00:00";
    two_digits(text, 0, year / 100);
    two_digits(text, 2, year % 100);
    two_digits(text, 5, month);
    two_digits(text, 8, day);
    two_digits(text, 11, second / 3_600);
    two_digits(text, 14, second / 60 % 60);
    two_digits(text, 17, second % 60);
}

#[inline]
fn two_digits(text: &mut [u8; TEXT_BYTES], at: usize, number: i64) {
    text[at] = b'0' + (number / 10) as u8;
    text[at + 1] = b'0' + (number % 10) as u8;
}

/// Year, month and day of the Gregorian calendar, so many days after 1 January 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_1970;
    let (cycles, days) = (days.div_euclid(CYCLE_DAYS), days.rem_euclid(CYCLE_DAYS));
    // The cycle's and each four years' last day would begin a group too many.
    let centuries = (days / CENTURY_DAYS).min(3);
    let days = days - centuries * CENTURY_DAYS;
    let (fours, days) = (days / FOUR_YEARS_DAYS, days % FOUR_YEARS_DAYS);
    let years = (days / YEAR_DAYS).min(3);
    let days = days - years * YEAR_DAYS;
    let mut month = days as usize / 31;
    // No month is longer than 31 days: the guess is right or one too low.
    if month < 11 && DAYS_BEFORE[month + 1] <= days {
        month += 1;
    }
    let day = days - DAYS_BEFORE[month] + 1;
    let year = cycles * 400 + centuries * 100 + fours * 4 + years;
    match month as i64 {
        month @ 0..10 => (year, month + 3, day),
        month => (year + 1, month - 9, day),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(seconds: i64) -> String {
        let mut text = [b'?'; TEXT_BYTES];
        write(seconds, &mut text);
        String::from_utf8(text.to_vec()).unwrap()
    }

    #[test]
    fn known_seconds_have_their_texts() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00:00"),
            (-1, "1969-12-31 23:59:59"),
            (315_532_800, "1980-01-01 00:00:00"),
            (631_151_999, "1989-12-31 23:59:59"),
            (951_827_696, "2000-02-29 12:34:56"),
            (1_000_000_000, "2001-09-09 01:46:40"),
            (4_107_542_400, "2100-03-01 00:00:00"),
            (-62_167_219_200, "0000-01-01 00:00:00"),
            (253_402_300_799, "9999-12-31 23:59:59"),
        ] {
            assert_eq!(text(seconds), expected);
        }
    }

    /// Counted day by day with the calendar's rule, from the first day to the last.
    #[test]
    fn every_day_follows_the_one_before() {
        let mut day = -719_528;
        for year in 0..10_000 {
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let february = if leap { 29 } else { 28 };
            let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            for (month, length) in (1..).zip(lengths) {
                for of_month in 1..=length {
                    assert_eq!(date(day), (year, month, of_month));
                    day += 1;
                }
            }
        }
    }
}
