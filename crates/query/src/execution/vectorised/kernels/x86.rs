//! The loops for what newer processors of this kind can do.
//!
//! Only AVX-512 makes a vector of positions smaller by itself; for AVX2 a table says which of eight
//! positions go where. All else is [`super::loops`], compiled once more.

use std::arch::is_x86_feature_detected;
use std::arch::x86_64::{
    _mm_loadu_si128, _mm_shuffle_epi8, _mm_storeu_si128, _mm256_castsi256_ps, _mm256_cmpeq_epi32,
    _mm256_loadu_si256, _mm256_min_epu32, _mm256_movemask_ps, _mm256_set1_epi32,
    _mm256_storeu_si256, _mm256_sub_epi32, _mm512_cmple_epu32_mask, _mm512_cvtepi32_epi16,
    _mm512_cvtepu16_epi32, _mm512_loadu_si512, _mm512_maskz_compress_epi32, _mm512_set1_epi32,
    _mm512_sub_epi32,
};

use super::{InstructionSet, Kernels, loops};

/// The best that this processor can run; None where it has none of these.
pub(super) fn detected() -> Option<&'static Kernels> {
    if !has_avx2() {
        None
    } else if has_avx512() {
        Some(&AVX512)
    } else {
        Some(&AVX2)
    }
}

/// Those that this processor can run.
#[cfg(test)]
pub(super) fn all() -> Vec<&'static Kernels> {
    let avx2 = has_avx2().then_some(&AVX2);
    avx2.into_iter().chain((has_avx2() && has_avx512()).then_some(&AVX512)).collect()
}

fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2")
}

fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

/// A table of functions, each of which runs another one, compiled for these features.
macro_rules! table {
    ($table:ident, $name:ident, $features:literal, {
        $(fn $function:ident($($argument:ident: $type:ty),+) $(-> $result:ty)? = $body:path;)+
    }) => {
        static $table: Kernels = Kernels {
            instruction_set: InstructionSet::$name,
            $($function: {
                fn checked($($argument: $type),+) $(-> $result)? {
                    #[target_feature(enable = $features)]
                    fn compiled($($argument: $type),+) $(-> $result)? {
                        $body($($argument),+)
                    }
                    // SAFETY: the table is handed out where the processor has these features.
                    #[expect(unsafe_code, reason = "an instruction set is used where it is there")]
                    unsafe { compiled($($argument),+) }
                }
                checked
            }),+
        };
    };
}

table!(AVX512, Avx512, "avx2,bmi2,avx512f,avx512bw,avx512dq,avx512vl", {
    fn keep_narrow(selection: &mut Vec<u16>, values: &[i32], bounds: (i32, i32), negated: bool) =
        keep_sixteen;
    fn keep_wide(selection: &mut Vec<u16>, values: &[i64], bounds: (i64, i64), negated: bool) =
        loops::keep_wide;
    fn least(values: &[i64]) -> i64 = loops::least;
    fn greatest(values: &[i64]) -> i64 = loops::greatest;
    fn sum(values: &[i64]) -> i128 = loops::sum;
    fn hash(values: &[i64], hashes: &mut [u64]) = loops::hash_by_halves;
});

table!(AVX2, Avx2, "avx2,bmi2", {
    fn keep_narrow(selection: &mut Vec<u16>, values: &[i32], bounds: (i32, i32), negated: bool) =
        keep_eight;
    fn keep_wide(selection: &mut Vec<u16>, values: &[i64], bounds: (i64, i64), negated: bool) =
        loops::keep_wide;
    fn least(values: &[i64]) -> i64 = loops::least;
    fn greatest(values: &[i64]) -> i64 = loops::greatest;
    fn sum(values: &[i64]) -> i128 = loops::sum;
    fn hash(values: &[i64], hashes: &mut [u64]) = loops::hash_by_halves;
});

