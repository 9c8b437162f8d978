-- What the library must have been built from to fit the Lua beside it. Written by the build; `lathe.core` compares.
return "9b7d82471ba541c0"
