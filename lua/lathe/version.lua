-- The plugin's own version. The library must have the same (Cargo.toml); `lathe.core` compares them.
return "0.1.0"
