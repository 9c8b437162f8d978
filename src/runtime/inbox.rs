//! The one queue of events: what threads, exports and performers tell the engine, in order of arrival.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::adapter::Item;
use crate::engine::event::{ChatEvent, Event, RequestEvent};

/// A queue that any thread may fill; the main loop empties it.
pub struct Inbox {
    queue: Mutex<VecDeque<Event>>,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Inbox {
    /// An empty queue. `wake` is called after each [`Inbox::push`], on the pushing thread; it must be cheap and coalesce.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { queue: Mutex::default(), wake: Box::new(wake) }
    }

    /// Appends an event and wakes the main loop.
    pub fn push(&self, event: Event) {
        self.push_quietly(event);
        (self.wake)();
    }

    /// Appends an event for a main loop that is at work anyway. Items of a request join those of the same request that
    /// are still at the end of the queue, so a fast stream costs the main loop one event per turn of it.
    pub fn push_quietly(&self, event: Event) {
        let mut queue = self.lock();
        match (queue.back_mut(), event) {
            (
                Some(Event::Addressed {
                    event: ChatEvent::Request { request: last, event: RequestEvent::Items(items) },
                    ..
                }),
                Event::Addressed { event: ChatEvent::Request { request, event: RequestEvent::Items(more) }, .. },
            ) if *last == request && has_room(items) => more.into_iter().for_each(|item| append(items, item)),
            (_, event) => queue.push_back(event),
        }
    }

    /// Takes the oldest event.
    pub fn pop(&self) -> Option<Event> {
        self.lock().pop_front()
    }

    /// How many events wait.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether no event waits.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Event>> {
        // A panic while the lock is held leaves a queue that is still a queue.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How much one event may hold before another begins: the main loop handles an event in one go.
const MAX_ITEMS: usize = 512;
const MAX_TEXT_BYTES: usize = 64 * 1024;

fn has_room(items: &[Item]) -> bool {
    let last = match items.last() {
        Some(Item::Text(text) | Item::Reasoning(text) | Item::CallArguments { text, .. }) => text.len(),
        _ => 0,
    };
    items.len() < MAX_ITEMS && last < MAX_TEXT_BYTES
}

/// Appends an item; text joins text, arguments join those of the same call.
fn append(items: &mut Vec<Item>, item: Item) {
    match (items.last_mut(), item) {
        (Some(Item::Text(last)), Item::Text(more)) | (Some(Item::Reasoning(last)), Item::Reasoning(more)) => {
            last.push_str(&more);
        }
        (Some(Item::CallArguments { index: last, text }), Item::CallArguments { index, text: more })
            if *last == index =>
        {
            text.push_str(&more);
        }
        (_, item) => items.push(item),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::engine::event::{ChatId, RequestId};

    const CHAT: ChatId = ChatId(1);

    fn items(request: u64, items: &[Item]) -> Event {
        Event::request(CHAT, RequestId(request), RequestEvent::Items(items.to_vec()))
    }

    fn text(text: &str) -> Item {
        Item::Text(text.to_owned())
    }

    fn arguments(index: usize, text: &str) -> Item {
        Item::CallArguments { index, text: text.to_owned() }
    }

    fn after(events: &[Event]) -> Vec<Event> {
        let inbox = Inbox::new(|| {});
        events.iter().cloned().for_each(|event| inbox.push(event));
        std::iter::from_fn(|| inbox.pop()).collect()
    }

    #[test]
    fn a_flood_of_text_comes_in_events_that_are_not_too_long() {
        let piece = "x".repeat(10_000);
        let events = after(&vec![items(1, &[text(&piece)]); 100]);
        assert!(events.len() > 10);
        for event in &events {
            let Event::Addressed { event: ChatEvent::Request { event: RequestEvent::Items(items), .. }, .. } = event
            else {
                panic!("items of a request")
            };
            assert!(matches!(&items[..], [Item::Text(text)] if text.len() < MAX_TEXT_BYTES + piece.len()));
        }
    }

    #[test]
    fn items_of_one_request_join() {
        let reasoning = Item::Reasoning("r".to_owned());
        assert_eq!(
            after(&[
                items(1, &[text("a")]),
                items(1, &[text("b"), reasoning.clone()]),
                items(1, &[text("c")]),
                items(1, &[arguments(0, "{")]),
                items(1, &[arguments(0, "}")]),
                items(1, &[arguments(1, "{}")]),
            ]),
            vec![items(1, &[text("ab"), reasoning, text("c"), arguments(0, "{}"), arguments(1, "{}")])]
        );
    }

    #[test]
    fn items_do_not_pass_other_events_or_requests() {
        let events = [
            items(1, &[text("a")]),
            items(2, &[text("b")]),
            Event::chat(CHAT, ChatEvent::Submitted),
            items(2, &[text("c")]),
            Event::request(CHAT, RequestId(2), RequestEvent::Finished),
            items(2, &[text("late")]),
        ];
        assert_eq!(after(&events), events);
    }

    #[test]
    fn each_push_wakes_and_a_quiet_one_does_not() {
        let wakes = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&wakes);
        let inbox = Inbox::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        inbox.push(Event::TimePassed);
        inbox.push_quietly(Event::TimePassed);
        assert_eq!((inbox.len(), wakes.load(Ordering::Relaxed)), (2, 1));
    }
}
