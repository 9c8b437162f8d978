//! Answers as they come: whole, in pieces, compressed, cut off.

use super::*;

#[test]
fn the_body_is_the_same_wherever_the_stream_is_cut() {
    let body = "data: {\"é\":1}\n\ndata: [DONE]\n\n".as_bytes();
    for bytes in [1, 5, body.len()] {
        let raw = [STREAM.as_bytes(), &chunked(body, bytes)].concat();
        run(async {
            let cuts = raw.clone();
            let server = server(move |number, mut stream| {
                let cuts = cuts.clone();
                async move {
                    read_request(&mut stream).await;
                    stream.write_all(&cuts[..number]).await.expect("a client");
                    settle().await;
                    stream.write_all(&cuts[number..]).await.expect("a client");
                }
            })
            .await;
            for _ in 0..raw.len() {
                let outcome = get(request(server.url())).await;
                assert_eq!((outcome.end, outcome.retries), (Ok(()), vec![]));
                assert_eq!(outcome.head, Some((200, Some("text/event-stream".to_owned()))));
                assert_eq!(outcome.body, body);
            }
            assert_eq!(server.connections(), raw.len());
        });
    }
}

#[test]
fn the_request_is_whole_and_says_who_sends_it() {
    run(async {
        let server = answers([OK]).await;
        assert_eq!(get(request(server.url())).await.end, Ok(()));
        let head = server.requests().concat();
        assert!(head.starts_with("POST /v1/chat HTTP/1.1\r\n"), "{head}");
        for line in [
            &format!("authorization: Bearer {KEY}"),
            "content-type: application/json",
            "content-length: 13",
            concat!("user-agent: lathe.nvim/", env!("CARGO_PKG_VERSION")),
        ] {
            assert!(head.contains(&format!("\r\n{line}\r\n")), "{line} is not in {head}");
        }
        assert!(head.contains("gzip"), "{head}");
        assert!(head.ends_with("\r\n\r\n{\"model\":\"m\"}"), "{head}");
    });
}

#[test]
fn the_next_request_uses_the_same_connection() {
    run(async {
        let server = server(|_, mut stream| async move {
            while read_request(&mut stream).await.starts_with("POST") {
                stream.write_all(OK.as_bytes()).await.expect("a client");
            }
        })
        .await;
        let http = Http::new(outside());
        for _ in 0..3 {
            assert_eq!(send(&http, request(server.url())).await.body, b"good");
        }
        assert_eq!(server.connections(), 1);
    });
}

fn gzip_parts(parts: [&str; 2]) -> [Vec<u8>; 2] {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(parts[0].as_bytes()).expect("memory");
    encoder.flush().expect("memory");
    let first = std::mem::take(encoder.get_mut());
    encoder.write_all(parts[1].as_bytes()).expect("memory");
    [first, encoder.finish().expect("memory")]
}

#[test]
fn compressed_pieces_come_as_soon_as_they_are_sent() {
    run(async {
        let first_seen = Arc::new(Notify::new());
        let waits = Arc::clone(&first_seen);
        let server = server(move |_, mut stream| {
            let waits = Arc::clone(&waits);
            async move {
                read_request(&mut stream).await;
                let [first, second] = gzip_parts(["data: one\n\n", "data: two\n\n"]);
                let head = STREAM.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n");
                stream.write_all(head.as_bytes()).await.expect("a client");
                stream.write_all(&chunked(&first, first.len())[..first.len() + 6]).await.expect("a client");
                waits.notified().await;
                stream.write_all(&chunked(&second, 3)).await.expect("a client");
            }
        })
        .await;
        let mut body = Vec::new();
        let on_event = |event| {
            if let HttpEvent::Chunk(chunk) = event {
                body.extend_from_slice(&chunk);
                if body == b"data: one\n\n" {
                    first_seen.notify_one();
                }
            }
        };
        assert_eq!(Http::new(outside()).send(request(server.url()), on_event).await, Ok(()));
        assert_eq!(body, b"data: one\n\ndata: two\n\n");
    });
}

#[test]
fn a_broken_compression_is_said_to_be_one() {
    run(async {
        let server =
            answers(["HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\nnot so at all"]).await;
        let error = get(request(server.url())).await.error();
        assert!(matches!(error, HttpError::Garbled { .. }), "{error:?}");
    });
}

#[test]
fn a_reset_before_the_head_is_tried_again() {
    run(async {
        let server = server(|number, mut stream| async move {
            read_request(&mut stream).await;
            match number {
                0 => stream.set_zero_linger().expect("a socket"),
                1 => {}
                _ => stream.write_all(OK.as_bytes()).await.expect("a client"),
            }
        })
        .await;
        let outcome = get(request(server.url())).await;
        assert_eq!(outcome.body, b"good");
        assert_eq!(outcome.waits(), [1_000, 2_000]);
        assert!(outcome.retries[0].2.contains("broke before the answer"), "{:?}", outcome.retries);
    });
}

#[test]
fn a_server_that_never_answers_is_given_up_after_four_retries() {
    run(async {
        let server = server(|_, mut stream| async move {
            read_request(&mut stream).await;
            stream.set_zero_linger().expect("a socket");
        })
        .await;
        let outcome = get(request(server.url())).await;
        assert_eq!(outcome.waits(), [1_000, 2_000, 4_000, 8_000]);
        let error = outcome.error();
        assert!(matches!(error, HttpError::Lost { .. }), "{error:?}");
        assert_eq!(server.connections(), 5);
    });
}

#[test]
fn a_reset_in_the_middle_keeps_what_came_and_is_not_tried_again() {
    run(async {
        let seen = Arc::new(Notify::new());
        let wait = Arc::clone(&seen);
        let server = server(move |_, mut stream| {
            let wait = Arc::clone(&wait);
            async move {
                read_request(&mut stream).await;
                stream.write_all(format!("{STREAM}4\r\nhalf\r\n").as_bytes()).await.expect("a client");
                wait.notified().await;
                stream.set_zero_linger().expect("a socket");
            }
        })
        .await;
        let mut events = Vec::new();
        let on_event = |event| {
            if matches!(event, HttpEvent::Chunk(_)) {
                seen.notify_one();
            }
            events.push(event);
        };
        let end = Http::new(outside()).send(request(server.url()), on_event).await;
        assert!(matches!(end, Err(HttpError::Broken { .. })), "{end:?}");
        let head = HttpEvent::Head { status: 200, content_type: Some("text/event-stream".to_owned()) };
        assert_eq!(events, [head, HttpEvent::Chunk(Bytes::from_static(b"half"))]);
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn an_answer_that_is_too_short_is_an_error() {
    run(async {
        let server = answers(["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"]).await;
        let outcome = get(request(server.url())).await;
        assert_eq!(outcome.body, b"half");
        let error = outcome.error();
        assert!(matches!(error, HttpError::Broken { .. }), "{error:?}");
    });
}
