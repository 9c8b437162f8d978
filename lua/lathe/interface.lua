-- What the library must have been built from to fit the Lua beside it. Written by the build; `lathe.core` compares.
return "c7a839b1ca0525f1"
