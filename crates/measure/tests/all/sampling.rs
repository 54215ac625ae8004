use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use loadstone_measure::clock::now_ns;
use loadstone_measure::sampling::{Place, Profile, Sampler};

/// Shifts alone: in a debug build, too, the loop calls nothing.
#[inline(never)]
fn often(mut x: u64, rounds: u64) -> u64 {
    let mut round = 0;
    while round < rounds {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        round += 1;
    }
    x
}

/// As `often`, and no copy of it, which the compiler would fold into one.
#[inline(never)]
fn seldom(mut x: u64, rounds: u64) -> u64 {
    let mut round = 0;
    while round < rounds {
        x ^= x << 21;
        x ^= x >> 5;
        x ^= x << 11;
        round += 1;
    }
    x
}

#[inline(never)]
fn later(mut x: u64, rounds: u64) -> u64 {
    let mut round = 0;
    while round < rounds {
        x ^= x << 23;
        x ^= x >> 9;
        x ^= x << 15;
        round += 1;
    }
    x
}

fn of(profile: &Profile, wanted: impl Fn(&Place) -> bool) -> u64 {
    let found = profile.counts.iter().filter(|count| wanted(&count.place));
    found.map(|count| count.samples).sum()
}

fn named(name: &str) -> impl Fn(&Place) -> bool {
    move |place| place.function.ends_with(name)
}

/// Samples of a stretch; `None` where this machine allows none, and says so.
fn profile(sampler: &mut Sampler, stretch: impl FnOnce()) -> Option<Profile> {
    sampler.begin();
    let start = now_ns();
    stretch();
    sampler.end(start, now_ns());
    let profile = sampler.take();
    let (programs, _) = sampler.samples();
    assert!(programs || (!sampler.reason().is_empty() && profile.counts.is_empty()));
    programs.then_some(profile)
}

#[test]
fn time_is_found_in_the_functions_that_spent_it_in_their_proportion() {
    let mut sampler = Sampler::start(&[], 4000);
    let Some(profile) = profile(&mut sampler, || {
        for round in 0..100 {
            std::hint::black_box(often(round + 1, 900_000));
            std::hint::black_box(seldom(round + 1, 300_000));
        }
    }) else {
        return;
    };
    let (many, few) = (of(&profile, named("::often")), of(&profile, named("::seldom")));
    let both = many + few;
    assert!(both >= 200, "{both} samples: {profile:?}");
    // Ten standard deviations around three quarters, at 200 samples a third of the way to nothing.
    let share = many as f64 / both as f64;
    let bound = 10.0 * (0.75 * 0.25 / both as f64).sqrt();
    assert!((share - 0.75).abs() < bound.max(0.05), "{many} of {both}");
}

#[test]
fn a_thread_that_starts_later_is_followed() {
    let mut sampler = Sampler::start(&[], 4000);
    let Some(profile) = profile(&mut sampler, || {
        std::thread::spawn(|| std::hint::black_box(later(7, 40_000_000))).join().expect("it ends");
    }) else {
        return;
    };
    let here = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
    let found = profile.counts.iter().find(|count| named("::later")(&count.place));
    let found = found.unwrap_or_else(|| panic!("not in {profile:?}"));
    assert!(found.samples > 10 && found.thread != here && !found.server, "{found:?}");
}

#[test]
fn a_server_and_the_processes_it_starts_are_followed_by_their_own_files() {
    let mut shell = Command::new("sh");
    // Reads its input first, so that it is followed from before it works.
    let work = "read line; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; : | cat";
    shell.args(["-c", &format!("echo; {work}")]);
    let mut shell =
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("every Linux has sh");
    // Started is not mapped: its program appears in its memory after `spawn` returned, and what
    // the sampler does not see there at its start is gone when the shell has ended.
    let mut output = BufReader::new(shell.stdout.take().expect("piped"));
    output.read_line(&mut String::new()).expect("it says that it runs");
    let exe = std::fs::read_link(format!("/proc/{}/exe", shell.id()));
    let mut sampler = Sampler::start(&[shell.id()], 4000);
    let Some(profile) = profile(&mut sampler, || {
        drop(shell.stdin.take());
        shell.wait().expect("it is ours");
    }) else {
        return;
    };
    let program =
        exe.expect("it lived").file_name().expect("a file").to_string_lossy().into_owned();
    assert!(of(&profile, |place| place.object == program) > 10, "{program}: {profile:?}");
    let served = profile.counts.iter().filter(|count| count.server);
    assert!(served.clone().any(|count| count.thread == shell.id()), "{profile:?}");
}

/// Rights are a thread's: this one gives up its own, and the others keep theirs.
#[test]
fn a_user_without_rights_samples_programs_as_far_as_this_system_allows() {
    std::thread::spawn(|| {
        let nobody = rustix::process::Uid::from_raw(65_534);
        if rustix::process::geteuid().is_root() {
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).expect("root may");
        }
        let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
        let level: i32 = level.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(4);
        let mut sampler = Sampler::start(&[], 1000);
        let (programs, kernel) = sampler.samples();
        assert!(level > 2 || programs || sampler.reason().contains("container"));
        assert!(level < 2 || !kernel, "level {level}");
        assert_eq!(sampler.reason().is_empty(), programs && kernel);
        let profile = profile(&mut sampler, || {
            std::hint::black_box(often(7, 40_000_000));
        });
        if let Some(profile) = profile {
            assert!(of(&profile, named("::often")) > 10, "{profile:?}");
        }
    })
    .join()
    .expect("it ends");
}
