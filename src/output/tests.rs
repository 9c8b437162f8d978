//! The rule for long outputs, every split of the bytes, and what real programs print.

use std::fs;

use proptest::prelude::*;

use super::*;

fn limits(max_lines: usize, max_bytes: usize, keep: Keep) -> Limits {
    Limits { max_lines, max_bytes, keep }
}

fn collect_with(limits: &Limits, spill: &Spill, pieces: &[&[u8]]) -> Output {
    let mut collector = Collector::new(limits.clone(), spill.clone());
    pieces.iter().for_each(|piece| collector.push(piece));
    collector.finish()
}

/// The text of an output that is not cut.
fn clean(bytes: &[u8]) -> String {
    let output = collect_with(&Limits::new(Keep::HeadTail), &Spill::default(), &[bytes]);
    assert_eq!(output.truncated, None);
    output.text
}

fn numbers(range: std::ops::RangeInclusive<u32>) -> String {
    range.map(|number| format!("{number}\n")).collect()
}

fn spill() -> (tempfile::TempDir, Spill) {
    let folder = tempfile::tempdir().unwrap();
    let spill = Spill { folder: Some(folder.path().join("outputs")) };
    (folder, spill)
}

// Cleaning

#[test]
fn colours_hyperlinks_and_cursor_moves_are_stripped() {
    assert_eq!(clean(b"\x1b[1;31merror\x1b[0m: \x1b[38;5;208mbad\x1b[m\n"), "error: bad\n");
    assert_eq!(
        clean(b"\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\ \x1b]8;;http://x\x07two\x1b]8;;\x07"),
        "link two"
    );
    assert_eq!(clean(b"\x1b[2J\x1b[H\x1b[3Aup\x1b[10;20Hhere\x1b[?25l\x1b7\x1b8\x1b(B\x1b="), "uphere");
    assert_eq!(clean(b"\x1b]0;title\x07a\x1bPsixel\x1b\\b\x1b^pm\x1b\\c\xc2\x9bd"), "abcd");
    assert_eq!(clean("tab\tstays\x07\x0b\x0c\x7f é\n".as_bytes()), "tab\tstays é\n");
}

#[test]
fn carriage_return_progress_folds_to_the_last_state() {
    assert_eq!(clean(b"10%\r50%\r100%\ndone\n"), "100%\ndone\n");
    assert_eq!(clean(b"windows\r\nlines\r\r\n"), "windows\nlines\n");
    assert_eq!(clean(b"Working |\r\x1b[KWorking /\r\x1b[KDone"), "Done");
    assert_eq!(clean(b"bar\x1b[2K\x1b[1Gfoo\x1b[0K\r"), "foo");
    assert_eq!(clean(b"gone\r\x1b[K\nnext"), "\nnext");
}

#[test]
fn backspaces_overwrite() {
    assert_eq!(clean(b"b\x08bo\x08ol\x08ld"), "bold");
    assert_eq!(clean(b"_\x08u"), "u");
    assert_eq!(clean("€uro\x08\x08\x08\x08Eu\n".as_bytes()), "Euro\n");
    assert_eq!(clean(b"\x08\x08x"), "x");
    assert_eq!(clean(b"1 \x08\x082 \x08\x08"), "2 ");
}

#[test]
fn unfinished_sequence_swallows_no_more_than_its_line() {
    assert_eq!(clean(b"a\x1b]0;never ended\nb\n"), "a\nb\n");
    assert_eq!(clean(b"a\x1bPq\nb\x1b[12\nc"), "a\nb\nc");
}

// Encodings