/// Sixteen values at a time; their positions move together in a register.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn keep_sixteen(selection: &mut Vec<u16>, values: &[i32], (low, high): (i32, i32), negated: bool) {
    const LANES: usize = 16;
    let flipped = if negated { u16::MAX } else { 0 };
    let (least, width) = (_mm512_set1_epi32(low), _mm512_set1_epi32(high.wrapping_sub(low)));
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut kept = 0;
    for (at, block) in blocks.iter().enumerate() {
        let positions = &raw const selection[at * LANES..(at + 1) * LANES];
        // SAFETY: sixteen values and sixteen positions are read. Sixteen positions are written from
        // `kept` on, which is at most the block's beginning: not beyond its end.
        #[expect(unsafe_code, reason = "vectors are read from arrays and written to them")]
        unsafe {
            let block = _mm512_loadu_si512(block.as_ptr().cast());
            let within = _mm512_cmple_epu32_mask(_mm512_sub_epi32(block, least), width) ^ flipped;
            let positions = _mm512_cvtepu16_epi32(_mm256_loadu_si256(positions.cast()));
            let together = _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(within, positions));
            _mm256_storeu_si256(selection.as_mut_ptr().add(kept).cast(), together);
            kept += within.count_ones() as usize;
        }
    }
    keep_rest(selection, rest, (low, high), negated, kept);
}

/// Which bytes of eight positions come together where these bits are set.
static TOGETHER: [[u8; 16]; 256] = {
    let mut table = [[0x80; 16]; 256];
    let mut bits = 0;
    while bits < 256 {
        let (mut kept, mut lane) = (0, 0);
        while lane < 8 {
            if bits >> lane & 1 == 1 {
                table[bits][2 * kept] = 2 * lane as u8;
                table[bits][2 * kept + 1] = 2 * lane as u8 + 1;
                kept += 1;
            }
            lane += 1;
        }
        bits += 1;
    }
    table
};

/// Eight values at a time; their positions move together by a table.
#[target_feature(enable = "avx2")]
fn keep_eight(selection: &mut Vec<u16>, values: &[i32], (low, high): (i32, i32), negated: bool) {
    const LANES: usize = 8;
    let flipped = if negated { 0xff } else { 0 };
    let (least, width) = (_mm256_set1_epi32(low), _mm256_set1_epi32(high.wrapping_sub(low)));
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut kept = 0;
    for (at, block) in blocks.iter().enumerate() {
        let positions = &raw const selection[at * LANES..(at + 1) * LANES];
        // SAFETY: eight values and eight positions are read. Eight positions are written from
        // `kept` on, which is at most the block's beginning: not beyond its end.
        #[expect(unsafe_code, reason = "vectors are read from arrays and written to them")]
        unsafe {
            let above = _mm256_sub_epi32(_mm256_loadu_si256(block.as_ptr().cast()), least);
            let within = _mm256_cmpeq_epi32(_mm256_min_epu32(above, width), above);
            let within = _mm256_movemask_ps(_mm256_castsi256_ps(within)) as usize ^ flipped;
            let table = _mm_loadu_si128(TOGETHER[within].as_ptr().cast());
            let together = _mm_shuffle_epi8(_mm_loadu_si128(positions.cast()), table);
            _mm_storeu_si128(selection.as_mut_ptr().add(kept).cast(), together);
            kept += within.count_ones() as usize;
        }
    }
    keep_rest(selection, rest, (low, high), negated, kept);
}

/// The values that fill no vector, which are the last ones.
fn keep_rest(
    selection: &mut Vec<u16>,
    rest: &[i32],
    (low, high): (i32, i32),
    negated: bool,
    mut kept: usize,
) {
    let width = high.wrapping_sub(low) as u32;
    let begin = selection.len() - rest.len();
    for (at, value) in rest.iter().enumerate() {
        selection[kept] = selection[begin + at];
        kept += usize::from((value.wrapping_sub(low) as u32 <= width) != negated);
    }
    selection.truncate(kept);
}
