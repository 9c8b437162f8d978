//! What the random surroundings do with each effect.

use std::sync::Arc;

use super::hand::*;
use super::storm::Storm;
use crate::adapter::{EndReason, Item};
use crate::engine::effect::{CallEffect, ChatEffect, Effect, LogLevel, Output};
use crate::engine::event::{Answer, CallEvent, ChatEvent, ChatId, Event, OutputOutcome, RequestEvent, RequestId};
use crate::engine::saved::Note;
use crate::gate::judge::Judged;
use crate::gate::pair::{Pair, Want};
use crate::gate::shell::BASH;
use crate::gate::{Fact, Found};
use crate::message::Message;
use crate::tool::{ArgumentsError, CallId, CheckedCall, Copying, Defined, KeptMedia, OwnApproval};

impl Storm {
    /// Performs an effect, or fails to: then nothing comes of it but what the pump replies in its place.
    pub fn perform(&mut self, effect: Effect) {
        let reply = effect.reply_after_fault();
        let Some(reply) = reply.filter(|_| self.choose(24) == 23) else { return self.perform_well(effect) };
        let replies = (self.queue.len(), self.loose.len());
        if let Effect::Addressed { chat, effect: ChatEffect::Call { call, effect: CallEffect::PrepareCall { .. } } } =
            effect
        {
            self.perform_well(effect);
            // There is no copy that would have to be left.
            self.set_up.entry(call).and_modify(|on_exit| *on_exit = false);
            if self.kept.get(&chat) == Some(&call) {
                self.kept.remove(&chat);
            }
        } else {
            self.perform_well(effect);
        }
        self.queue.truncate(replies.0);
        self.loose.truncate(replies.1);
        self.queue.push_back(reply);
    }

    fn perform_well(&mut self, effect: Effect) {
        match effect {
            Effect::Addressed { chat, effect } => {
                if let Some(record) = Note::of(&effect).and_then(|note| self.recorder.record(note)) {
                    record.write(self.files.entry(chat).or_default());
                }
                match effect {
                    ChatEffect::Call { call, effect } => self.perform_call(chat, call, effect),
                    effect => self.perform_chat(chat, effect),
                }
            }
            Effect::SaveApproval { approval, .. } => drop(self.saved.insert(approval)),
            Effect::Log { level, text } => assert_ne!(level, LogLevel::Error, "{text}"),
            Effect::Tell { .. } => {}
        }
    }

    fn perform_chat(&mut self, chat: ChatId, effect: ChatEffect) {
        match effect {
            ChatEffect::Call { .. }
            | ChatEffect::HoldInput { .. }
            | ChatEffect::AbortRequest { .. }
            | ChatEffect::FinishRequest { .. }
            | ChatEffect::ShowText { .. }
            | ChatEffect::ShowReasoning { .. }
            | ChatEffect::ShowProviderCall(_)
            | ChatEffect::StartBatch { .. }
            | ChatEffect::Notify(_) => {}
            ChatEffect::TakeInput => {
                let text = (self.choose(4) != 3).then(|| "hello".to_owned());
                self.queue.push_back(Event::chat(chat, ChatEvent::InputTaken { text, typed: None }));
            }
            ChatEffect::StartTurn => *self.turns.entry(chat).or_default() += 1,
            ChatEffect::FinishTurn { .. } => *self.turns.entry(chat).or_default() -= 1,
            ChatEffect::SendRequest { request } => {
                self.check_history(chat);
                self.answer(chat, request);
            }
            ChatEffect::CheckCalls { calls } => {
                let calls = calls.into_iter().map(|call| {
                    let arguments = match self.choose(6) {
                        5 => Err(cut_off()),
                        4 => Err(ArgumentsError::DoesNotFit("no fit".into())),
                        _ => Ok(serde_json::from_str(&call.arguments).unwrap_or_default()),
                    };
                    CheckedCall::new(call.call, arguments)
                });
                let event = Event::chat(chat, ChatEvent::CallsChecked(calls.collect()));
                self.loose.push(event);
            }
            ChatEffect::FinishBatch { .. } => {
                // One without an `on_exit` is just left.
                if let Some(copy) = self.kept.remove(&chat) {
                    assert!(!self.set_up[&copy], "`on_exit` of a shared copy has run by the end of the batch");
                }
            }
            ChatEffect::CloseChat => {
                assert!(self.closed.insert(chat), "a chat closes once");
            }
            ChatEffect::AddMessage { message } => self.told.entry(chat).or_default().push(message),
            ChatEffect::RestoreMessage { .. } | ChatEffect::RestoreCall { .. } => panic!("nothing was saved"),
            ChatEffect::TakeBackMessage => {
                let taken = self.told.entry(chat).or_default().pop();
                assert!(matches!(taken.as_deref(), Some(Message::Llm { calls, .. }) if calls.is_empty()), "{taken:?}");
            }
            ChatEffect::TruncateHistory { kept } => {
                let told = self.told.entry(chat).or_default();
                assert!(matches!(*told[kept], Message::User { visible: true, .. }), "it goes back into the input");
                told.truncate(kept);
            }
            ChatEffect::ClearChat => self.told.entry(chat).or_default().clear(),
        }
    }