#[test]
fn gbk_is_detected() {
    let (_folder, spill) = spill();
    let text = "错误：找不到文件。\n请检查路径是否正确。\n";
    let (bytes, ..) = encoding_rs::GBK.encode(text);
    let output = collect_with(&Limits::new(Keep::HeadTail), &spill, &[b"gcc: ok\n", &bytes]);
    assert_eq!(output.text, format!("gcc: ok\n{text}"));
    let few = collect_with(&Limits::new(Keep::HeadTail), &spill, &[b"\xc4\xe3\xba\xc3"]);
    assert!(few.text.starts_with("你好\n[not all of this is surely text; "), "{}", few.text);
    assert_eq!(fs::read(few.file.unwrap()).unwrap(), b"\xc4\xe3\xba\xc3");
}

#[test]
fn latin_1_is_detected() {
    assert_eq!(clean(b"caf\xe9 cr\xe8me\nd\xe9j\xe0 vu\n"), "café crème\ndéjà vu\n");
}

#[test]
fn set_encoding_wins() {
    let mut collector =
        Collector::with_encoding(Limits::new(Keep::Head), Spill::default(), Encoding::for_label(b"koi8-r"));
    collector.push(b"\xf0\xd2\xc9\xd7\xc5\xd4");
    assert_eq!(collector.finish().text, "Привет");
}

#[test]
fn utf_16_is_read_with_and_without_byte_order_mark() {
    let encode = |text: &str, big: bool| -> Vec<u8> {
        text.encode_utf16().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    };
    assert_eq!(clean(&encode("\u{feff}größer 你好 😀\nx", false)), "größer 你好 😀\nx");
    assert_eq!(clean(&encode("\u{feff}größer 你好 😀\nx", true)), "größer 你好 😀\nx");
    assert_eq!(clean(&encode("plain text é\r\n", false)), "plain text é\n");
    assert_eq!(clean(&encode("plain text é\r\n", true)), "plain text é\n");
}

#[test]
fn utf_8_with_a_fault_stays_utf_8() {
    assert_eq!(clean(b"\xef\xbb\xbfbom"), "bom");
    assert!(clean("größer\n€€".as_bytes()).ends_with("€€"));
    let cut = clean(&"größer\n€€".as_bytes()[..13]);
    assert!(cut.starts_with("größer\n€\u{fffd}\n[not all of this is surely text; "), "{cut}");
    let stray = clean(b"\xe2\x82\xac and \xff and \xe2\x82\xac\n");
    assert!(stray.starts_with("€ and \u{fffd} and €\n[not all"), "{stray}");
}

#[test]
fn long_line_tells_as_much_of_the_encoding_whole_as_in_pieces() {
    for length in [10, 4095, 4096, 16_383, 16_384, 17_372, 70_000] {
        let line = ["y".repeat(length).as_bytes(), "é\n".as_bytes()].concat();
        let bytes = [&line, b"\xff\n".as_slice(), "é".as_bytes()].concat();
        let whole = collect_with(&Limits::new(Keep::Head), &Spill::default(), &[&bytes]);
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        let split = collect_with(&Limits::new(Keep::Head), &Spill::default(), &single);
        assert!(split == whole, "{length}");
        assert!(whole.truncated.is_some() || whole.text.ends_with("ÿ\né"), "{length}: {:?}", &whole.text[length..]);
    }
}

#[test]
fn what_follows_binary_data_never_comes_before_it() {
    let latin_1 = b"caf\xe9 cr\xe8me\n".repeat(30);
    // In lines like these it is not clear whether the last one is UTF-8.
    let text = clean(&[&latin_1, b"\x89PNG\0\0\n\xc3\xa9t\xc3\xa9\nend\n".as_slice()].concat());
    let after = "[13 bytes of binary data]\nend\n[not all";
    assert!(text.starts_with(&("café crème\n".repeat(30) + after)), "{text}");
}

