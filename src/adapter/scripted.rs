//! Offline provider.
