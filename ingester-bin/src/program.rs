//! A program: its kinds and migrations.
//!
//! May use: ending, ingester-core, ingester-declare.

use crate::ending::Failure;
use anyhow::anyhow;
use ingester_core::GeneratedSql;
use ingester_core::kind::Record;
use ingester_core::marks::Marks;
use ingester_core::view::View;
use ingester_core::{Kind, KindNames, Registry};
use ingester_declare::declare::DeclaredKinds;
use ingester_declare::kept::kept;

/// An ingester for a registry of kinds.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// All kinds: the built-in kinds, then the declared ones.
    pub(crate) kinds: &'static [Kind],
    /// The built-in kinds. The migrations belong to them.
    pub(crate) built_in: &'static [Kind],
    /// The kinds of a file. Once the program [follows](Program::following), they include the built-in kinds if these have no migrations.
    pub(crate) declared: &'static [Kind],
    /// The views over the declared kinds.
    pub(crate) declared_views: &'static [View],
    /// The kinds of the file that do not say what to store if an object has no value.
    pub(crate) silent: &'static [&'static str],
    /// The views over the built-in kinds.
    pub(crate) views: &'static [View],
    pub(crate) sql: Option<GeneratedSql>,
    /// The files that declare kinds.
    pub(crate) kinds_files: Option<KindsFiles>,
    /// The prefix of its finalizer and annotations, if given.
    pub(crate) prefix: Option<&'static str>,
    /// The names of the finalizer and annotations of all its kinds.
    pub(crate) marks: &'static Marks,
}

/// The files that declare kinds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KindsFiles {
    /// The name of the first file or folder that was given, without the folders that contain it.
    pub(crate) name: &'static str,
    /// The files, in the order in which they were given; those of a folder are sorted.
    pub(crate) files: &'static [KindsSource],
}

/// A file that declares kinds, and the files that it names.
#[derive(Debug)]
pub(crate) struct KindsSource {
    /// Its path.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
    /// The bytes of each file that it names, by the name.
    pub(crate) named: Vec<(String, Vec<u8>)>,
}

impl Program {
    /// An ingester for these kinds.
    pub const fn new(kinds: &'static [Kind]) -> Self {
        Program {
            kinds,
            built_in: kinds,
            declared: &[],
            declared_views: &[],
            silent: &[],
            views: &[],
            sql: None,
            kinds_files: None,
            prefix: None,
            marks: &Marks::MICHELANGELO,
        }
    }

    /// Sets the prefix of its finalizer and annotations, a DNS subdomain such as `data.example.com`, instead of `michelangelo`:
    /// `data.example.com/Ingester`, `data.example.com/Immutable`. A database with another prefix is refused.
    #[must_use]
    pub const fn prefix(mut self, prefix: &'static str) -> Self {
        self.prefix = Some(prefix);
        self
    }

    /// Returns the output of `--version` for a program with its own prefix, or with one from a file.
    pub(crate) fn version(&self, of_file: Option<&'static str>) -> Option<&'static str> {
        let version = |prefix| format!("{}\nprefix of finalizer and annotations: {prefix}", env!("CARGO_PKG_VERSION"));
        self.prefix.or(of_file).map(|prefix| kept(version(prefix)))
    }

    /// Returns the same program with the names from itself or from a file, and with the names of former prefixes.
    pub(crate) fn with_marks(
        self,
        of_file: Option<(&str, &'static str)>,
        former: Vec<&'static str>,
    ) -> Result<Self, Failure> {
        if let (Some(own), Some((file, other))) = (self.prefix, of_file)
            && own != other
        {
            return Err(Failure::Usage(anyhow!(
                "this program has the prefix `{own}`, and {file} says `prefix: {other}`: leave it out of the file, or give the program the same prefix"
            )));
        }
        let prefix = self.prefix.or(of_file.map(|(_, prefix)| prefix)).unwrap_or(Marks::MICHELANGELO.prefix());
        let marks = Marks::new(prefix, kept(former)).map_err(|error| Failure::Usage(anyhow!(error)))?;
        if marks == Marks::MICHELANGELO {
            return Ok(self);
        }
        let marks: &'static Marks = kept(marks);
        let kinds: Vec<Kind> = self.kinds.iter().map(|kind| kind.marked(marks)).collect();
        Ok(Program { marks, ..self.with_kinds(kept(kinds)) })
    }

    /// Returns the same program with its kinds in another form.
    fn with_kinds(self, kinds: &'static [Kind]) -> Self {
        let (built_in, declared) = kinds.split_at(self.built_in.len());
        Program { kinds, built_in, declared, ..self }
    }

    /// Adds views over the tables of the kinds, see [`ingester_core::view`]. They are part of the schema, as the tables are.
    #[must_use]
    pub const fn views(mut self, views: &'static [View]) -> Self {
        self.views = views;
        self
    }

    /// Returns the kinds of the built-in migrations.
    pub(crate) const fn registry(&self) -> Registry<'static> {
        Registry { kinds: self.built_in, views: self.views }
    }

    /// Returns the declared kinds, whose tables follow them.
    pub(crate) const fn of_declared(&self) -> Registry<'static> {
        Registry { kinds: self.declared, views: self.declared_views }
    }

