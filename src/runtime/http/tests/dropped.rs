//! A request that is dropped ends at once, wherever it is.

use super::*;

#[test]
fn dropping_the_request_ends_the_connection_at_once() {
    for part in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", STREAM] {
        run(async {
            let (sent, mut server_sent) = mpsc::unbounded_channel();
            let (gone, mut left) = mpsc::unbounded_channel();
            let server = server(move |_, mut stream| {
                let (sent, gone) = (sent.clone(), gone.clone());
                async move {
                    read_request(&mut stream).await;
                    stream.write_all(part.as_bytes()).await.expect("a client");
                    sent.send(()).expect("a test");
                    until_closed(&mut stream).await;
                    gone.send(()).expect("a test");
                }
            })
            .await;
            let http = Arc::new(Http::new(outside()));
            let (url, runs) = (server.url(), Arc::clone(&http));
            let task = tokio::spawn(async move { runs.send(request(url), |_| {}).await });
            server_sent.recv().await.expect("the server answers");
            settle().await;
            task.abort();
            left.recv().await.expect("the client goes");
            assert_eq!(server.connections(), 1);
        });
    }
}

#[test]
fn dropping_the_request_ends_a_connection_that_is_being_made() {
    run(async {
        let authority = authority(&[]);
        let (events, mut seen) = mpsc::unbounded_channel();
        let server = server(move |_, mut stream| {
            let events = events.clone();
            async move {
                stream.read_exact(&mut [0]).await.expect("a client");
                events.send("hello").expect("a test");
                until_closed(&mut stream).await;
                events.send("gone").expect("a test");
            }
        })
        .await;
        let http = Arc::new(Http::new(outside()));
        let (runs, request) =
            (Arc::clone(&http), HttpRequest { environment: authority.environment(), ..request(https(&server)) });
        let task = tokio::spawn(async move { runs.send(request, |_| {}).await });
        assert_eq!(seen.recv().await, Some("hello"));
        task.abort();
        assert_eq!(seen.recv().await, Some("gone"));
    });
}

#[test]
fn dropping_the_request_between_two_tries_ends_it() {
    run(async {
        let (asleep, mut sleeps) = mpsc::unbounded_channel();
        let http = Http::new(outside().with_sleep(move |_| {
            asleep.send(()).expect("a test");
            future::pending()
        }));
        let server = answers([busy(500, "")]).await;
        let url = server.url();
        let task = tokio::spawn(async move { http.send(request(url), |_| {}).await });
        sleeps.recv().await.expect("a wait");
        task.abort();
        assert!(task.await.expect_err("no end").is_cancelled());
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn dropping_the_request_resets_its_http_2_stream() {
    run(async {
        let authority = authority(&[b"h2"]);
        let (gone, mut left) = mpsc::unbounded_channel();
        let gone: &'static mpsc::UnboundedSender<()> = Box::leak(Box::new(gone));
        let server = authority
            .server(move |stream| async move {
                let mut connection = h2::server::handshake(stream).await.expect("HTTP/2");
                while let Some(Ok((_, mut respond))) = connection.accept().await {
                    tokio::spawn(async move {
                        let mut body = respond.send_response(http::Response::new(()), false).expect("a client");
                        body.send_data(Bytes::from_static(b"half"), false).expect("a client");
                        future::poll_fn(|context| body.poll_reset(context)).await.expect("a reset");
                        gone.send(()).expect("a test");
                    });
                }
            })
            .await;
        let (seen, mut chunks) = mpsc::unbounded_channel();
        let request = HttpRequest { environment: authority.environment(), ..request(https(&server)) };
        let http = Arc::new(Http::new(outside()));
        let runs = Arc::clone(&http);
        let task = tokio::spawn(async move {
            let on_event = |event| {
                if matches!(event, HttpEvent::Chunk(_)) {
                    seen.send(()).expect("a test");
                }
            };
            runs.send(request, on_event).await
        });
        chunks.recv().await.expect("a chunk");
        task.abort();
        left.recv().await.expect("the reset");
    });
}
