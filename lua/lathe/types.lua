---@meta
-- Types for lua_ls: chats, adapters and options. What authors of tools and servers hold is in `author_types.lua`, what
-- crosses to the library and back in `bridge_types.lua`. Never loaded.
error("lathe.types is for the language server only")

-- Chats ---------------------------------------------------------------------------------------------------------------

---@class lathe.FunctionCall
---@field id string
---@field type "function"
---@field function { name: string, arguments: string }

---@class lathe.Message
---@field role "system"|"user"|"llm"|"tool"
---@field content string
---@field tools { calls: lathe.FunctionCall[]?, call_id: string?, is_error: boolean? }?
---@field reasoning { content: string }?
---@field opts { visible: boolean }
---@field _meta table

---@class lathe.Chat
---@field bufnr integer
---@field id integer
---@field adapter lathe.Adapter?
---@field messages lathe.Message[] the history; writing to it has no effect
---@field tools lathe.Tools
---@field tool_registry lathe.ToolRegistry
---@field config lathe.ChatConfig
---@field display table
---@field limits { max_lines: integer, max_bytes: integer, encoding: string? }
---@field cwd string where its commands run
---@field is_saved boolean?
---@field saved_id string? the name of its file, without the ending
---@field noted_adapter lathe.Adapter? what the file says is its adapter
---@field noted_changes integer? which tools the file says are in use
---@field prompt_order string[]? whose system prompts requests have, in order
---@field wanted { adapter: string|table|function|nil, model: string? } what it was opened with
---@field render lathe.Render
---@field is_running boolean a turn runs
---@field started_ms integer? uv.now() when its last turn began
---@field is_auto boolean tools run without asking
---@field shared lathe.Call? the last of a run of calls whose tool's copy the next one shares
---@field judge { spec: string|table, adapter: lathe.Adapter }? who judges, when it is not the chat's own adapter
---@field request integer? the one that was made last, while its turn runs
---@field is_closing boolean?
---@field is_shown boolean some window shows it
---@field turn integer how many turns there were
---@field title string? what others call it
---@field is_silent boolean? nobody hears of it: no event, no message
---@field failure string? why its last request failed
---@field streamed integer? the request of which something has come
---@field context_items { source: string?, id: string? }[] what was added by `add_context`
---@field opts lathe.ChatOpts what it was opened with
---@field stderr any[] errors of this turn
---@field calls table<integer, lathe.Call>
---@field calls_by_wire table<string, lathe.Call>
---@field cut_files table<string, string[]> by wire id: files that hold the whole of what was cut of a call's output
---@field questions lathe.Question[]
---@field given string[] messages of the model that were added from outside and are to be shown
---@field taken string? what was taken from the input and is on its way into the history
---@field last_llm lathe.Message?
---@field usage { input: integer, output: integer }?
---@field retry_line lathe.Block? the line of a request that is tried again
---@field adapter_message string? why there is no adapter
---@field opens_for_questions boolean?
---@field system_prompt string? the chat's own
---@field told_prompts table<string, true>? prompts of which was told that they failed
---@field run_opts { timeout: integer?, caller: any }? of a chat in which one tool runs
---@field is_listed boolean? what is offered was looked at for this turn
---@field is_reading boolean? resources of a message are being read
---@field read_resources table<string, lathe.native.Outcome>?
---@field on_call_finished fun(call: lathe.Call, status: lathe.CallStatus)?
---@field on_turn_finished fun(how: string)?

---@class lathe.ChatOpts
---@field adapter? string|lathe.Adapter|{ name: string, model: string? }
---@field model? string
---@field tools? string[] tools and groups to offer
---@field messages? { role: "user"|"system"|"llm", content: string, opts: table? }[]
---@field prompt? string text for the input
---@field submit? boolean send it
---@field hidden? boolean open no window
---@field agent? string whose permission rules count; default "build"

---What may run without a question.
---@class lathe.Approval
---@field scope "chat"|"project"
---@field tool string
---@field value string? the one command; nil: every call of the tool
---@field is_pattern boolean whether `*` and `?` in it are wildcards
---@field since integer when it was given, seconds since 1970
---@field chat_id integer? with scope "chat"
---@field project string? its folder, with scope "project"
---@field remove fun(self: lathe.Approval) takes it back

---@class lathe.ToolRegistry
---@field flags table<string, boolean>
---@field in_use table<string, true>
---@field schemas table<string, table>
---@field groups table<string, table>
---@field add fun(self: lathe.ToolRegistry, name: string): boolean, string?
---@field remove fun(self: lathe.ToolRegistry, name: string)

-- Adapters ------------------------------------------------------------------------------------------------------------

