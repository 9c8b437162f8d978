//! Time, chance and names as requests see them, so that a test can be exact about all three.

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Addresses = io::Result<Vec<SocketAddr>>;

/// Where requests get time, chance and addresses from.
#[derive(Clone)]
pub struct Outside {
    random: Arc<dyn Fn() -> f64 + Send + Sync>,
    now: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    sleep: Arc<dyn Fn(Duration) -> Boxed<()> + Send + Sync>,
    lookup: Arc<dyn Fn(String) -> Boxed<Addresses> + Send + Sync>,
}

impl Default for Outside {
    fn default() -> Self {
        Self {
            random: Arc::new(random),
            now: Arc::new(SystemTime::now),
            sleep: Arc::new(|wait| Box::pin(tokio::time::sleep(wait))),
            lookup: Arc::new(|host| Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.collect()) })),
        }
    }
}

#[cfg(test)]
impl Outside {
    /// Takes chance, a number from 0 to below 1, from `random`.
    pub fn with_random(self, random: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        Self { random: Arc::new(random), ..self }
    }

    /// Takes the time of day from `now`.
    pub fn with_now(self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self { now: Arc::new(now), ..self }
    }

    /// Waits between tries with `sleep`.
    pub fn with_sleep<F: Future<Output = ()> + Send + 'static>(
        self,
        sleep: impl Fn(Duration) -> F + Send + Sync + 'static,
    ) -> Self {
        Self { sleep: Arc::new(move |wait| Box::pin(sleep(wait))), ..self }
    }

    /// Looks names up with `lookup`; the ports do not matter.
    pub fn with_lookup(self, lookup: impl Fn(&str) -> io::Result<Vec<SocketAddr>> + Send + Sync + 'static) -> Self {
        Self { lookup: Arc::new(move |host| Box::pin(std::future::ready(lookup(&host)))), ..self }
    }
}

impl Outside {
    pub(super) fn random(&self) -> f64 {
        (self.random)()
    }

    pub(super) fn now(&self) -> SystemTime {
        (self.now)()
    }

    pub(super) fn sleep(&self, wait: Duration) -> impl Future<Output = ()> + Send + use<> {
        (self.sleep)(wait)
    }
}

impl Resolve for Outside {
    fn resolve(&self, name: Name) -> Resolving {
        let addresses = (self.lookup)(name.as_str().to_owned());
        Box::pin(async move {
            let addresses = addresses.await?;
            if addresses.is_empty() {
                return Err("the name has no address".into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// From 0 to below 1. The standard library seeds its hashers at random, which is chance enough to spread retries.
fn random() -> f64 {
    let bits = u32::try_from(RandomState::new().hash_one(()) >> 32).unwrap_or_default();
    f64::from(bits) / (f64::from(u32::MAX) + 1.0)
}