#[test]
fn binary_data_becomes_a_mark_and_text_around_it_stays() {
    let (_folder, spill) = spill();
    let limits = Limits::new(Keep::HeadTail);
    let picture = [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10".as_slice(),
        &[0xab, 0, 0xcd, b'\n', b'a', b'\n', 0xff, 3].repeat(999),
    ]
    .concat();
    let output = collect_with(&limits, &spill, &[&picture]);
    let file = output.file.unwrap();
    assert_eq!(
        output.text,
        format!(
            "[8,012 bytes of binary data]\n[not all of this is surely text; the whole raw output is in {}: search it or read ranges of it]",
            file.display()
        )
    );
    assert_eq!(fs::read(file).unwrap(), picture);

    let output = collect_with(&limits, &spill, &[b"before\n", &picture, b"\nafter\n"]);
    assert!(output.text.starts_with("before\n"), "{}", output.text);
    assert!(output.text.contains(" bytes of binary data]\nafter\n[not all"), "{}", output.text);
}

#[test]
fn names_separated_by_nul_are_text() {
    assert_eq!(clean(b"./a file\0./other\0"), "./a file␀./other␀");
}

// Cutting

#[test]
fn exactly_at_both_limits_is_not_cut() {
    let lines = vec!["x".repeat(24); 2000].join("\n") + &"y".repeat(51_200 - 2000 * 25 + 1);
    assert_eq!((lines.split('\n').count(), lines.len()), (2000, 51_200));
    for keep in [Keep::Head, Keep::HeadTail] {
        let limits = Limits::new(keep);
        let output = collect_with(&limits, &Spill::default(), &[lines.as_bytes()]);
        assert_eq!(output, Output { text: lines.clone(), ..Output::default() });
        assert_eq!(cut(&lines, &limits, &Spill::default()), output);
        let more = collect_with(&limits, &Spill::default(), &[lines.as_bytes(), b"z"]);
        assert_eq!(more.truncated.unwrap().total_bytes, 51_201);
        let more = cut(&lines.replacen('x', "\n", 1), &limits, &Spill::default());
        assert_eq!(more.truncated.unwrap().total_lines, 2001);
    }
}

#[test]
fn command_output_keeps_its_first_quarter_and_last_three() {
    let (_folder, spill) = spill();
    let whole = numbers(1..=5000);
    let output = collect_with(&Limits::new(Keep::HeadTail), &spill, &[whole.as_bytes()]);
    let file = output.file.unwrap();
    assert_eq!(
        output.text,
        format!(
            "{}[cut: 3,001 of 5,001 lines (14,507 of 23,893 bytes) are left out here; the whole raw output is in {}: \
             search it or read ranges of it]\n{}",
            numbers(1..=500),
            file.display(),
            numbers(3502..=5000)
        )
    );
    assert_eq!(fs::read_to_string(file).unwrap(), whole);
    assert!(!output.lost);
}

#[test]
fn tool_output_keeps_its_head() {
    let (_folder, spill) = spill();
    let whole = numbers(1..=2000);
    let output = cut(&whole, &Limits::new(Keep::Head), &spill);
    assert!(output.text.starts_with(&numbers(1..=2000)), "{}", output.text);
    assert_eq!(output.truncated, Some(Removed { lines: 1, bytes: 1, total_lines: 2001, total_bytes: 8893 }));
    assert_eq!(fs::read_to_string(output.file.unwrap()).unwrap(), whole);
}

#[test]
fn what_was_cut_once_is_not_cut_again() {
    let limits = Limits::new(Keep::HeadTail);
    for whole in [numbers(1..=9000), "€".repeat(40_000)] {
        let once = collect_with(&limits, &Spill::default(), &[whole.as_bytes()]).text;
        let twice = cut(&once, &Limits::new(Keep::Head), &Spill::default());
        assert_eq!(twice, Output { text: once, ..Output::default() });
    }
}

#[test]
fn a_cut_that_could_not_be_saved_says_so() {
    let output = cut(&numbers(1..=3000), &Limits::new(Keep::Head), &Spill::default());
    assert!(output.lost && output.file.is_none());
    assert!(output.text.ends_with("the rest is lost, since it could not be saved]"), "{}", output.text);
}

