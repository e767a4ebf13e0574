use crate::make;
use crate::replicas::simulation::longest_wait;
use crate::simulation::run::run;
use crate::simulation::seeds::{RARE, SEEDS, named, read_seed, told};
use crate::table::{FoundIn, MISTAKES, Mistake};
use std::env;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Whether the simulation finds something in a seed with this mistake.
fn is_found(mistake: Option<usize>, seed: u64) -> bool {
    make(mistake);
    run(seed).violation.is_some()
}

/// Returns where it is found. An error says what is wrong.
fn find(mistake: usize) -> Result<String, String> {
    let Mistake { name, what, found_in, .. } = &MISTAKES[mistake];
    match found_in {
        FoundIn::Histories(last) => {
            // The models may have changed since: then a seed that is rare enough for another mistake may do, or any other one.
            let known = MISTAKES.iter().filter_map(|other| match other.found_in {
                FoundIn::Histories(last) => Some(last),
                FoundIn::HandOvers => None,
            });
            let known = [*last].into_iter().chain(known).chain(RARE).filter(|_| named().is_none());
            let seed = known.chain(named().unwrap_or(SEEDS)).find(|seed| is_found(Some(mistake), *seed));
            let seed = seed.ok_or_else(|| format!("{name} is not found: {what}"))?;
            // Otherwise the simulation found something other than this mistake.
            if is_found(None, seed) {
                return Err(format!("seed {seed} fails without {name}, too"));
            }
            Ok(format!("{name} is found in seed {seed}"))
        }
        FoundIn::HandOvers => {
            make(Some(mistake));
            let (mistaken, ..) = longest_wait();
            make(None);
            let (usual, ..) = longest_wait();
            // Units of dead members wait for a second Lease to expire.
            if mistaken < usual + Duration::from_secs(10) {
                return Err(format!("{name} is not found: units wait for {mistaken:?} with it, {usual:?} without"));
            }
            Ok(format!("{name} is found: units wait for {mistaken:?} with it, {usual:?} without"))
        }
    }
}

#[test]
fn every_mistake_that_is_made_again_is_found() {
    let only = env::var("SIMULATION_MISTAKE").ok();
    let numbers: Vec<usize> =
        (0..MISTAKES.len()).filter(|number| only.as_ref().is_none_or(|name| name == MISTAKES[*number].name)).collect();
    assert!(
        !numbers.is_empty(),
        "SIMULATION_MISTAKE={}: unknown; src/table.rs has the names",
        only.unwrap_or_default()
    );
    if let Some(seed) = read_seed() {
        make(only.and(numbers.first().copied()));
        panic!("{}", told(seed, &run(seed)));
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let taken = std::iter::from_fn(|| numbers.get(next.fetch_add(1, Ordering::Relaxed)));
        let lost = |number: &usize| find(*number).map(|found| println!("{found}")).err();
        taken.filter_map(lost).collect::<Vec<_>>()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
