//! Helpers and the tests of what both formats share; the formats have separate files.

mod json;
mod properties;
mod yaml;

use std::io::{BufReader, Read};

use super::{Document, DocumentError, documents};

/// Reads a text: line and JSON value of each object, or line and message of each failure.
fn read(text: impl AsRef<[u8]>) -> Vec<(u64, Result<serde_json::Value, String>)> {
    raw(text.as_ref(), 1 << 16)
        .into_iter()
        .map(|document| {
            let content = document.content.map_err(|error| error.to_string());
            (document.line, content.map(|json| serde_json::from_str(&json).expect("JSON")))
        })
        .collect()
}

/// The same with a buffer of this many bytes, as it comes.
fn raw(text: &[u8], buffer: usize) -> Vec<Document> {
    let documents: Vec<Document> =
        documents(BufReader::with_capacity(buffer, text)).map(|document| document.expect("no I/O here")).collect();
    for (index, document) in documents.iter().enumerate() {
        assert_eq!(document.number, index as u64 + 1, "documents are numbered in order");
    }
    documents
}

/// The objects of a text which holds nothing else.
fn objects(text: impl AsRef<[u8]>) -> Vec<serde_json::Value> {
    read(text)
        .into_iter()
        .map(|(line, content)| content.unwrap_or_else(|error| panic!("line {line}: {error}")))
        .collect()
}

/// The only failure of a text without objects.
fn failure(text: impl AsRef<[u8]>) -> String {
    match read(text).as_slice() {
        [(_, Err(error))] => error.clone(),
        other => panic!("one failure expected, not {other:?}"),
    }
}

/// `line name` of objects by `metadata.name` or `name`; `line !message` of failures.
fn summary(text: impl AsRef<[u8]>) -> Vec<String> {
    read(text)
        .into_iter()
        .map(|(line, content)| match content {
            Ok(value) => {
                format!("{line} {}", value.pointer("/metadata/name").unwrap_or(&value["name"]).as_str().unwrap_or("?"))
            }
            Err(error) => format!("{line} !{error}"),
        })
        .collect()
}

/// A reader that repeats a part between a beginning and an end.
struct RepeatingReader {
    begin: &'static [u8],
    part: Vec<u8>,
    times: usize,
    end: &'static [u8],
}

impl RepeatingReader {
    fn reader(self) -> BufReader<impl Read> {
        let RepeatingReader { begin, part, times, end } = self;
        let mut count = 0;
        let mut current = std::io::Cursor::new(Vec::new());
        let parts = std::iter::from_fn(move || {
            count += 1;
            (count <= times).then(|| part.clone())
        });
        let mut all = std::iter::once(begin.to_vec()).chain(parts).chain(std::iter::once(end.to_vec()));
        let read = move |buffer: &mut [u8]| {
            loop {
                let read = current.read(buffer)?;
                if read > 0 || buffer.is_empty() {
                    return Ok(read);
                }
                match all.next() {
                    Some(part) => current = std::io::Cursor::new(part),
                    None => return Ok(0),
                }
            }
        };
        struct Reader<F>(F);
        impl<F: FnMut(&mut [u8]) -> std::io::Result<usize>> Read for Reader<F> {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                (self.0)(buffer)
            }
        }
        BufReader::with_capacity(1 << 16, Reader(read))
    }
}

#[test]
fn a_source_without_content_holds_nothing() {
    for text in [
        "",
        " ",
        "\n\n",
        "# a comment",
        "# one\n  # two\n\n",
        "\u{feff}",
        "\u{feff}\n",
        "---\n",
        "---\n---\n...\n# end\n",
        "null\n",
        "--- ~\n",
    ] {
        assert!(read(text).is_empty(), "{text:?} gave {:?}", read(text));
    }
}

#[test]
fn first_byte_after_blanks_and_comments_decides_the_format() {
    let json = r#"{"name":	"a"}"#;
    for before in ["", "\u{feff}", " \r\n\t", "# comment {\n", "\u{feff}# comment\n\n  "] {
        let text = format!("{before}{json}{json}");
        // Two objects in a row are JSON only.
        assert_eq!(objects(&text).len(), 2, "{text:?}");
        let text = format!("{before}[{json}]");
        assert_eq!(objects(&text).len(), 1, "{text:?}");
    }
    for yaml in [
        "name: a\n",
        "# {\nname: a\n",
        "\u{feff}name: a",
        "--- {name: a}",
        "  name: a\n  kind: B\n",
        "%YAML 1.2\n---\nname: a\n",
    ] {
        assert_eq!(objects(yaml)[0]["name"], "a", "{yaml:?}");
    }
}

#[test]
fn bytes_that_are_not_utf8_fail_with_their_offset() {
    let failure = |text: &[u8]| {
        let said = failure(text);
        let remedy = "; convert it: iconv -f LATIN1 -t UTF-8 FILE > FILE.utf8";
        said.strip_suffix(remedy).unwrap_or_else(|| panic!("no remedy in {said}")).to_owned()
    };
    assert_eq!(failure(b"a: b\nc: \xff\n"), "not valid UTF-8 at byte 8");
    assert_eq!(failure(b"\xef\xbb\xbf{\"a\": \"\xff\"}"), "not valid UTF-8 at byte 10");
    assert_eq!(failure(b"\xef\xbb"), "not valid UTF-8 at byte 0");
    // PowerShell writes UTF-16 with a byte order mark.
    assert_eq!(failure(b"\xff\xfea\0:\0 \0b\0"), "not valid UTF-8 at byte 0");
}

