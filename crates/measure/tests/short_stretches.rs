//! Many short stretches are sampled for all of their time. Alone in its process: threads of other
//! tests would be followed, too.

use loadstone_measure::clock;
use loadstone_measure::sampling::{Profile, Sampler};
use loadstone_measure::spin;

fn spun(sampler: &mut Sampler) -> Profile {
    for _ in 0..2_000 {
        sampler.begin();
        let start = clock::now_ns();
        spin::spin_ns(60_000);
        sampler.end(start, clock::now_ns());
        // The time between the stretches belongs to none of them, and takes no period from them.
        spin::spin_ns(30_000);
    }
    sampler.take()
}

#[test]
fn many_short_stretches_make_as_many_samples_as_one_that_is_as_long() {
    let profile = spun(&mut Sampler::start(&[], 997));
    let Some(shown) = profile.shown else { return };
    let spent_ns: u64 = profile.threads.iter().map(|thread| thread.cpu_ns).sum();
    // A stretch has the sixteenth part of a sample.
    assert!(spent_ns / profile.period_ns > 80, "{profile:?}");
    assert!(shown > 0.95, "{profile:?}");
    let within: u64 = profile.counts.iter().map(|count| count.samples).sum();
    assert!(within > 20, "{profile:?}");
}
