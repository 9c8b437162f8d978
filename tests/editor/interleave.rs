//! Random interleavings in a real Neovim: tools of every behaviour, keys, answers, stops and deleted buffers over several
//! chats. Whatever happens, every turn ends, every call has its result, and nothing is left.

use std::time::{Duration, Instant};

use crate::chat::PRELUDE;
use crate::support::{Editor, Setup, script};

/// How long steps are made, in all.
const BUDGET: Duration = Duration::from_secs(8);

/// Steps that are made in each editor, however slow the machine is.
const LEAST: u32 = 60;

/// A generator of numbers that needs no crate: splitmix64.
pub struct Random(pub u64);

impl Random {
    /// A number below the bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

fn step(editor: &Editor, random: &mut Random) {
    match random.below(24) {
        0 => {
            editor.lua("if #alive() < 4 then new() end");
        }
        1..=6 => {
            editor.lua("local c = some() if c and not c.is_running then send('go', c) end");
        }
        7 => {
            editor.lua("local c = some() if c then c:open() end");
        }
        8 => {
            editor.lua("local c = some() if c then c:hide() end");
        }
        9..=12 => {
            let key = ["g1", "g2", "g2", "g3", "g4"][usize::try_from(random.below(5)).unwrap()];
            editor.lua("local c = some() if c and #c.questions > 0 then c:open() end");
            editor.input(&format!("<Esc>{key}"));
        }
        13 => editor.input("<Esc>gs"),
        14 => {
            editor.lua("local c = some() if c and c.is_running then c:open() c:stop() end");
        }
        15..=16 => editor.input("<Esc>Gosome words<C-s>"),
        17 => editor.input("<Esc>Gomore<CR>words<Esc>uu"),
        18 => {
            editor.lua("local cb = table.remove(waiting, math.random(math.max(#waiting, 1))) if cb then cb({ status = 'success', data = 'late' }) end");
        }
        19 => {
            editor.lua("local c = some() if c and math.random(4) == 1 then pcall(vim.api.nvim_buf_delete, c.bufnr, { force = true }) end");
        }
        20 => {
            editor.lua("local c = some() if c and math.random(4) == 1 then c:clear() end");
        }
        21 => {
            editor.lua("local c = some() if c then c:add_message({ role = 'user', content = 'given' }) end");
        }
        22 => {
            editor.lua("local c = some() if c then c:skip() end");
        }
        _ => {
            editor.lua("require('lathe').run_tool('plain', { how = 'async', n = 3 }, {}, function() end)");
        }
    }
}

/// Returns how many turns ended and how many calls were finished.
fn run(seed: u64, until: Instant) -> (i64, i64) {
    let editor = Setup::default().size(120, 30).start();
    editor.lua(PRELUDE);
    editor.run("world");
    editor.lua_with("math.randomseed(...) new() new()", vec![seed.into()]);
    let mut random = Random(seed);
    for made in 0..250 {
        if made >= LEAST && Instant::now() > until {
            break;
        }
        step(&editor, &mut random);
    }
    let seen =
        || format!("seed {seed}\n{}\n{}", editor.messages(), editor.lua_text("return table.concat(told, '\\n')"));
    // What still hangs or asks is stopped; all else has a limit.
    editor.input("<Esc>");
    editor.lua("waiting = {}");
    editor.wait_until("the end of all turns", || {
        editor.lua("for _, c in ipairs(alive()) do if c.is_running and (#c.questions > 0 or vim.uv.now() % 3 == 0) then c:stop() end end");
        editor.lua_bool(
            &script("is_settled"),
        )
    });
    assert_eq!(editor.lua_text("return unpaired()"), "", "{}", seen());
    assert!(
        editor.lua_bool("return exits == setups"),
        "on_exit once for each setup: {}",
        editor.lua_text("return exits .. ' ' .. setups")
    );
    let done = (editor.lua_int("return ended()"), editor.lua_int("return count('LatheToolFinished')"));
    // Each chat that is left still answers.
    editor.lua("turn = function() return { text = 'the very last' } end before = ended() n = #alive() for _, c in ipairs(alive()) do send('well?', c) end");
    editor.wait_lua("ended() == before + n");
    editor
        .lua("for _, c in ipairs(alive()) do assert(c.messages[#c.messages].content == 'the very last') c:close() end");
    editor.wait_lua("require('lathe.core').lib.counts().chats == 0");
    editor.wait_lua(
        "#vim.tbl_filter(function(b) return vim.bo[b].filetype == 'lathe' end, vim.api.nvim_list_bufs()) == 0",
    );
    let messages = editor.messages();
    for sign in ["Error", "E5", "traceback", "internal"] {
        assert!(!messages.contains(sign), "{}", seen());
    }
    assert!(!editor.lua_text("return table.concat(told, '\\n')").contains("internal error"), "{}", seen());
    done
}

#[test]
fn whatever_happens_every_turn_ends_every_call_is_answered_and_nothing_is_left() {
    let until = Instant::now() + BUDGET;
    let first = std::env::var("LATHE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let (mut turns, mut calls) = (0, 0);
    let mut seed = first;
    let is_enough = |turns, calls| turns >= 20 && calls >= 50;
    while seed < first + 6 && (Instant::now() < until || !is_enough(turns, calls)) {
        let done = run(seed, until);
        (turns, calls) = (turns + done.0, calls + done.1);
        seed += 1;
    }
    assert!(is_enough(turns, calls), "too little happened: {turns} turns, {calls} calls");
}
