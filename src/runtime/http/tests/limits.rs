//! Servers that hang or fail: time limits, error statuses.

use super::*;

/// A server that sends `part` and then nothing, and tells when the client went.
async fn hangs(part: &'static str) -> (Server, mpsc::UnboundedReceiver<()>) {
    let (gone, left) = mpsc::unbounded_channel();
    let server = server(move |_, mut stream| {
        let gone = gone.clone();
        async move {
            read_request(&mut stream).await;
            stream.write_all(part.as_bytes()).await.expect("a client");
            until_closed(&mut stream).await;
            gone.send(()).expect("a test");
        }
    })
    .await;
    (server, left)
}

#[test]
fn a_hang_before_the_head_ends_at_the_first_byte_limit() {
    for part in ["", "HTTP/1.1 200 OK\r\nContent-Type: text/ev"] {
        run(async {
            let (server, mut left) = hangs(part).await;
            let mut request = request(server.url());
            request.limits.first_byte_ms = 50;
            let http = Http::new(outside());
            let outcome = send(&http, request).await;
            assert_eq!(outcome.retries, []);
            assert_eq!(outcome.error(), HttpError::FirstByte { host: server.address.to_string(), limit_ms: 50 });
            left.recv().await.expect("the client goes");
        });
    }
}

#[test]
fn a_hang_in_the_middle_ends_at_the_idle_limit() {
    run(async {
        let part = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf";
        let (server, mut left) = hangs(part).await;
        let mut request = request(server.url());
        request.limits.idle_ms = 50;
        let http = Http::new(outside());
        let outcome = send(&http, request).await;
        assert_eq!((outcome.retries.len(), &outcome.body[..]), (0, &b"half"[..]));
        let error = outcome.error();
        assert_eq!(error, HttpError::Idle { host: server.address.to_string(), limit_ms: 50 });
        assert!(error.to_string().contains("50 ms"), "{error}");
        left.recv().await.expect("the client goes");
    });
}

#[test]
fn an_error_whose_body_hangs_is_still_the_error() {
    run(async {
        let (server, _left) = hangs("HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\n\r\nhalf").await;
        let mut request = request(server.url());
        request.limits.idle_ms = 50;
        let error = get(request).await.error();
        assert!(matches!(&error, HttpError::Status { status: 400, body, .. } if body == b"half"), "{error:?}");
    });
}

#[test]
fn an_error_status_comes_with_its_body_and_is_not_tried_again() {
    let json = "application/json";
    for (status, content_type, body, step) in [
        (400, Some(json), "{\"error\":{\"message\":\"no\"}}", "settings"),
        (400, Some("text/html"), "<title>Bad</title>", "settings"),
        (400, None, "", "settings"),
        (401, Some(json), "{}", "key"),
        (403, Some(json), "{}", "key"),
        (404, Some(json), "{}", "`url`"),
        (413, Some(json), "{}", "too large"),
        (304, None, "", "`url`"),
    ] {
        run(async {
            let line = content_type.map(|value| format!("Content-Type: {value}\r\n")).unwrap_or_default();
            let length = body.len();
            let server =
                answers([format!("HTTP/1.1 {status} X\r\n{line}Content-Length: {length}\r\n\r\n{body}")]).await;
            let outcome = get(request(server.url())).await;
            assert_eq!((&outcome.retries, &outcome.head), (&vec![], &None));
            let error = outcome.error();
            assert!(error.to_string().contains(step), "{error}");
            assert!(error.to_string().contains(&status.to_string()), "{error}");
            let expected = HttpError::Status {
                host: server.address.to_string(),
                status,
                body: body.as_bytes().to_vec(),
                content_type: content_type.map(str::to_owned),
                retry_after: None,
            };
            assert_eq!((error, server.connections()), (expected, 1));
        });
    }
}

#[test]
fn the_body_of_an_error_is_bounded() {
    run(async {
        let server = server(|_, mut stream| async move {
            read_request(&mut stream).await;
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.expect("a client");
            while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
        })
        .await;
        let error = get(request(server.url())).await.error();
        assert!(
            matches!(&error, HttpError::Status { body, .. } if body.len() == MAX_ERROR_BODY_BYTES),
            "{:?}",
            error.summary()
        );
    });
}
