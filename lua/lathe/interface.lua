-- What the library must have been built from to fit the Lua beside it. Written by the build; `lathe.core` compares.
return "c392003160b9c11f"
