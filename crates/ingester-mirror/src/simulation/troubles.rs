//! The troubles of a seed, in addition to its weather.

use super::seeds::SEEDS;

/// The troubles of a seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Troubles {
    pub(super) actions: u32,
    /// The mean pause between two actions, in milliseconds.
    pub(super) pause: u64,
    /// In percent of the actions.
    pub(super) servers: u32,
    pub(super) hands: bool,
    pub(super) restores: bool,
    pub(super) clocks: bool,
    /// The API server loses all objects for a while, and an ingester gets a configuration that names another cluster.
    pub(super) clusters: bool,
    /// Lists and watches must suffice without resyncs. So the seed has no trouble that only a resync finds.
    pub(super) unaided: bool,
    pub(super) more: ExtraTroubles,
}

impl Troubles {
    pub(super) fn from_seed(seed: u64, rng: &mut fastrand::Rng, more: ExtraTroubles) -> Self {
        let unaided = seed % 4 == 1;
        let troubles = Troubles {
            clusters: seed.is_multiple_of(4),
            unaided,
            actions: rng.u32(10..80),
            pause: [300, 1500, 4000][rng.usize(..3)],
            servers: [0, 10, 30][rng.usize(..3)],
            hands: rng.u32(..3) == 0,
            restores: rng.u32(..3) == 0,
            clocks: rng.u32(..3) == 0,
            more,
        };
        // Rows that are removed by hand, and objects that come again, are unknown to an ingester for a while.
        let may = !unaided && !more.dependents;
        Troubles { hands: troubles.hands && may, restores: troubles.restores && may, ..troubles }
    }
}

/// Further troubles. A seed has some of them from separate random numbers, so that they change nothing in the seeds without them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExtraTroubles {
    /// The cluster is restored with a revision that continues: its objects come from a backup, and no version occurs twice.
    pub(super) bumps: bool,
    /// The cluster is restored, and gives versions that it has given before to other states of the same objects.
    pub(super) reuse: bool,
    /// The cluster is restored to a moment before an object was evicted.
    pub(super) ghosts: bool,
    /// People write to, delete and restore evicted rows.
    pub(super) people: bool,
    /// The API server refuses every deletion for a while.
    pub(super) refusals: bool,
    /// The API server permanently refuses the requests of an ingester about some objects.
    pub(super) forbidden: bool,
    /// Rows of objects that were deleted are purged after a while, by the database's clock, which is wrong like any other.
    pub(super) retention: bool,
    /// Another database takes over, which lacks the last commits.
    pub(super) failovers: bool,
    /// The objects are in two namespaces, each with its own unit.
    pub(super) namespaces: bool,
    /// Objects have owners, and are collected as garbage without them.
    pub(super) owners: bool,
    /// Ingesters are killed just after they have deleted an object.
    pub(super) crashes: bool,
    /// Some watches are served by an API server that is behind.
    pub(super) lags: bool,
    /// The kind is not evictable: annotations that request evictions and deletions have no effect.
    pub(super) unevictable: bool,
    /// A rule decides which objects leave etcd.
    pub(super) policies: bool,
    /// The rule is switched off and on again.
    pub(super) switches: bool,
    /// Rules decide which rows of evicted objects are purged.
    pub(super) rules: bool,
    /// These rules are not enforced.
    pub(super) dry: bool,
    /// Some objects stay for a while after they were deleted.
    pub(super) lingers: bool,
    /// People restore evicted rows in steps, and may be interrupted after each one, while others write to the same rows.
    pub(super) restoring: bool,
    /// Each start creates the tables.
    pub(super) tables: bool,
    /// The filter of the kind changes: in its first life the ingester stores objects that it leaves out in later ones.
    pub(super) filters: bool,
    /// Objects without rows have owners, and so do the objects of a second kind, which is suspended.
    pub(super) dependents: bool,
    /// The disk of the database is full for a while, repeatedly: it answers questions and refuses every change.
    pub(super) fills: bool,
    /// The database has no memory for tables, so listed objects go through a temporary file. It draws no random number.
    pub(super) spools: bool,
}

/// One in this many seeds has none of them.
const WITHOUT: u32 = 4;

/// Each trouble is in one of this many of the other seeds.
const EACH: u32 = 4;

impl ExtraTroubles {
    pub(super) fn from_seed(seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed ^ 0x006d_6f72_6521);
        // Other seeds keep the histories for which they are listed.
        let spools = seed % 3 == 2 && (SEEDS.contains(&seed) || seed >= 1_000_000);
        if rng.u32(..WITHOUT) == 0 {
            return ExtraTroubles { tables: true, spools, ..ExtraTroubles::default() };
        }
        if has_filters(seed) {
            return ExtraTroubles { tables: true, filters: true, spools, ..ExtraTroubles::default() };
        }
        // Troubles that only a resync finds are left out without resyncs.
        let unaided = seed % 4 == 1;
        let members = super::members::are_in(seed);
        let dependents = super::dependents::are_in(seed);
        let prompt = !dependents;
        let restoring = seed % 16 == 11;
        let mut some = |may: bool| rng.u32(..EACH) == 0 && may;
        ExtraTroubles {
            bumps: some(!unaided && prompt),
            reuse: some(!unaided && !members && prompt),
            ghosts: some(!unaided && prompt),
            people: some(true) || restoring,
            refusals: some(true),
            forbidden: some(true),
            retention: some(!unaided),
            failovers: some(!unaided && prompt),
            namespaces: some(!members),
            owners: some(true) || dependents,
            crashes: some(true),
            lags: some(prompt),
            // By the seed's number, so that seeds that were kept for histories with evictions still have them.
            unevictable: seed % 8 == 4,
            policies: seed % 8 == 6,
            switches: matches!(seed % 64, 6 | 14 | 22),
            rules: seed % 8 == 2,
            dry: seed % 16 == 10,
            lingers: seed % 16 == 14,
            restoring,
            tables: true,
            filters: false,
            dependents,
            // A member that is frozen while its write waits for the disk sends it after another one has listed. Only a resync finds the row.
            fills: matches!(seed % 64, 8 | 15 | 18 | 25 | 36 | 47 | 58 | 62) && !(unaided && members),
            spools,
        }
    }
}

/// Returns true if the filter changes in a seed.
fn has_filters(seed: u64) -> bool {
    seed % 16 == 3 && !super::members::are_in(seed)
}
