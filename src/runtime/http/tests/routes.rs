//! Redirects and proxies: where a request may go.

use super::*;

fn moved(status: u16, to: &str) -> String {
    format!("HTTP/1.1 {status} X\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
}

#[test]
fn a_redirect_to_the_same_host_takes_everything_along() {
    for status in [301, 302, 307, 308] {
        run(async {
            let server = answers([&*moved(status, "/v2/chat?a=b"), OK]).await;
            assert_eq!(get(request(server.url())).await.body, b"good");
            let [first, second] = &server.requests()[..] else { panic!("{:?}", server.requests()) };
            assert_eq!(first.replace("/v1/chat", "/v2/chat?a=b"), *second);
        });
    }
}

#[test]
fn a_redirect_to_another_host_is_refused_and_gets_no_key() {
    run(async {
        let other = answers([OK]).await;
        for status in [301, 302, 303, 307, 308] {
            for to in [other.url(), format!("http://localhost:{}/", other.address.port()), "https://127.0.0.1/".into()]
            {
                let server = answers([moved(status, &format!("{to}?key={KEY}"))]).await;
                let outcome = get(request(server.url())).await;
                assert_eq!(outcome.retries, []);
                let error = outcome.error();
                assert_eq!(error, HttpError::Redirect { host: server.address.to_string(), to });
            }
        }
        assert_eq!(other.connections(), 0);
    });
}

#[test]
fn a_redirect_that_drops_the_body_or_leads_nowhere_is_an_error() {
    run(async {
        for answer in [moved(303, "/else"), moved(307, "http://[")] {
            let error = get(request(answers([answer]).await.url())).await.error();
            assert!(matches!(error, HttpError::Redirect { .. }), "{error:?}");
        }
        let server = answers([moved(307, "/v1/chat")]).await;
        let error = get(request(server.url())).await.error();
        assert_eq!(error, HttpError::TooManyRedirects { host: server.address.to_string(), limit: 5 });
        assert_eq!(server.connections(), 6);
    });
}

#[test]
fn a_redirect_to_https_on_the_usual_ports_stays_on_the_host() {
    let from = |url: &str| Target::parse(url).expect("a URL");
    let answer = |to: &str| -> Response {
        http::Response::builder().status(308).header("Location", to).body("").expect("a response").into()
    };
    let follows = |url: &str, to: &str| from(url).redirect(&answer(to)).is_ok_and(|next| next.is_some());
    assert!(follows("http://a.test/x", "https://a.test/x"));
    assert!(!follows("https://a.test/x", "http://a.test/x"));
    assert!(!follows("http://a.test:8080/x", "https://a.test/x"));
    assert!(!follows("http://a.test/x", "https://b.test/x"));
    assert!(!follows("https://a.test/x", "https://a.test.b.test/x"));
}

#[test]
fn the_adapters_proxy_is_used_and_gets_its_password() {
    run(async {
        let proxy = answers([OK]).await;
        let own = Some(format!("http://me:proxy-4711@{}", proxy.address));
        let outcome = get(HttpRequest { proxy: own, ..request("http://provider.test/v1?x=y") }).await;
        assert_eq!(outcome.body, b"good");
        let head = proxy.requests().concat();
        assert!(head.starts_with("POST http://provider.test/v1?x=y HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("proxy-authorization: Basic bWU6cHJveHktNDcxMQ==\r\n"), "{head}");
    });
}

#[test]
fn the_environments_proxy_is_used_but_for_this_machine_and_no_proxy() {
    run(async {
        let (proxy, direct) = (answers([OK]).await, answers([OK]).await);
        let address = direct.address;
        let http = Http::new(outside().with_lookup(move |_| Ok(vec![address])));
        let environment = |no_proxy: Option<&str>| Environment {
            all_proxy: Some(format!("http://{}", proxy.address)),
            no_proxy: no_proxy.map(str::to_owned),
            ..Environment::default()
        };
        let port = address.port();
        for (url, no_proxy, is_proxied) in [
            (format!("http://provider.test:{port}/"), None, true),
            (format!("http://provider.test:{port}/"), Some("other.test, provider.test"), false),
            (format!("http://api.provider.test:{port}/"), Some(".provider.test"), false),
            (format!("http://provider.test:{port}/"), Some("other.test"), true),
            (format!("http://provider.test:{port}/"), Some("*"), false),
            (format!("http://127.0.0.1:{port}/"), None, false),
            (format!("http://localhost:{port}/"), None, false),
        ] {
            let before = proxy.connections();
            let request = HttpRequest { environment: environment(no_proxy), ..request(&url) };
            assert_eq!(send(&http, request).await.body, b"good", "{url} {no_proxy:?}");
            assert_eq!(proxy.connections() - before, usize::from(is_proxied), "{url} {no_proxy:?}");
        }
        // An empty proxy of the adapter is none.
        let before = proxy.connections();
        let url = format!("http://provider.test:{port}/");
        let own = HttpRequest { proxy: Some(String::new()), environment: environment(None), ..request(url) };
        assert_eq!(send(&http, own).await.body, b"good");
        assert_eq!(proxy.connections(), before);
    });
}

#[test]
fn a_proxy_that_does_not_connect_is_named_without_its_password() {
    run(async {
        let proxy = answers(["HTTP/1.1 403 Forbidden\r\n\r\n"]).await;
        let own = Some(format!("http://me:{KEY}@{}", proxy.address));
        let outcome = get(HttpRequest { proxy: own, ..request("https://provider.test/") }).await;
        assert_eq!(outcome.waits().len(), 4);
        let error = outcome.error();
        assert!(matches!(error, HttpError::Proxy { .. }), "{error:?}");
        assert!(
            error.to_string().contains(&format!("provider.test through the proxy http://{}", proxy.address)),
            "{error}"
        );
        assert!(proxy.requests()[0].starts_with("CONNECT provider.test:443 HTTP/1.1\r\n"), "{:?}", proxy.requests());

        let bad = HttpRequest { proxy: Some(format!("ftp://me:{KEY}@x")), ..request("https://provider.test/") };
        assert_eq!(get(bad).await.error(), HttpError::BadProxy { name: "the adapter's `proxy`" });
    });
}

#[test]
fn the_environment_is_read_as_other_programs_do() {
    let variables = [
        ("https_proxy", "http://small"),
        ("HTTPS_PROXY", "http://large"),
        ("http_proxy", "http://plain"),
        ("ALL_PROXY", ""),
        ("NO_PROXY", "a,b"),
        ("SSL_CERT_FILE", "/ca.pem"),
        ("SSL_CERT_DIR", "/one:/two"),
    ];
    let environment =
        Environment::read(|name| Some(variables.iter().find(|(known, _)| *known == name)?.1.to_owned().into()));
    let expected = Environment {
        http_proxy: Some("http://plain".to_owned()),
        https_proxy: Some("http://large".to_owned()),
        all_proxy: None,
        no_proxy: Some("a,b".to_owned()),
        certificate_file: Some("/ca.pem".into()),
        certificate_dirs: vec!["/one".into(), "/two".into()],
    };
    assert!(environment == expected);
}