---@class lathe.Adapter
---@field name string
---@field formatted_name? string
---@field wire string|fun(self: lathe.Adapter, model: string?): string
---@field model? string wins over `schema.model.default`
---@field url? string|fun(self: lathe.Adapter, model: string?): string may hold `${name}` of `env`
---@field env? table<string, string|fun(adapter: lathe.Adapter): string> a variable's name, `cmd:…`, `schema.…`, or the value
---@field headers? table<string, string> may hold `${name}` of `env`
---@field headers_with? lathe.AdapterHeadersWith
---@field parameters? table fields of the body
---@field body? table fields of the body that win over all others
---@field schema? table<string, lathe.AdapterSetting>
---@field dialect? lathe.AdapterDialect|fun(self: lathe.Adapter, model: string?): lathe.AdapterDialect?
---@field models? lathe.AdapterModels where the list of models is
---@field opts? lathe.AdapterOpts
---@field turns? lathe.ScriptedTurn[]|fun(messages: lathe.Message[]): lathe.ScriptedTurn?
---@field available_tools? table<string, lathe.AdapterTool> tools that the provider runs by itself
---@field handlers? table

---Headers of some requests only.
---@class lathe.AdapterHeadersWith
---@field pictures? table<string, string> when pictures go along
---@field results? table<string, string> when the newest message is the result of a call
---@field prompt? table<string, string> when it is the user's

---A setting, and where in the body its value goes.
---@class lathe.AdapterSetting
---@field default? any the value, or a function of the adapter that gives it
---@field mapping? string|fun(self: lathe.Adapter): string? the field that holds it, under `parameters`; of a function: the place itself
---@field enabled? boolean|fun(self: lathe.Adapter): boolean?
---@field required? boolean no request goes out without a value

---A tool of the provider.
---@class lathe.AdapterTool
---@field description? string
---@field enabled? boolean|fun(adapter: lathe.Adapter): boolean?
---@field callback fun(self: lathe.Adapter, meta: { tools: table[] }) adds to the tools of the body; may change the adapter
---@field system_prompt? string|fun(schema: table): string?
---@field opts? lathe.AdapterToolOpts

---@class lathe.AdapterToolOpts
---@field client_tool? string the path of the entry that runs its part here: `interactions.chat.tools.<name>`
---@field visible? boolean whether lists show it; default true

---How a server differs from others that speak the same format.
---@class lathe.AdapterDialect
---@field call_id_length? integer ids of calls must have exactly so many letters and digits
---@field answer_between? boolean the model must say something between a result and a message of the user
---@field reasoning_back? string field in which reasoning must come back with each answer once there are tools, an empty one too
---@field thinking_parts? boolean thinking comes as parts of the content, and goes back so
---@field eager_input? boolean it sends the input of calls as the model writes it
---@field keep? string[] fields of the model's message that must come back as they are
---@field no_strict? boolean it refuses to enforce schemas
---@field no_answer_schema? boolean it takes no schema of the answer

---@class lathe.AdapterModels
---@field url string may hold `${name}` of `env`
---@field list? string field of the answer that holds the list; default "data"
---@field id? string field of an entry that holds the name; default "id"
---@field prefix? string what names begin with and requests do not
---@field beside? boolean `url` is that of the chat; the list stands beside it
---@field takes? fun(entry: table): boolean? which entries are models to chat with

---@class lathe.AdapterOpts
---@field stream? boolean default true
---@field vision? boolean|fun(self: lathe.Adapter, model: string?): boolean whether the model takes pictures
---@field proxy? string an empty one: none, whatever the environment says
---@field allow_insecure? boolean take any certificate
---@field retries? integer default 4
---@field limits? { connect_ms: integer?, first_byte_ms: integer?, idle_ms: integer? }

---@class lathe.ScriptedTurn
---@field text? string
---@field chunks? string[] the text in pieces
---@field reasoning? string
---@field tool_calls? { id: string?, name: string, arguments: table|string }[] text: as it is
---@field error? string the request fails after what came before
---@field status? integer with `error`: of the answer, as a server gives it
---@field delay_ms? number
---@field usage? { input: integer, output: integer }
---@field hang? boolean never ends

-- Options -------------------------------------------------------------------------------------------------------------

---@class lathe.ChatConfig
---@field adapter string|table|function|nil
---@field roles { user: string|function, llm: string|fun(adapter: lathe.Adapter?): string }
---@field system_prompt string|function|nil
---@field save boolean
---@field keymaps table<string, { modes: table<string, string|string[]>, desc: string? }|false>
---@field tools table

---@class lathe.Config
---@field adapters { http: table<string, table|function|string> }
---@field interactions { chat: lathe.ChatConfig, background: table }
---@field permission string|table|nil
---@field permission_memory "chat"|"project"
---@field tool_output { max_lines: integer, max_bytes: integer, encoding: string? }
---@field agent table<string, table>
---@field native table
---@field project_tools table
---@field display table

---@class lathe.Opts
---@field adapters? { http: table<string, table|function|string>? }
---@field interactions? table
---@field permission? string|table
---@field permission_memory? "chat"|"project"
---@field tool_output? { max_lines: integer?, max_bytes: integer?, encoding: string? }
---@field agent? table<string, table>
---@field native? table
---@field project_tools? table
---@field display? table

---A picture, a sound or a file.
---@class (exact) lathe.Media
---@field kind "image"|"audio"|"blob"
---@field data string bytes, base64 or a `data:` URL
---@field mime string?
---@field uri string? of the resource that it belongs to

---What the tools of a server are called, one a line.
---@class lathe.native.Names
---@field group string
---@field tools string
---@field collisions string