    /// Builds the migrations of the kinds in, see [`generated_sql!`](ingester_core::generated_sql). Without them, the tables follow the
    /// structs as far as that only adds, and the database counts the definitions, as for kinds of a file.
    #[must_use]
    pub const fn sql(mut self, sql: GeneratedSql) -> Self {
        self.sql = Some(sql);
        self
    }

    /// Returns the same program with the declarations of a file.
    pub(crate) fn with_declared(self, file: DeclaredKinds) -> Self {
        let declared = kept(file.kinds);
        let declared_views = file.views;
        let silent = kept(file.silent);
        match file.built_in {
            true => Program { declared, declared_views, silent, ..self }.with_built_in(self.built_in),
            false => {
                let views = &[];
                Program { kinds: declared, built_in: &[], declared, declared_views, silent, views, sql: None, ..self }
            }
        }
    }

    /// Returns the same program for work on a database. Built-in kinds without migrations count as declared there: their tables follow, and
    /// the database counts their definitions.
    pub(crate) fn following(self) -> Self {
        if self.sql.is_some() || self.built_in.is_empty() {
            return self;
        }
        let recorded = |kind: &Kind| kind.recorded(kept(Record::of_whole(kind.definition())));
        let built_in: Vec<Kind> = self.built_in.iter().map(recorded).collect();
        let declared: &'static [Kind] = kept([&built_in[..], self.declared].concat());
        let declared_views: &'static [View] = kept([self.views, self.declared_views].concat());
        Program { kinds: declared, built_in: &[], declared, declared_views, views: &[], ..self }
    }

    /// Returns the arguments to add to `ingester schema apply` and the like for declared kinds: kinds of a file are known only with the
    /// file.
    pub(crate) const fn with_file(&self) -> &'static str {
        if self.kinds_files.is_some() { " --kinds FILE" } else { "" }
    }

    /// Returns the same program with other kinds instead of the built-in ones.
    pub(crate) fn with_built_in(self, built_in: &'static [Kind]) -> Self {
        let kinds: &'static [Kind] = match self.declared {
            [] => built_in,
            declared => kept([built_in, declared].concat()),
        };
        Program { kinds, built_in, ..self }
    }

    /// Returns the same program, in which each kind has a unique name.
    pub(crate) fn with_names(self) -> Self {
        let Some(kinds) = KindNames::distinct(self.kinds) else { return self };
        self.with_kinds(kept(kinds))
    }

    /// Returns the kinds of the schema commands: the declared kinds if there are any, because built-in kinds have their own migrations.
    pub(crate) const fn of_schema(&self) -> Registry<'static> {
        if self.declared.is_empty() { self.registry() } else { self.of_declared() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, Program};
    use crate::fixture::MODEL;
    use ingester_core::Kind;
    use ingester_core::marks::{Mark, Marks};

    const KINDS: &[Kind] = &[MODEL];

    #[test]
    fn program_and_file_have_one_prefix_or_one_of_them_none() {
        let own = Program::new(KINDS).prefix("a.example.com");
        let prefix = |program: Result<Program, Failure>| match program {
            Ok(program) => {
                assert_eq!(program.kinds[0].marks(), program.marks);
                assert_eq!(program.built_in[0].marks(), program.marks);
                Ok(program.marks.prefix())
            }
            Err(Failure::Usage(error) | Failure::Work(error)) => Err(error.to_string()),
        };
        let a = Some(("kinds.yaml", "a.example.com"));
        let b = Some(("kinds.yaml", "b.example.com"));
        assert_eq!(prefix(Program::new(KINDS).with_marks(None, Vec::new())).unwrap(), "michelangelo");
        assert_eq!(prefix(Program::new(KINDS).with_marks(b, Vec::new())).unwrap(), "b.example.com");
        assert_eq!(prefix(own.with_marks(None, Vec::new())).unwrap(), "a.example.com");
        assert_eq!(prefix(own.with_marks(a, Vec::new())).unwrap(), "a.example.com");
        let error = prefix(own.with_marks(b, Vec::new())).unwrap_err();
        assert!(["`a.example.com`", "kinds.yaml", "b.example.com"].iter().all(|part| error.contains(part)), "{error}");
        let error = prefix(Program::new(KINDS).prefix("A/b").with_marks(None, Vec::new())).unwrap_err();
        assert!(error.contains("`A/b`"), "{error}");
        assert!(prefix(own.with_marks(None, vec!["a.example.com"])).unwrap_err().contains("formerPrefixes"));
    }

    #[test]
    fn a_program_with_a_prefix_says_it_with_its_version_and_gives_it_to_its_kinds() {
        assert_eq!(Program::new(KINDS).version(None), None);
        assert!(Program::new(KINDS).version(Some("b.example.com")).unwrap().ends_with("annotations: b.example.com"));
        let own = Program::new(KINDS).prefix("a.example.com");
        assert!(own.version(None).unwrap().ends_with("annotations: a.example.com"));
        let Ok(moved) = own.with_marks(None, vec!["michelangelo"]) else { panic!("it has a prefix of its own") };
        let marks: &Marks = moved.with_names().kinds[0].marks();
        assert_eq!(marks.name(Mark::Finalizer).to_string(), "a.example.com/Ingester");
        assert!(marks.is(Mark::Finalizer, "michelangelo/Ingester"));
    }
}
