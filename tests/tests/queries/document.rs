//! docs/queries.md, and the questions of docs/history.md, parsed.

use ingester_tests::databases::On;

const TEXT: &str = include_str!("../../../docs/queries.md");

const HISTORY: &str = include_str!("../../../docs/history.md");

pub(crate) struct Document {
    /// The first block of Rust, before the questions.
    pub(crate) how_to_ask: String,
    pub(crate) questions: Vec<Question>,
    /// The SQL that differs on MySQL, MariaDB, SQLite and PostgreSQL.
    others: Vec<[String; 4]>,
}

pub(crate) struct Question {
    pub(crate) title: String,
    pub(crate) command: String,
    pub(crate) rust: String,
    sql: String,
}

impl Document {
    pub(crate) fn read() -> Self {
        let (before, questions) = TEXT.split_once("\n## Questions\n").expect("the questions");
        let question = |section: &str| {
            let (title, text) = section.split_once('\n').expect("a title");
            let block = |language| only(blocks(text, language), &format!("{title}: {language}"));
            Question { title: title.to_owned(), command: block("sh"), rust: block("rust"), sql: block("sql") }
        };
        Document {
            how_to_ask: only(blocks(before, "rust"), "how to ask"),
            questions: questions.split("\n### ").skip(1).map(question).collect(),
            others: others(before),
        }
    }

    /// The questions about the past, which are not asked in Rust.
    pub(crate) fn of_history() -> Self {
        let (_, questions) = HISTORY.split_once("\n## Questions\n").expect("the questions");
        let (questions, _) = questions.split_once("\n## ").expect("what comes behind them");
        let question = |section: &str| {
            let (title, text) = section.split_once('\n').expect("a title");
            let block = |language| only(blocks(text, language), &format!("{title}: {language}"));
            Question { title: title.to_owned(), command: block("sh"), rust: String::new(), sql: block("sql") }
        };
        Document {
            how_to_ask: String::new(),
            questions: questions.split("\n### ").skip(1).map(question).collect(),
            others: others(questions),
        }
    }

    /// The SQL of a question, as it is written for this database.
    pub(crate) fn sql(&self, question: &Question, on: On) -> String {
        let of = match on {
            On::MySql => 0,
            On::MariaDb => 1,
            On::Sqlite => 2,
            On::Postgres => 3,
        };
        self.others.iter().fold(question.sql.clone(), |sql, written| sql.replace(&written[0], &written[of]))
    }
}

impl Question {
    /// Whether the order of the answer matters.
    pub(crate) fn is_ordered(&self) -> bool {
        self.sql.contains("ORDER BY")
    }

    /// Whether the answer has objects, and not numbers.
    pub(crate) fn is_of_objects(&self) -> bool {
        self.sql.starts_with("SELECT uid,")
    }
}

/// The SQL that differs on each database.
fn others(text: &str) -> Vec<[String; 4]> {
    let (_, table) = text.split_once("\n| MySQL | MariaDB | SQLite | PostgreSQL |\n").expect("a table of differences");
    let cells = |line: &str| -> [String; 4] {
        let cells: Vec<String> =
            line.trim_matches(['|', ' ']).split(" | ").map(|cell| cell.trim_matches('`').to_owned()).collect();
        cells.try_into().expect("four cells")
    };
    let others: Vec<_> = table.lines().skip(1).take_while(|line| line.starts_with('|')).map(cells).collect();
    assert!(!others.is_empty());
    others
}

/// The blocks of code in a language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let begin = format!("\n```{language}\n");
    text.split(&begin).skip(1).map(|rest| rest.split("\n```").next().unwrap_or(rest).to_owned()).collect()
}

fn only(mut blocks: Vec<String>, what: &str) -> String {
    assert_eq!(blocks.len(), 1, "{what}");
    blocks.remove(0)
}