#[test]
fn noise_is_read_quickly_and_gives_few_errors() {
    let mut state = 1u64;
    let mut noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    })
    .take(3_000_000)
    .collect();
    for begin in [&b""[..], b"{", b"{\"a\":", b"[", b"a: b\n", b"items:\n- a: b"] {
        noise.splice(..0, begin.iter().copied());
        let found = raw(&noise, 1 << 16);
        assert!((1..=5).contains(&found.len()), "{} failures behind {begin:?}", found.len());
        // Three million bytes may hold a `{}` by chance, never more.
        assert!(
            found
                .iter()
                .all(|document| document.content.as_ref().is_ok_and(|text| text == "{}") || document.content.is_err())
        );
        noise.drain(..begin.len());
    }
}

#[test]
fn documents_before_a_read_error_are_returned() {
    struct FailingReader;
    impl Read for FailingReader {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    for text in ["{\"name\":\"a\"}\n{\"name\":", "name: a\n---\nname: b\n"] {
        let mut documents = documents(BufReader::with_capacity(4, text.as_bytes().chain(FailingReader)));
        assert!(documents.next().expect("one").expect("read").content.is_ok());
        assert_eq!(documents.next().expect("the failure").expect_err("of the disk").to_string(), "the disk is gone");
        assert!(documents.next().is_none());
    }
}

#[test]
fn a_stream_without_an_end_is_given_up() {
    // A line, a document, a text, a comment and blanks that never end.
    for (begin, endless) in [("", "\0"), ("", "y\n"), ("{\"a\":\"", "x"), ("# ", "x"), ("", " ")] {
        let part = endless.repeat(1 << 16).into_bytes();
        let stream = RepeatingReader { begin: begin.as_bytes(), part, times: usize::MAX, end: b"" };
        let mut documents = documents(stream.reader());
        documents.source.expect_within(1 << 20);
        let error = documents.by_ref().find_map(Result::err).expect("an error").to_string();
        assert!(error.starts_with("1 GiB without the end of a document"), "{error}");
        assert!(documents.next().is_none());
    }
}

#[test]
fn progress_counts_every_byte_once() {
    // The second makes the scanner go back.
    for text in ["\u{feff}{\"a\":1}\n\n", "{\"a\":[1,\n{\"b\":1}\n{\"c\":1}\n", "# c\n  a: b\n---\n c"] {
        let mut documents = documents(text.as_bytes());
        assert!(documents.by_ref().count() > 0);
        assert_eq!(documents.bytes_read(), text.len() as u64);
    }
}

#[test]
fn document_above_the_size_limit_fails_alone_and_is_not_held() {
    let part = vec![b'x'; 1 << 20];
    let cases: [(&[u8], &[u8]); 4] = [
        (b"{\"name\":\"a\"}\n{\"big\":\"", b"\"}\n{\"name\":\"z\"}\n"),
        (b"{\"items\":[{\"name\":\"a\"},{\"big\":\"", b"\"},{\"name\":\"z\"}]}"),
        (b"name: a\n---\nbig: ", b"\n---\nname: z\n"),
        (b"items:\n- name: a\n- big: ", b"\n- name: z\n"),
    ];
    for (begin, end) in cases {
        let mut documents = documents(RepeatingReader { begin, part: part.clone(), times: 65, end }.reader());
        let found: Vec<_> = documents.by_ref().map(|document| document.expect("no I/O here").content).collect();
        let [Ok(_), Err(DocumentError::TooLarge), Ok(_)] = found.as_slice() else {
            panic!("{:?}", found.iter().map(Result::is_ok).collect::<Vec<_>>());
        };
        assert!(documents.held() < 1 << 20, "{} bytes held", documents.held());
    }
}

#[test]
fn memory_stays_the_same_however_many_items_a_list_has() {
    let json = br#"{"apiVersion":"v1","kind":"A","metadata":{"name":"n"}},"#.to_vec();
    let yaml = b"- apiVersion: v1\n  kind: A\n  metadata:\n    name: n\n".to_vec();
    let cases: [(&[u8], Vec<u8>, &[u8]); 4] = [
        (b"{\"apiVersion\":\"v1\",\"items\":[", json.clone(), b"{}],\"kind\":\"List\"}"),
        (b"[", json.clone(), b"{}]"),
        (b"", json[..json.len() - 1].to_vec(), b"{}"),
        (b"apiVersion: v1\nitems:\n", yaml, b"- {}\nkind: List\n"),
    ];
    for (begin, part, end) in cases {
        let mut documents = documents(RepeatingReader { begin, part, times: 50_000, end }.reader());
        let mut most = 0;
        let mut count = 0;
        while let Some(document) = documents.next() {
            document.expect("no I/O here").content.expect("an object");
            count += 1;
            most = most.max(documents.held()).max(documents.found.len());
        }
        assert_eq!(count, 50_001);
        assert!(most < 4096, "{most} bytes held");
    }
}
