//! A call that a panic left without a stage.

use super::*;
use crate::error::OUR_FAULT;
use crate::message::Message;
use crate::tool::CallStatus;

fn context<'a>(approvals: &'a mut Approvals, settings: &'a ChatSettings, effects: &'a mut Vec<Effect>) -> Context<'a> {
    Context { chat: ChatId(1), now_ms: 0, rest: 0, approvals, auto: false, permissions: None, settings, effects }
}

#[test]
fn a_call_without_a_stage_ends_with_an_error_whatever_happens_next() {
    type Act = fn(&mut ToolCall, &mut Context);
    let acts: [Act; 3] = [
        |call, ctx| call.handle(ctx, CallEvent::ExitFinished),
        |call, ctx| call.abort(ctx, Abort::Stopped),
        |call, ctx| call.time_passed(ctx),
    ];
    for act in acts {
        let (mut approvals, settings, mut effects) = (Approvals::default(), ChatSettings::default(), Vec::new());
        let mut call = ToolCall::new(CallId(1), "c1".into(), "t".into(), 0, Ok(Value::Null));
        call.stage = Stage::default();
        act(&mut call, &mut context(&mut approvals, &settings, &mut effects));
        let Some(CallResult { status: CallStatus::Error, message }) = call.result() else { panic!("it has no error") };
        assert!(matches!(message.as_ref(), Message::Tool { content, is_error: true, .. } if content == OUR_FAULT));
        assert_eq!(effects.len(), 1, "{effects:?}");
    }
}
