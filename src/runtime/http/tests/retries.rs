//! What is tried again, when, and how often.

use super::*;

#[test]
fn a_busy_server_says_how_long_to_wait() {
    for (header, wait_ms) in [
        ("Retry-After: 1\r\n", 1_000),
        ("Retry-After: 60\r\n", 60_000),
        ("Retry-After: 2.5\r\n", 2_500),
        ("Retry-After: Tue, 15 Nov 1994 08:00:20 GMT\r\n", 20_000),
        ("Retry-After: Tue, 15 Nov 1994 07:00:00 GMT\r\n", 1_000),
        ("Retry-After: 0\r\n", 1_000),
        ("Retry-After: soon\r\n", 1_000),
        ("", 1_000),
    ] {
        run(async {
            let server = answers([&*busy(429, header), OK]).await;
            let outcome = get(request(server.url())).await;
            assert_eq!((&outcome.body[..], outcome.waits()), (&b"good"[..], vec![wait_ms]), "{header}");
            assert!(outcome.retries[0].2.contains("429 Too Many Requests"), "{:?}", outcome.retries);
        });
    }
}

#[test]
fn a_longer_wait_is_shown_and_not_waited_for() {
    for header in ["Retry-After: 3600\r\n", "Retry-After: Tue, 15 Nov 1994 09:00:00 GMT\r\n"] {
        run(async {
            let server = answers([busy(429, header)]).await;
            let outcome = get(request(server.url())).await;
            assert_eq!(outcome.retries, []);
            let error = outcome.error();
            assert!(error.to_string().contains("asks to wait 3600 s"), "{error}");
            assert_eq!((error.retry_after(), server.connections()), (Some(Duration::from_secs(3_600)), 1));
        });
    }
}

#[test]
fn a_failure_that_passes_is_not_seen_at_the_end() {
    run(async {
        let server = answers([&*busy(500, ""), &busy(500, ""), &busy(500, ""), OK]).await;
        let outcome = get(request(server.url())).await;
        assert_eq!((&outcome.body[..], outcome.waits()), (&b"good"[..], vec![1_000, 2_000, 4_000]));
        assert_eq!(outcome.retries.iter().map(|(attempt, ..)| *attempt).collect::<Vec<_>>(), [1, 2, 3]);
        let requests = server.requests();
        assert_eq!(requests.len(), 4);
        assert!(requests.iter().all(|request| *request == requests[0]), "{requests:?}");
    });
}

#[test]
fn each_status_that_may_pass_is_tried_four_times_more() {
    for status in [429, 500, 502, 503, 504, 529] {
        run(async {
            let server = answers([busy(status, "")]).await;
            let outcome = get(request(server.url())).await;
            assert_eq!(outcome.waits(), [1_000, 2_000, 4_000, 8_000]);
            let error = outcome.error();
            assert!(matches!(error, HttpError::Status { status: last, .. } if last == status), "{error:?}");
            assert_eq!(server.connections(), 5);
        });
    }
}

#[test]
fn the_caller_says_how_often_to_try_again() {
    run(async {
        let server = answers([busy(503, "")]).await;
        let outcome = get(HttpRequest { retries: 0, ..request(server.url()) }).await;
        assert_eq!((outcome.retries.len(), outcome.end.is_err(), server.connections()), (0, true, 1));
    });
}

#[test]
fn chance_spreads_the_waits() {
    for (random, wait_ms) in [(0.0, 750), (0.999_999_9, 1_249)] {
        run(async {
            let server = answers([&*busy(500, ""), OK]).await;
            let http = Http::new(outside().with_random(move || random));
            assert_eq!(send(&http, request(server.url())).await.waits(), [wait_ms]);
        });
    }
    for _ in 0..100 {
        let random = Outside::default().random();
        assert!((0.0..1.0).contains(&random), "{random}");
    }
}