    fn perform_call(&mut self, chat: ChatId, call: CallId, effect: CallEffect) {
        match effect {
            CallEffect::AddCall { .. } => {
                assert_eq!(self.added.insert(call, chat), None);
            }
            CallEffect::PrepareCall { copying, .. } => {
                if copying == Copying::Shared {
                    assert!(self.kept.contains_key(&chat), "a copy is shared that was kept");
                } else if copying == Copying::First {
                    let before = self.kept.remove(&chat);
                    assert!(before.is_none_or(|copy| !self.set_up[&copy]), "one row ends before the next begins");
                }
                let event = if self.choose(8) == 7 {
                    // The copy that was kept was set up long ago.
                    let on_exit = copying != Copying::Shared && self.choose(2) == 1;
                    if copying != Copying::Shared {
                        self.set_up.insert(call, on_exit);
                    }
                    Event::call(chat, call, CallEvent::NotPrepared { message: "setup threw".into(), on_exit })
                } else {
                    let bits = self.choose(32);
                    let defines = Defined {
                        success: bits & 1 != 0,
                        error: bits & 2 != 0,
                        rejected: bits & 4 != 0,
                        cancelled: bits & 8 != 0,
                        on_exit: bits & 16 != 0,
                    };
                    if copying != Copying::Shared {
                        self.set_up.insert(call, defines.on_exit);
                    }
                    if copying == Copying::First {
                        self.kept.insert(chat, call);
                    }
                    let approval = [OwnApproval::Run, OwnApproval::Ask, OwnApproval::Function][self.choose(3) as usize];
                    let cmds = self.choose(4) as usize;
                    let timeout_ms = (self.choose(2) == 1).then_some(100);
                    let mut preparation = preparation(cmds, defines, approval, timeout_ms);
                    let bits = self.choose(16);
                    (preparation.gate.protect, preparation.gate.by_command) = (bits & 1 != 0, bits & 2 != 0);
                    (preparation.gate.is_safe, preparation.gate.judge) = (bits & 4 != 0, bits & 8 != 0);
                    (preparation.gate.declares, preparation.gate.has_commands) = (self.choose(4) == 3, bits & 1 != 0);
                    Event::call(chat, call, CallEvent::Prepared(preparation))
                };
                self.queue.push_back(event);
            }
            CallEffect::FindFact { fact } => {
                let answer = self.choose(3) == 1;
                let found = match fact {
                    Fact::OwnApproval => Found::OwnApproval(answer),
                    Fact::CmdString => Found::CmdString(if answer { "ls" } else { "rm" }.to_owned()),
                    Fact::IsSafe => Found::IsSafe(answer),
                    Fact::JudgeContext => Found::JudgeContext(answer),
                    Fact::Rules | Fact::Wants | Fact::Saved | Fact::Judge => panic!("{fact:?} is not Lua's"),
                };
                let found = (self.choose(3) != 2).then_some(found);
                self.queue.push_back(Event::call(chat, call, CallEvent::FactFound { fact, found }));
            }
            CallEffect::LoadPermissions => {
                // Loaded, or not; at once or late.
                let event = match self.choose(3) {
                    0 => Event::call(chat, call, CallEvent::FactFound { fact: Fact::Rules, found: None }),
                    _ => Event::chat(chat, ChatEvent::PermissionsLoaded(permissions())),
                };
                self.loose.push(event);
            }
            CallEffect::FindWants { .. } => {
                let values = ["ls", "git push", "rm x", "git status"];
                let some = (0..self.choose(3))
                    .map(|_| Want::new(Pair::new(BASH, values[self.choose(4) as usize]), &permissions().rules))
                    .collect();
                let found = (self.choose(4) != 3).then_some(Found::Wants(some));
                self.loose.push(Event::call(chat, call, CallEvent::FactFound { fact: Fact::Wants, found }));
            }
            CallEffect::FindSaved { approvals, .. } => {
                let found = Some(Found::Saved(approvals.iter().all(|approval| self.saved.contains(approval))));
                self.loose.push(Event::call(chat, call, CallEvent::FactFound { fact: Fact::Saved, found }));
            }
            CallEffect::AskJudge => {
                assert!(self.judging.insert(call), "the judge is asked once");
                let judged = match self.choose(4) {
                    0 => Judged::Safe("safe".into()),
                    1 => Judged::Unsafe("unsafe".into()),
                    2 => Judged::Failed("failed".into()),
                    // Never answers: the clock does.
                    _ => return,
                };
                let found = Some(Found::Judge(judged));
                self.loose.push(Event::call(chat, call, CallEvent::FactFound { fact: Fact::Judge, found }));
            }
            CallEffect::EndJudge { .. } => {
                assert!(self.judging.remove(&call), "what ends was begun")
            }
            CallEffect::AskApproval { .. } => {
                assert!(self.asked.insert(call), "a call asks once");
                let answer = match self.choose(6) {
                    0 => Answer::Cancel,
                    1 => Answer::Reject { reason: None },
                    2 => Answer::Always { pattern: None },
                    _ => Answer::Accept,
                };
                let event = Event::call(chat, call, CallEvent::Answered(answer));
                self.loose.push(event);
            }
            CallEffect::RunCmd { cmd, .. } => {
                assert!(!self.stopping.contains(&chat), "a stopped chat runs nothing");
                let before = cmd.checked_sub(1);
                assert!(before.is_none_or(|cmd| self.delivered.contains(&(call, cmd))), "cmds run one after another");
                let succeeded = self.choose(4) != 3;
                let finished = Event::call(chat, call, CallEvent::CmdFinished { cmd, succeeded });
                match self.choose(6) {
                    5 => {
                        self.queue.push_back(Event::call(chat, call, CallEvent::CommandStarted { cmd }));
                        let report = report("printed");
                        self.loose.push(Event::call(chat, call, CallEvent::CommandFinished { cmd, succeeded, report }));
                    }
                    0 => self.queue.push_back(finished),
                    1 => self.loose.push(finished),
                    // Both returns and calls back, twice.
                    2 => {
                        self.queue.push_back(finished.clone());
                        self.loose.push(finished);
                    }
                    // Never answers; the clock or the user ends it.
                    3 => self.loose.push(Event::chat(chat, ChatEvent::CallSkipped)),
                    _ => {
                        self.loose.push(Event::call(chat, call, CallEvent::OutputAdded { content: "early".into() }));
                        self.loose.push(finished);
                    }
                }
            }
            CallEffect::RunOutput { output } => {
                if let Output::Success { cmd } = output {
                    assert!(self.delivered.contains(&(call, cmd)), "a cmd succeeds by its own result");
                }
                for _ in 0..self.choose(3) {
                    self.queue.push_back(Event::call(chat, call, CallEvent::OutputAdded { content: "said".into() }));
                }
                let outcome = match self.choose(4) {
                    3 => OutputOutcome::Threw("thrown".into()),
                    2 => OutputOutcome::Undefined,
                    _ => OutputOutcome::Ran,
                };
                self.queue.push_back(Event::call(chat, call, CallEvent::OutputFinished(outcome)));
                if self.choose(4) == 3 {
                    self.loose.push(Event::call(chat, call, CallEvent::OutputAdded { content: "late".into() }));
                }
            }
            CallEffect::RunExit { shared } => {
                let copy = if shared { self.kept.remove(&chat).expect("a copy was kept") } else { call };
                *self.exits.entry(copy).or_default() += 1;
                self.queue.push_back(Event::call(chat, call, CallEvent::ExitFinished));
            }
            CallEffect::Shorten { content, .. } => {
                let content = content[..1].to_owned();
                self.loose.push(Event::call(
                    chat,
                    call,
                    CallEvent::Shortened { content, file: None, media: KeptMedia::default() },
                ));
            }
            CallEffect::FinishCall { .. } => {
                *self.finished.entry(call).or_default() += 1;
                assert!(!self.judging.contains(&call), "nobody judges a call that is over");
            }
            CallEffect::CloseQuestion | CallEffect::KillJobs { .. } | CallEffect::StoreText { .. } => {}
        }
    }

