-- What the library must have been built from to fit the Lua beside it. Written by the build; `lathe.core` compares.
return "5ef2f773a3cf8896"
