//! The table of keys: what can be asked, and how each spelling writes it. A new key is a row of this table.

use ingester_core::schema::base;
use std::sync::LazyLock;

/// A way in which a question is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// Options of `ingester get`: `--created-after=7d`.
    Command,
    /// Parameters of a URL: `created-after=7d`.
    Url,
    /// Requirements of a label selector, less their prefix: `created-after=7d`.
    PseudoLabel,
    /// Keys of a saved query: `createdAfter: 7d`.
    Saved,
}

/// The subject of a key, which decides how its values are read. Each value is a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Namespaces, each a value.
    Namespaces,
    /// Uids, each a value.
    Uids,
    /// States, each a value: see [`StateName`](super::StateName).
    States,
    /// A label selector in each value.
    Labels,
    /// A field selector in each value.
    Fields,
    /// A time, the only value.
    Time {
        /// The place of its column among those that every table has.
        place: usize,
        /// Then or later, and not earlier.
        from: bool,
    },
    /// The moment that is asked about, the only value.
    At,
    /// Steps of an order in each value.
    Order,
    /// `true` or `false`, the only value.
    Scan,
}

/// Something that can be asked in every spelling.
#[derive(Debug, PartialEq, Eq)]
pub struct AskKey {
    meaning: Meaning,
    about: &'static str,
    /// Its place in the table. Conditions of a query are in this order.
    pub(super) rank: usize,
    /// Its names, by [`Spelling`].
    names: [Option<String>; 4],
}

/// A row of the table.
struct Row {
    /// The name, from which each spelling makes its own.
    name: &'static str,
    meaning: Meaning,
    /// A line about the key for the user. `{state}` stands for the key of this name in the reader's spelling.
    about: &'static str,
    /// The names that differ from what the spelling would make; `None` where the spelling lacks the key.
    except: &'static [(Spelling, Option<&'static str>)],
}

use Spelling::{Command, PseudoLabel, Saved, Url};

const ROWS: [Row; AskKey::COUNT] = [
    Row {
        name: "namespace",
        meaning: Meaning::Namespaces,
        about: "Only objects in these namespaces; default: all namespaces",
        // The path has it.
        except: &[(Url, None), (PseudoLabel, None), (Saved, Some("namespaces"))],
    },
    Row {
        name: "label-selector",
        meaning: Meaning::Labels,
        about: "Only objects whose labels match: `team=pricing,stage in (dev,test),!old`",
        // As kubectl has it, and as Kubernetes has it. It is what pseudo-labels are in.
        except: &[(Command, Some("selector")), (Url, Some("labelSelector")), (PseudoLabel, None)],
    },
    Row {
        name: "field-selector",
        meaning: Meaning::Fields,
        about: "Only objects whose fields match: `spec.actor.name=ada,status.state!=PIPELINE_RUN_STATE_SUCCEEDED`; also lists of values \
                (`status.phase in (Failed, Lost)`, `notin`) and ranges with `<`, `<=`, `>` and `>=` (`spec.notAfter<in 30d`). A field needs a column (`ingester kinds -o wide` lists them), or {scan}",
        except: &[(Url, Some("fieldSelector")), (PseudoLabel, None)],
    },
    Row {
        name: "uid",
        meaning: Meaning::Uids,
        about: "Only objects with these uids, in any state unless {state} says otherwise",
        except: &[(Saved, Some("uids"))],
    },
    Row {
        name: "state",
        meaning: Meaning::States,
        about: "Only objects in these states: live, evicted, deleted, all; default: live and evicted, unless another key selects others",
        except: &[(Saved, Some("states"))],
    },
    Row {
        name: "created-after",
        meaning: Meaning::Time { place: base::CREATE_TIME, from: true },
        about: "Only objects created at this time or later: RFC 3339, a date, `now`, how long ago (`7d`, `7d ago`), or `in 2h`",
        except: &[],
    },
    Row {
        name: "created-before",
        meaning: Meaning::Time { place: base::CREATE_TIME, from: false },
        about: "Only objects created before this time",
        except: &[],
    },
    Row {
        name: "deleted-after",
        meaning: Meaning::Time { place: base::DELETE_TIME, from: true },
        about: "Only objects deleted at this time or later; selects deleted objects, so a {state} without them is an error",
        except: &[],
    },
    Row {
        name: "deleted-before",
        meaning: Meaning::Time { place: base::DELETE_TIME, from: false },
        about: "Only objects deleted before this time; selects deleted objects, so a {state} without them is an error",
        except: &[],
    },
    Row {
        name: "at",
        meaning: Meaning::At,
        about: "Objects as they were at this time, if their kind keeps a history; label selectors need {scan}",
        except: &[],
    },
    Row {
        name: "scan",
        meaning: Meaning::Scan,
        about: "Allow selectors of fields without a column, which read every stored object",
        except: &[],
    },
    Row {
        name: "order-by",
        meaning: Meaning::Order,
        about: "The order: columns or paths of fields, `-` for descending: `-create_time,.metadata.name`; default: namespace and name",
        // As kubectl has it.
        except: &[(Command, Some("sort-by"))],
    },
];

