use super::{FILES, answer};
use crate::request::path;
use flate2::{Compression, write::GzEncoder};
use http::header::{
    ACCEPT, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, Request, Response};
use http_body_util::BodyExt as _;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The most bytes of all files together, compressed as a browser gets them.
const MOST: usize = 150_000;

fn console() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("console")
}

fn get(path: &str, headers: &[(HeaderName, &str)]) -> Option<Response<axum::body::Body>> {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(name, *value);
    }
    let (parts, ()) = request.body(()).unwrap().into_parts();
    answer(&path::parse(path).ok()?, &parts)
}

/// Returns the scripts and pages that belong to the project.
fn own_texts() -> Vec<(&'static str, &'static str)> {
    let is_own = |name: &str| !["preact.mjs", "htm.mjs"].contains(&name);
    let own = FILES.iter().filter(|file| is_own(file.name));
    own.map(|file| (file.name, std::str::from_utf8(file.bytes).unwrap())).collect()
}

#[tokio::test]
async fn every_file_comes_with_its_type_and_a_policy_that_lets_nothing_else_in() {
    for file in FILES {
        let response = get(&format!("/ui/{}", file.name), &[]).unwrap();
        let headers = response.headers().clone();
        assert_eq!(response.status(), 200, "{}", file.name);
        assert_eq!(headers[CONTENT_TYPE], file.media);
        assert_eq!(headers[X_CONTENT_TYPE_OPTIONS], "nosniff");
        let policy = headers[CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
        assert!(response.into_body().collect().await.unwrap().to_bytes() == file.bytes, "{}", file.name);

        let etag = headers[ETAG].to_str().unwrap();
        let again = get(&format!("/ui/{}", file.name), &[(IF_NONE_MATCH, etag)]).unwrap();
        assert_eq!(again.status(), 304);
        assert!(again.into_body().collect().await.unwrap().to_bytes().is_empty());
    }
}

#[test]
fn only_browsers_are_sent_from_the_root_to_the_page() {
    let browser = (ACCEPT, "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");
    assert_eq!(get("/", std::slice::from_ref(&browser)).unwrap().headers()[LOCATION], "ui/");
    assert_eq!(get("/ui", &[]).unwrap().headers()[LOCATION], "ui/");
    for accept in ["*/*", "application/json", ""] {
        assert!(get("/", &[(ACCEPT, accept)]).is_none(), "{accept}");
    }
    for path in ["/ui/none.mjs", "/ui/index.html", "/ui/vendor/preact.mjs", "/ui/a/b", "/apis", "/api"] {
        assert!(get(path, std::slice::from_ref(&browser)).is_none(), "{path}");
    }
    // The same files are served behind the API server.
    assert_eq!(get("/apis/mirror.michelangelo.api/v1/resources/ui/", &[]).unwrap().status(), 200);
}

#[test]
fn all_files_together_are_small() {
    let compressed = |file: &super::File| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(file.bytes).unwrap();
        gzip.finish().unwrap().len()
    };
    let all: usize = FILES.iter().map(compressed).sum();
    assert!(all < MOST, "{all} bytes compressed");
}

#[test]
fn libraries_are_those_of_their_packages() {
    let vendor = console().join("vendor");
    let page = std::fs::read_to_string(vendor.join("README.md")).unwrap();
    let mut compared = 0;
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let bytes = std::fs::read(vendor.join(cells[1])).unwrap();
        let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, cells[4], "{}", cells[1]);
        let licence = cells[3].rsplit('`').next().unwrap();
        assert!(vendor.join(licence).is_file(), "{licence}");
        compared += 1;
    }
    let modules = std::fs::read_dir(&vendor)
        .unwrap()
        .filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "mjs"));
    assert_eq!(compared, modules.count());
}

#[test]
fn every_file_of_the_folder_is_served_and_every_import_is_there() {
    let names: BTreeSet<&str> = FILES.iter().map(|file| file.name).collect();
    for file in std::fs::read_dir(console()).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(names.contains(&*name) || ["index.html", "vendor"].contains(&&*name), "{name} is not served");
    }
    for (name, text) in own_texts() {
        for import in text.lines().filter(|line| line.contains(" from \"") && line.starts_with("import")) {
            let module = import.split('"').nth(1).unwrap();
            assert!(module.strip_prefix("./").is_some_and(|module| names.contains(module)), "{name}: {import}");
        }
    }
}

#[test]
fn values_become_text_and_never_elements_or_scripts() {
    for (name, text) in own_texts() {
        for wrong in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "dangerouslySetInnerHTML",
            "document.write",
            "eval(",
            "new Function",
            "DOMParser",
            "createContextualFragment",
            "srcdoc",
            "javascript:",
            "localStorage",
            "sessionStorage",
            "document.cookie",
            "http://",
            "https://",
        ] {
            let text = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!text.contains(wrong), "{name} has {wrong}");
        }
    }
    let (_, page) = own_texts().into_iter().find(|(name, _)| name.is_empty()).unwrap();
    assert!(!page.contains("<style") && !page.contains(" style=") && !page.contains(" on"), "inline: {page}");
    for script in page.split("<script").skip(1) {
        let (attributes, rest) = script.split_once('>').unwrap();
        assert!(attributes.contains("src=") && rest.starts_with("</script>"), "an inline script: {script}");
    }
}
