//! Errors that name their cause and hide keys.

use super::*;

#[test]
fn a_name_without_address_and_a_closed_port_are_told_apart() {
    run(async {
        let outcome = get(request("http://provider.test/v1")).await;
        assert_eq!(outcome.waits().len(), 4);
        let error = outcome.error();
        let expected =
            HttpError::Dns { host: "provider.test".to_owned(), reason: "there are no names here".to_owned() };
        assert_eq!(error, expected);

        let closed = TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address");
        let outcome = get(request(format!("http://{closed}/"))).await;
        assert_eq!(outcome.waits().len(), 4);
        assert_eq!(outcome.error(), HttpError::Refused { host: closed.to_string() });
    });
}

#[test]
fn a_bad_url_and_a_bad_header_are_named_without_keys() {
    run(async {
        let scheme = "does not begin with http:// or https://";
        for (url, reason) in [
            ("", scheme),
            ("localhost:11434/v1", scheme),
            ("${url}/v1", scheme),
            ("ftp://x", scheme),
            (&format!("htp://me:{KEY}@x/?key={KEY}"), scheme),
            ("http://", "empty host"),
            (&format!("http://me:{KEY}@x:y/?key={KEY}"), "port"),
        ] {
            let error = get(request(url)).await.error();
            assert!(matches!(error, HttpError::BadUrl { .. }), "{error:?}");
            assert!(error.to_string().contains(reason), "{error}");
        }
        for (name, value) in [("X-Key", format!("{KEY}\n")), ("X Key", KEY.to_owned())] {
            let request = HttpRequest { headers: vec![(name.to_owned(), value)], ..request("http://127.0.0.1/") };
            assert_eq!(get(request).await.error(), HttpError::BadHeader { name: name.to_owned() });
        }
    });
}

#[test]
fn a_key_that_the_server_repeats_is_hidden() {
    run(async {
        let body = format!("{{\"error\":\"wrong key {KEY} or {KEY}, see application/json\"}}");
        let length = body.len();
        let server = answers([format!("HTTP/1.1 401 X\r\nContent-Length: {length}\r\n\r\n{body}")]).await;
        for headers in [
            vec![("Authorization".to_owned(), format!("Bearer {KEY}"))],
            vec![("x-api-key".to_owned(), KEY.to_owned())],
            vec![],
        ] {
            let url = if headers.is_empty() { format!("{}?key={KEY}", server.url()) } else { server.url() };
            let error = get(HttpRequest { headers, ..request(url) }).await.error();
            let HttpError::Status { body, .. } = error else { panic!("{error:?}") };
            let expected = "{\"error\":\"wrong key [hidden] or [hidden], see application/json\"}";
            assert_eq!(String::from_utf8(body).expect("text"), expected);
        }
    });
}

#[test]
fn the_debug_text_of_a_request_has_no_key() {
    let request = HttpRequest {
        proxy: Some(format!("http://me:{KEY}@proxy.test:1")),
        environment: Environment { all_proxy: Some(format!("http://{KEY}@x")), ..Environment::default() },
        ..request(format!("https://me:{KEY}@provider.test/v1?key={KEY}#{KEY}"))
    };
    let shown = format!("{request:?}");
    assert!(!shown.contains(KEY), "{shown}");
    for word in ["https://provider.test/v1", "Authorization", "http://proxy.test:1"] {
        assert!(shown.contains(word), "{shown}");
    }
}
