//! Whether a failure is tried again, and when.

use std::time::{Duration, SystemTime};

use super::error::HttpError;
use super::outside::Outside;

/// What a server may ask to wait. Longer is the user's decision.
const MAX_WAIT: Duration = Duration::from_secs(60);

const FIRST_WAIT: Duration = Duration::from_secs(1);
const MAX_DOUBLINGS: u32 = 3;

/// How far chance moves a wait, so that many clients of a server that was down do not come back at once.
const JITTER: f64 = 0.25;

/// How long to wait before retry `attempt` (from 0). None: there is no point in one.
pub(super) fn wait(failure: &HttpError, attempt: u32, outside: &Outside) -> Option<Duration> {
    if !failure.may_pass() {
        return None;
    }
    match failure.retry_after() {
        Some(asked) if asked > MAX_WAIT => None,
        Some(asked) if !asked.is_zero() => Some(asked),
        _ => {
            let wait = FIRST_WAIT * 2_u32.pow(attempt.min(MAX_DOUBLINGS));
            Some(wait.mul_f64(1.0 - JITTER + 2.0 * JITTER * outside.random()))
        }
    }
}

/// The value of a `Retry-After` header: seconds or a date. A date in the past is zero.
pub(super) fn parse_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}
