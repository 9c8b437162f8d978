//! Answers whose frame is broken, and answers whose compression is: each is called what it is.

use super::*;

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

fn zlib(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

fn answer(headers: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\n{headers}\r\n").as_bytes(), body].concat()
}

async fn error_for(raw: Vec<u8>) -> HttpError {
    let server = server(move |_, mut stream| {
        let raw = raw.clone();
        async move {
            read_request(&mut stream).await;
            let _ = stream.write_all(&raw).await;
        }
    })
    .await;
    get(request(server.url())).await.error()
}

#[test]
fn a_bad_chunk_is_not_called_a_compression_fault() {
    run(async {
        for encoding in ["", "Content-Encoding: gzip\r\n", "Content-Encoding: deflate\r\n"] {
            let headers = format!("Transfer-Encoding: chunked\r\n{encoding}");
            let good = match encoding {
                "" => b"data: one\n\n".to_vec(),
                gzipped if gzipped.contains("gzip") => gzip("data: one\n\n"),
                _ => zlib("data: one\n\n"),
            };
            let first = [format!("{:x}\r\n", good.len() - 4).as_bytes(), &good[..good.len() - 4], b"\r\n"].concat();
            for size in ["zz\r\n", "-1\r\n", "ffffffffffffffffff\r\n", "\r\n", "5x5\r\n", "3\rabc", "\u{1}\r\n"] {
                for before in [&first[..], b""] {
                    let body = [before, size.as_bytes(), b"abcdefgh\r\n0\r\n\r\n"].concat();
                    let error = error_for(answer(&headers, &body)).await;
                    assert!(matches!(error, HttpError::Broken { .. }), "{encoding}{size:?}: {error:?}");
                    assert!(!error.to_string().contains("compress"), "{error}");
                }
            }
            // The end of the chunk is missing.
            let body = [&first[..first.len() - 2], b"zz5\r\nabcde\r\n0\r\n\r\n"].concat();
            let error = error_for(answer(&headers, &body)).await;
            assert!(matches!(error, HttpError::Broken { .. }), "{encoding}: {error:?}");
        }
    });
}

#[test]
fn a_body_that_is_not_compressed_as_it_says_is_called_so() {
    run(async {
        let mut broken = gzip(&"data: words of an answer\n\n".repeat(50));
        let middle = broken.len() / 2;
        broken[middle..middle + 4].copy_from_slice(&[0xff; 4]);
        for (encoding, body) in [("gzip", b"not so at all".to_vec()), ("gzip", broken), ("deflate", vec![0xff; 40])] {
            let headers = format!("Content-Encoding: {encoding}\r\nContent-Length: {}\r\n", body.len());
            let error = error_for(answer(&headers, &body)).await;
            assert!(matches!(error, HttpError::Garbled { .. }), "{encoding}: {error:?}");
        }
    });
}