#[test]
fn no_cut_is_inside_a_character() {
    let euros = "€".repeat(20_000);
    for max_bytes in (9_998..=10_003).chain(51_195..=51_205) {
        for keep in [Keep::Head, Keep::HeadTail] {
            for text in [euros.clone(), format!("a{euros}\n"), format!("ab\n{euros}")] {
                let limits = limits(2000, max_bytes, keep);
                let output = collect_with(&limits, &Spill::default(), &[text.as_bytes()]);
                let removed = output.truncated.unwrap();
                let kept = usize::try_from(removed.total_bytes - removed.bytes).unwrap();
                assert!(kept <= max_bytes, "{kept} of {max_bytes}");
                assert!(!output.text.contains('\u{fffd}'));
                if !text.starts_with("ab\n") {
                    assert!(kept > max_bytes - 6, "{kept} of {max_bytes}");
                }
                assert_eq!(cut(&text, &limits, &Spill::default()), output);
            }
        }
    }
}

#[test]
fn progress_of_many_bytes_and_one_line_leaves_no_file() {
    let (_folder, spill) = spill();
    let progress: Vec<u8> = (0..100_000).flat_map(|step| format!("{step} of 100000\r").into_bytes()).collect();
    let output = collect_with(&Limits::new(Keep::HeadTail), &spill, &[&progress]);
    assert_eq!(output, Output { text: "99999 of 100000".into(), ..Output::default() });
    assert_eq!(fs::read_dir(spill.folder.unwrap()).unwrap().count(), 0);
}

#[test]
fn memory_is_bounded_whatever_arrives() {
    let (_folder, spill) = spill();
    for block in ["a line of text\n", "no line break ", "\x1b[31m€\r", "\x1b]0;", "\n", "\0\u{7f}\0\n"] {
        let block = block.repeat(64 * 1024 / block.len());
        let mut collector = Collector::new(Limits::new(Keep::HeadTail), spill.clone());
        for _ in 0..160 {
            collector.push(block.as_bytes());
            assert!(collector.held_bytes() < 1024 * 1024, "{:?}: {}", &block[..8], collector.held_bytes());
        }
        assert!(collector.finish().text.len() < 60_000);
    }
}

#[test]
fn last_line_is_live_clean_and_bounded() {
    let mut collector = Collector::new(Limits::new(Keep::HeadTail), Spill::default());
    let mut t = |bytes: &[u8]| {
        collector.push(bytes);
        collector.last_line()
    };
    assert_eq!(t(b""), "");
    assert_eq!(t(b"start"), "start");
    assert_eq!(t(b"ing\n\n"), "starting");
    assert_eq!(t(b"\x1b[32m10%\r\x1b[31m20%"), "20%");
    assert_eq!(t("\n".repeat(300).as_bytes()), "20%");
    assert_eq!(t("€uro".as_bytes()), "€uro");
    assert_eq!(t(&b"x".repeat(100_000)).chars().count(), 200);
    assert_eq!(t(b"\nlast one\n"), "last one");
}

/// The rule of P-70, said plainly.
fn plain_rule(text: &str, limits: &Limits) -> Option<(String, String)> {
    let lines: Vec<&str> = text.split('\n').collect();
    if lines.len() <= limits.max_lines && text.len() <= limits.max_bytes {
        return None;
    }
    let (head_lines, head_bytes) = match limits.keep {
        Keep::Head => (limits.max_lines, limits.max_bytes),
        Keep::HeadTail => (limits.max_lines / 4, limits.max_bytes / 4),
    };
    let most = |max_lines: usize, max_bytes: usize, part: &dyn Fn(usize) -> String| {
        (1..=max_lines.min(lines.len())).map(part).take_while(|part| part.len() <= max_bytes).last()
    };
    let head = most(head_lines, head_bytes, &|count| lines[..count].join("\n"));
    let tail = most(limits.max_lines - head_lines, limits.max_bytes - head_bytes, &|count| {
        lines[lines.len() - count..].join("\n")
    });
    Some((head.unwrap_or_default(), tail.unwrap_or_default()))
}

