//! The group of members that share the work of one database.

use super::shard::fnv1a;

/// The members that share the work: the members of one group, in one namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The namespace of the Leases.
    pub namespace: String,
    /// The name that the members share, such as `ingester-4f1c2a9b00c3d1e5f7`.
    pub name: String,
    /// The configured beginning of the group's name.
    pub of: String,
}

impl Group {
    /// Returns the group of the ingesters that are called `of` and have one database. `recorded` is the identity recorded in the database,
    /// `database` its name. A copy of the database has the same records, but usually another name.
    pub fn of_database(namespace: String, of: &str, recorded: &str, database: &str) -> Self {
        let hash = fnv1a(database);
        let name = format!("{of}-{recorded}{:08x}", (hash ^ (hash >> 32)) & 0xffff_ffff);
        Group { namespace, name, of: of.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::Group;

    #[test]
    fn a_copy_of_a_database_that_is_called_otherwise_has_a_group_of_its_own() {
        let name = |recorded, database| Group::of_database("ns".into(), "ingester", recorded, database).name;
        assert_eq!(name("abc", "metadata"), name("abc", "metadata"));
        assert_ne!(name("abc", "metadata"), name("abc", "metadata_copy"));
        assert_ne!(name("abc", "metadata"), name("abd", "metadata"));
        assert_eq!(name("abcdefghij", "metadata").len(), "ingester-".len() + 18);
    }
}