static KEYS: LazyLock<Vec<AskKey>> = LazyLock::new(|| {
    let key = |(rank, Row { name, meaning, about, except }): (usize, &Row)| AskKey {
        meaning: *meaning,
        about,
        rank,
        names: Spelling::ALL.map(|spelling| match except.iter().find(|(of, _)| *of == spelling) {
            Some((_, other)) => other.map(str::to_owned),
            None => Some(spelling.convention(name)),
        }),
    };
    ROWS.iter().enumerate().map(key).collect()
});

impl Spelling {
    /// All spellings.
    pub const ALL: [Spelling; 4] = [Command, Url, PseudoLabel, Saved];

    /// How it writes a name.
    fn convention(self, name: &str) -> String {
        match self {
            Command | Url | PseudoLabel => name.to_owned(),
            Saved => {
                let mut words = name.split('-');
                let first = words.next().unwrap_or_default().to_owned();
                words.fold(first, |name, word| name + &word[..1].to_ascii_uppercase() + &word[1..])
            }
        }
    }
}

impl AskKey {
    /// The number of keys.
    pub const COUNT: usize = 12;

    /// All keys, in the order of the table.
    pub fn all() -> &'static [AskKey] {
        &KEYS
    }

    /// The key of this name in a spelling.
    pub fn named(spelling: Spelling, name: &str) -> Option<&'static AskKey> {
        KEYS.iter().find(|key| key.name(spelling) == Some(name))
    }

    /// The key that asks for this.
    pub(super) fn for_meaning(meaning: Meaning) -> &'static AskKey {
        KEYS.iter().find(|key| key.meaning == meaning).expect("a row of the table")
    }

    /// The names of all keys of a spelling.
    pub fn names(spelling: Spelling) -> impl Iterator<Item = &'static str> {
        KEYS.iter().filter_map(move |key| key.name(spelling))
    }

    /// Its name in a spelling: an option without `--`, a pseudo-label without its prefix. `None` where the spelling lacks it.
    pub fn name(&self, spelling: Spelling) -> Option<&str> {
        self.names[spelling as usize].as_deref()
    }

    /// Its name in a text in this spelling: an option with `--`, anything else between backticks.
    pub fn render(&self, spelling: Spelling) -> String {
        match self.name(spelling) {
            Some(name) if spelling == Command => format!("--{name}"),
            Some(name) => format!("`{name}`"),
            None => format!("the {}", ROWS[self.rank].name),
        }
    }

    /// Returns the subject of the key.
    pub fn meaning(&self) -> Meaning {
        self.meaning
    }

    /// True if one text may contain several values, with commas between them.
    pub fn is_list(&self) -> bool {
        matches!(self.meaning, Meaning::Namespaces | Meaning::Uids | Meaning::States)
    }

    /// Describes the key in one line. Other keys appear in it under their names in this spelling.
    pub fn about(&self, spelling: Spelling) -> String {
        ROWS.iter().zip(AskKey::all()).fold(self.about.to_owned(), |about, (row, key)| {
            about.replace(&format!("{{{}}}", row.name), &key.render(spelling))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{AskKey, ROWS, Row, Spelling};

    #[test]
    fn each_spelling_writes_a_name_by_its_convention() {
        let all: Vec<String> = Spelling::ALL.map(|spelling| spelling.convention("created-after")).into();
        assert_eq!(all, ["created-after", "created-after", "created-after", "createdAfter"]);
        let key = AskKey::named(Spelling::Command, "created-after").unwrap();
        assert_eq!(AskKey::named(Spelling::Saved, "createdAfter"), Some(key));
        assert_eq!(
            Spelling::ALL.map(|spelling| key.render(spelling)),
            ["--created-after", "`created-after`", "`created-after`", "`createdAfter`"]
        );
    }

    #[test]
    fn no_two_keys_have_one_name_and_exceptions_are_exceptions() {
        for spelling in Spelling::ALL {
            let mut names: Vec<&str> = AskKey::names(spelling).collect();
            names.sort_unstable();
            let all = names.len();
            names.dedup();
            assert_eq!(names.len(), all, "{spelling:?}");
        }
        for Row { name, except, .. } in &ROWS {
            for (spelling, other) in *except {
                assert_ne!(other.map(str::to_owned), Some(spelling.convention(name)), "{name}, {spelling:?}");
            }
        }
        // The files of saved queries are read with it.
        assert_eq!(AskKey::names(Spelling::Saved).count(), AskKey::COUNT);
    }

    #[test]
    fn what_a_key_is_for_names_other_keys_as_the_spelling_does() {
        let of = |spelling, name| AskKey::named(spelling, name).unwrap().about(spelling);
        assert!(of(Spelling::Command, "uid").ends_with("unless --state says otherwise"));
        assert!(of(Spelling::Saved, "uids").ends_with("unless `states` says otherwise"));
        for spelling in Spelling::ALL {
            assert!(AskKey::all().iter().all(|key| !key.about(spelling).contains(['{', '}', '\n'])));
        }
    }
}
