//! Certificates and HTTP/2.

use super::*;

#[test]
fn a_private_authority_is_trusted_when_the_environment_names_it() {
    run(async {
        let authority = authority(&[b"http/1.1"]);
        let server = authority.server(answer_tls).await;
        let outcome = get(HttpRequest { environment: authority.environment(), ..request(https(&server)) }).await;
        assert_eq!((outcome.end, &outcome.body[..]), (Ok(()), &b"good"[..]));
    });
}

#[test]
fn http_2_is_spoken_where_the_server_offers_it() {
    run(async {
        let authority = authority(&[b"h2", b"http/1.1"]);
        let server = authority.server(answer_h2).await;
        let http = Http::new(outside());
        for _ in 0..2 {
            let request = HttpRequest { environment: authority.environment(), ..request(https(&server)) };
            let outcome = send(&http, request).await;
            assert_eq!((outcome.end, &outcome.body[..]), (Ok(()), &b"good"[..]));
        }
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn an_unknown_authority_is_refused_once_and_allow_insecure_takes_it() {
    run(async {
        let (known, unknown) = (authority(&[]), authority(&[b"http/1.1"]));
        let server = unknown.server(answer_tls).await;
        let strict = HttpRequest { environment: known.environment(), ..request(https(&server)) };
        let http = Http::new(outside());
        let outcome = send(&http, strict.clone()).await;
        assert_eq!(outcome.retries, []);
        let error = outcome.error();
        assert!(matches!(error, HttpError::Certificate { .. }), "{error:?}");
        for word in ["SSL_CERT_FILE", "allow_insecure", "authority"] {
            assert!(error.to_string().contains(word), "{error}");
        }
        let lax = HttpRequest { allow_insecure: true, ..strict.clone() };
        assert_eq!(send(&http, lax).await.body, b"good");
        // The lax connection is not lent to the strict adapter.
        assert!(matches!(send(&http, strict).await.error(), HttpError::Certificate { .. }));
    });
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    run(async {
        let authority = authority(&[]);
        let server = authority.server(answer_tls).await;
        let address = server.address;
        let http = Http::new(outside().with_lookup(move |_| Ok(vec![address])));
        let url = format!("https://provider.test:{}/", address.port());
        let error = send(&http, HttpRequest { environment: authority.environment(), ..request(url) }).await.error();
        assert!(error.to_string().contains("it is for another name"), "{error}");
    });
}

#[test]
fn the_certificate_of_an_authority_is_none_for_a_server() {
    run(async {
        let authority = authority_with(&[], IsCa::Ca(BasicConstraints::Unconstrained));
        let server = authority.server(answer_tls).await;
        let strict = HttpRequest { environment: authority.environment(), ..request(https(&server)) };
        let error = get(strict).await.error();
        assert!(error.to_string().contains("of an authority, not of a server"), "{error}");
    });
}

#[test]
fn certificates_that_cannot_be_read_are_named_and_harm_no_plain_http() {
    run(async {
        let environment = trusting(path::Path::new("/nowhere/ca.pem"));
        let server = answers([OK]).await;
        let error = get(HttpRequest { environment: environment.clone(), ..request(https(&server)) }).await.error();
        assert!(matches!(error, HttpError::NoCertificates { .. }), "{error:?}");
        for word in ["SSL_CERT_FILE", "/nowhere/ca.pem"] {
            assert!(error.to_string().contains(word), "{error}");
        }
        assert_eq!(get(HttpRequest { environment, ..request(server.url()) }).await.body, b"good");
    });
}

#[test]
fn tls_with_a_plain_server_says_what_to_check() {
    run(async {
        let authority = authority(&[]);
        let server = server(|_, mut stream| async move {
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.expect("a client");
            until_closed(&mut stream).await;
        })
        .await;
        let outcome = get(HttpRequest { environment: authority.environment(), ..request(https(&server)) }).await;
        assert_eq!(outcome.retries, []);
        let error = outcome.error();
        assert!(error.to_string().contains("http://"), "{error}");
    });
}

#[test]
fn the_connect_limit_covers_tls() {
    run(async {
        let authority = authority(&[]);
        let server = server(|_, mut stream| async move { until_closed(&mut stream).await }).await;
        let mut request = HttpRequest { environment: authority.environment(), ..request(https(&server)) };
        request.limits.connect_ms = 50;
        let outcome = get(request).await;
        assert_eq!(outcome.waits(), [1_000, 2_000, 4_000, 8_000]);
        let host = server.address.to_string();
        assert_eq!(outcome.error(), HttpError::Connect { host, via: None, limit_ms: 50 });
    });
}