    fn answer(&mut self, chat: ChatId, request: RequestId) {
        self.loose.push(Event::request(
            chat,
            request,
            RequestEvent::Started {
                tools: Arc::from([tool("one", false), tool("two", true), tool("three", true), once("four")]),
            },
        ));
        let mut items = vec![Item::Text("text".into())];
        for index in 0..self.choose(5) as usize {
            self.calls_made += 1;
            let name = ["one", "two", "three", "unknown", "four", "four", "four"][self.choose(7) as usize].to_owned();
            // Ids are sometimes missing or used before.
            let wire_id = match self.choose(4) {
                0 => String::new(),
                1 => "same".to_owned(),
                _ => format!("id{}", self.calls_made),
            };
            items.push(Item::CallStarted { index, wire_id, name });
            items.push(Item::CallArguments { index, text: format!("{{\"n\":{}}}", self.choose(3)) });
        }
        match self.choose(8) {
            0 => items.push(Item::Failed("overloaded".into())),
            1 => items.push(Item::End { reason: EndReason::Length }),
            _ => {}
        }
        self.loose.push(Event::request(chat, request, RequestEvent::Items(items)));
        let end = match self.choose(5) {
            4 => Event::request(chat, request, RequestEvent::Failed("reset".to_owned().into())),
            _ => Event::request(chat, request, RequestEvent::Finished),
        };
        self.loose.push(end);
    }
}