/// Whether a line beyond ASCII was seen decides how a later one is read, also when it was read in pieces.
#[test]
fn utf8_late_in_a_long_line_counts_however_it_comes() {
    let bytes = ["y".repeat(17_990).as_bytes(), "éa€\n".as_bytes(), b"\xb4\xed\xce\xf3\n", "€".as_bytes()].concat();
    let limits = limits(4, 40_000, Keep::Head);
    let whole = collect_with(&limits, &Spill::default(), &[&bytes]);
    assert!(whole.text.contains("\n€"), "{}", &whole.text[17_990..]);
    for size in [1, 1_000, 17_000] {
        let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
        assert_eq!(collect_with(&limits, &Spill::default(), &pieces), whole, "{size}");
    }
}

fn printed() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => "[a-z ]{0,12}\n".prop_map(String::into_bytes),
        4 => "[a-zé€😀\t]{0,9}\n?".prop_map(String::into_bytes),
        3 => proptest::sample::select(vec![
            "\x1b[31m", "\x1b[K", "\x1b[2K", "\x1b[G", "\x1b]8;;x\x07", "\x1b]0;", "\x1b\\", "\r", "\r\n", "\x08", "\x1b",
            "\0", "\0\0", "\x01", "\u{9b}", "\u{85}", "\u{7f}", "\u{feff}",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        2 => proptest::sample::select(vec![
            b"\xff".as_slice(), b"\xe2\x82", b"\xc3", b"\xb4\xed\xce\xf3\n", b"\xc4\xa3", b"\xf0\x9f", b"caf\xe9\n",
            b"\xff\xfe", b"a\0b\0", b"\0\x89PNG\xff\n",
        ])
        .prop_map(<[u8]>::to_vec),
        1 => (1_usize..40_000, proptest::sample::select(vec!["y", "€", "\u{1b}[1mz", "\r1", "\u{e9}", "\n"]))
            .prop_map(|(bytes, text)| text.repeat(bytes / text.len()).into_bytes()),
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn result_does_not_depend_on_how_bytes_are_split(
        bytes in printed(),
        splits in proptest::collection::vec(1_usize..5000, 1..8),
        max in 4_usize..400,
    ) {
        for limits in [limits(max, max * 20, Keep::HeadTail), Limits::new(Keep::Head)] {
            let whole = collect_with(&limits, &Spill::default(), &[&bytes]);
            let mut collector = Collector::new(limits.clone(), Spill::default());
            let mut rest = bytes.as_slice();
            for size in splits.iter().cycle() {
                let (piece, more) = rest.split_at((*size).min(rest.len()));
                collector.push(piece);
                collector.last_line();
                rest = more;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(collector.finish(), whole.clone());
            if bytes.len() < 4000 {
                let single: Vec<&[u8]> = bytes.chunks(1).collect();
                prop_assert_eq!(collect_with(&limits, &Spill::default(), &single), whole);
            }
        }
    }

    #[test]
    fn cut_is_what_the_rule_says(
        lines in proptest::collection::vec("[a-z€]{0,30}", 0..60),
        max_lines in 4_usize..40,
        max_bytes in 400_usize..900,
        head in any::<bool>(),
    ) {
        let text = lines.join("\n");
        let limits = limits(max_lines, max_bytes, if head { Keep::Head } else { Keep::HeadTail });
        let output = cut(&text, &limits, &Spill::default());
        match plain_rule(&text, &limits) {
            None => prop_assert_eq!(output, Output { text, ..Output::default() }),
            Some((head, mut tail)) => {
                let removed = output.truncated.unwrap();
                prop_assert_eq!(removed.bytes, (text.len() - head.len() - tail.len()) as u64);
                let mut expected = head;
                end_line(&mut expected);
                expected.push_str(&mark(&removed, None, true));
                if !tail.is_empty() {
                    tail.insert(0, '\n');
                }
                prop_assert_eq!(output.text, expected + &tail);
            }
        }
    }
}
