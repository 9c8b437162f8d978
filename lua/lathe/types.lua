---@meta
-- Types for lua_ls: what tool authors hold, and what crosses the bridge. Never loaded.
error("lathe.types is for the language server only")

-- Tools ---------------------------------------------------------------------------------------------------------------

---@alias lathe.CallStatus "success"|"error"|"rejected"|"cancelled"|"stopped"|"skipped"|"timeout"|"denied"

---What a cmd returns or gives to `output_cb`.
---@class lathe.CmdResult
---@field status "success"|"error"
---@field data any

---@class lathe.CmdOpts
---@field input any result of the cmd before
---@field output_cb fun(result: lathe.CmdResult) for results that come later; only the first counts; may be called in a fast event
---@field register_job fun(job: { kill: function }) ended when the call is

---@alias lathe.CmdFunction fun(self: lathe.Tools, args: table, opts: lathe.CmdOpts): lathe.CmdResult?
---@alias lathe.Cmd lathe.CmdFunction|string|string[]|{ cmd: string|string[], flag: string }

---@class lathe.Meta
---@field tools lathe.Tools
---@field cmd lathe.Cmd? the entry of `cmds` that ran
---@field opts { reason: string? }? for `rejected`

---@class lathe.ToolHandlers
---@field setup? fun(self: lathe.Tool, meta: lathe.Meta)
---@field prompt_condition? fun(self: lathe.Tool, meta: lathe.Meta): boolean?
---@field on_exit? fun(self: lathe.Tool, meta: lathe.Meta)

---@class lathe.ToolOutput
---@field success? fun(self: lathe.Tool, stdout: any[]?, meta: lathe.Meta)
---@field error? fun(self: lathe.Tool, stderr: any[]?, meta: lathe.Meta)
---@field prompt? fun(self: lathe.Tool, meta: lathe.Meta): string
---@field rejected? fun(self: lathe.Tool, meta: lathe.Meta)
---@field cancelled? fun(self: lathe.Tool, meta: lathe.Meta)
---@field cmd_string? fun(self: lathe.Tool, meta: lathe.Meta): string

---What lets a call run in auto mode although its tool has `require_cmd_approval`.
---@class lathe.ToolGates
---@field is_safe? fun(self: lathe.Tool, meta: lathe.Meta): boolean? true runs it
---@field judge_context? fun(self: lathe.Tool, meta: lathe.Meta): string? what the call does, for the judge

---@class lathe.ToolOpts
---@field require_approval_before? boolean|table|fun(tool: lathe.Tool, tools: lathe.Tools): boolean?
---@field require_cmd_approval? boolean *Always accept* is for one command; only in the config entry
---@field protect? boolean always ask in auto mode; only in the config entry
---@field judge? boolean the judge may be asked in auto mode
---@field timeout? number|false ms that a call may take
---@field use_handlers_once? boolean calls in a row share one copy, `setup` and `on_exit`
---@field parallel? boolean calls may overlap with neighbours that have it too
---@field background? boolean what a command leaves running goes on

---@class lathe.ToolGates
---@field is_safe? fun(self: lathe.Tool, meta: lathe.Meta): boolean? true: it may run without a question in Auto mode
---@field judge_context? fun(self: lathe.Tool, meta: lathe.Meta): string? what the judge is to look at

---A tool, as its author writes it. In handlers and output functions it is the call's own copy.
---@class lathe.Tool
---@field name? string as its key in the config
---@field description? string
---@field schema table OpenAI form: `{ type = "function", ["function"] = { name, description, parameters } }`
---@field cmds? lathe.Cmd[]
---@field system_prompt? string|fun(schema: table): string
---@field env? fun(tool: lathe.Tool): table
---@field handlers? lathe.ToolHandlers
---@field output? lathe.ToolOutput
---@field gates? lathe.ToolGates
---@field permission? lathe.ToolPermission what permission rules see of a call; default: its name, and `*`
---@field opts? lathe.ToolOpts
---@field before_call? fun(chat: lathe.Chat, call: lathe.Call): string? of a source's; what forbids the call
---@field schema_text? string JSON text of the parameters, where they were made from it
---@field strict_types? boolean a string is never taken for a number
---@field fills_defaults? boolean
---@field server? string the native server
---@field tool? string its name there
---@field routes? boolean
---@field args? table the call's arguments
---@field function_call? lathe.FunctionCall

---What a call wants, for permission rules. Both functions are synchronous; one that throws makes the call ask.
---@class lathe.ToolPermission
---@field key? string the rules' key, such as `read`, `edit` or `bash`; default: the tool's name
---@field values? fun(args: table): string[] paths for `read`, `edit` and `list`, shell texts for `bash`
---@field paths? fun(args: table): string[] paths that may be outside of the project

---The same under the name that annotations of other tools use.
---@alias lathe.Tools.Tool lathe.Tool

---A tool with `extends = "cmd_tool"`, as its author writes it; `handlers`, `output` and `gates` as in any tool.
---@class lathe.CmdTool
---@field extends "cmd_tool"
---@field name? string as its key in the config
---@field description? string for the model
---@field schema { properties: table?, required: string[]?, additionalProperties: any }
---@field build_cmd fun(args: table): string, string? the command, and the flag under which its success is recorded
---@field system_prompt? string|fun(schema: table): string
---@field env? fun(tool: lathe.Tool): table
---@field handlers? lathe.ToolHandlers
---@field output? lathe.ToolOutput
---@field gates? lathe.ToolGates

---A group of tools, an entry of `interactions.chat.tools.groups`.
---@class lathe.ToolGroup
---@field description? string
---@field tools string[]
---@field prompt? string what the model reads for `@{group}`; `${tools}` stands for the names
---@field system_prompt? string|fun(group: table, ctx: lathe.PromptContext): string?
---@field opts? { collapse_tools: boolean?, ignore_system_prompt: boolean?, ignore_tool_system_prompt: boolean? }

---What functions that make system prompts are told.
---@class lathe.PromptContext
---@field tools string[] names of all tools that are offered with the request
---@field chat lathe.Chat
---@field adapter lathe.Adapter?
---@field cwd string
---@field date string
---@field os string
---@field nvim_version string
---@field language string

---An entry of `interactions.chat.tools`: a tool, or where one is.
---@class lathe.ToolEntry : lathe.Tool
---@field schema? table
---@field path? string module or file that returns the tool
---@field callback? lathe.Tool|string|fun(): lathe.Tool
---@field extends? "cmd_tool"
---@field build_cmd? fun(args: table): string, string?
---@field enabled? boolean|fun(adapter: lathe.Adapter?): boolean
---@field visible? boolean

---The tool system as a call sees it.
---@class lathe.Tools
---@field tool lathe.Tool? the running tool
---@field chat lathe.Chat
---@field bufnr integer
---@field status "success"|"error" of the last cmd
---@field stdout any[] data of the call's successful cmds
---@field stderr any[] errors of this turn

---One call on the Lua side, from the model's request to its result.
---@class lathe.Call
---@field id integer the engine's id
---@field name string
---@field function_call lathe.FunctionCall
---@field source string
---@field tool lathe.Tool|false its copy, once prepared
---@field args table|false
---@field view lathe.Tools|false
---@field meta lathe.Meta|false
---@field env table? what the tool's `env` returned
---@field cmd integer|false number of the cmd that runs
---@field command boolean? whether that is a command
---@field flag string? what its success is recorded under
---@field on_exit fun(self: lathe.Tool, meta: lathe.Meta)|false as it was after `setup`
---@field input any result of the cmd before
---@field pending any data not yet in stdout or stderr
---@field has_pending boolean
---@field succeeded boolean
---@field jobs table[]?
---@field killed boolean jobs are ended, also later ones
---@field finished boolean
---@field started_ns integer|false
---@field reason string? why the user rejected it
---@field server string? the native server
---@field code string? how it ended, of a native server
---@field outcome lathe.native.Outcome?
---@field native { auto_approve: boolean }?
---@field judge_context string? what the judge is told of it
---@field is_judged boolean the judge is being asked
---@field block lathe.Block|false
---@field body string[]? shown text that came before there was a block

---@class lathe.RunResult
---@field status lathe.CallStatus
---@field content string what a model would read
---@field display string? what a chat would show
---@field code string? of a native server
---@field outcome lathe.native.Outcome?

-- Native servers ------------------------------------------------------------------------------------------------------

---A native server, as its author writes it.
---@class lathe.native.ServerDef
---@field name? string the key in `native.servers` wins
---@field displayName? string
---@field description? string|fun(def: lathe.native.ServerDef): string
---@field capabilities? lathe.native.Capabilities

---@class lathe.native.Capabilities
---@field tools? lathe.native.ToolDef[]
---@field resources? lathe.native.ResourceDef[]
---@field resourceTemplates? lathe.native.TemplateDef[]
---@field prompts? lathe.native.PromptDef[]

---@alias lathe.native.Handler fun(req: lathe.native.Request, res: lathe.native.Response): any

---@class lathe.native.ToolDef
---@field name string
---@field description? string|fun(def: lathe.native.ToolDef): string
---@field inputSchema? table|fun(def: lathe.native.ToolDef): table an object schema
---@field handler lathe.native.Handler
---@field needs_confirmation_window? boolean false: it shows a review of its own
---@field timeout? integer|false ms

---@class lathe.native.ResourceDef
---@field uri string
---@field handler lathe.native.Handler
---@field name? string
---@field description? string|fun(def: lathe.native.ResourceDef): string
---@field mimeType? string

---@class lathe.native.TemplateDef
---@field uriTemplate string with `{name}` for a part, `{+name}` for one with slashes
---@field handler lathe.native.Handler
---@field name? string
---@field description? string|fun(def: lathe.native.TemplateDef): string
---@field mimeType? string

---@class lathe.native.PromptDef
---@field name string
---@field handler lathe.native.Handler
---@field description? string|fun(def: lathe.native.PromptDef): string
---@field arguments? lathe.native.PromptArg[]|fun(def: lathe.native.PromptDef): lathe.native.PromptArg[]

---@class lathe.native.PromptArg
---@field name string
---@field description? string
---@field required? boolean
---@field default? string
---@field enum? string[]

---What a handler is told.
---@class lathe.native.Request
---@field params table arguments of a tool or a prompt, or parts of a URI
---@field tool? lathe.native.ToolDef
---@field resource? lathe.native.ResourceDef|lathe.native.TemplateDef
---@field prompt? lathe.native.PromptDef
---@field uri? string
---@field uriTemplate? string
---@field server lathe.native.Server
---@field caller lathe.native.Caller
---@field editor_info lathe.native.EditorInfo
---@field signal lathe.native.Signal

---@class lathe.native.Caller
---@field type string
---@field auto_approve boolean
---@field meta table
---@field lathe { chat: lathe.Chat?, bufnr: integer?, tool_call_id: string? }
---@field codecompanion table the same as `lathe`

---@class lathe.native.EditorInfo
---@field last_active lathe.native.Buffer?
---@field buffers lathe.native.Buffer[]

---@class lathe.native.Buffer
---@field bufnr integer
---@field name string
---@field filename string absolute
---@field filetype string
---@field line_count integer
---@field is_visible boolean
---@field is_modified boolean
---@field is_loaded boolean
---@field lastused integer seconds since 1970
---@field windows integer[]
---@field winnr integer? id of the first window
---@field cursor_pos { [1]: integer, [2]: integer }? row from 1, column from 0

---What a handler builds its result with; tools, resources and prompts have different functions.
---@class lathe.native.Response
---@field text fun(self: lathe.native.Response, text: any, mime: string?): lathe.native.Response
---@field image fun(self: lathe.native.Response, data: string, mime: string?): lathe.native.Response
---@field audio fun(self: lathe.native.Response, data: string, mime: string?): lathe.native.Response
---@field blob? fun(self: lathe.native.Response, data: string, mime: string?): lathe.native.Response
---@field resource? fun(self: lathe.native.Response, resource: table): lathe.native.Response
---@field user? fun(self: lathe.native.Response): lathe.native.Response
---@field llm? fun(self: lathe.native.Response): lathe.native.Response
---@field system? fun(self: lathe.native.Response): lathe.native.Response
---@field error fun(self: lathe.native.Response, message: any, details: any): lathe.native.Response
---@field send fun(self: lathe.native.Response, result: any): lathe.native.Response
---@field guard fun(self: lathe.native.Response, fn: function): function

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
---@field stderr any[] errors of this turn
---@field calls table<integer, lathe.Call>
---@field calls_by_wire table<string, lathe.Call>
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
---@field wire string
---@field model? string wins over `schema.model.default`
---@field url? string may hold `${name}` of `env`
---@field env? table<string, string|fun(adapter: lathe.Adapter): string> a variable's name, `cmd:…`, `schema.…`, or the value
---@field headers? table<string, string> may hold `${name}` of `env`
---@field parameters? table fields of the body
---@field body? table fields of the body that win over all others
---@field schema? table<string, { default: any, mapping: string?, enabled: any, required: boolean? }> settings; mapped to `parameters`
---@field dialect? lathe.AdapterDialect
---@field models? lathe.AdapterModels where the list of models is
---@field opts? lathe.AdapterOpts
---@field turns? lathe.ScriptedTurn[]|fun(messages: lathe.Message[]): lathe.ScriptedTurn?
---@field available_tools? table<string, lathe.AdapterTool> tools that the provider runs by itself
---@field handlers? table

---A tool of the provider.
---@class lathe.AdapterTool
---@field description? string
---@field enabled? boolean|fun(adapter: lathe.Adapter): boolean?
---@field callback fun(self: lathe.Adapter, meta: { tools: table[] }) adds to the tools of the body; may change the adapter
---@field system_prompt? string|fun(schema: table): string?
---@field opts? { client_tool: string? } the path of the entry that runs its part here: `interactions.chat.tools.<name>`

---How a server differs from others that speak the same format.
---@class lathe.AdapterDialect
---@field call_id_length? integer ids of calls must have exactly so many letters and digits
---@field answer_between? boolean the model must say something between a result and a message of the user
---@field reasoning_back? string field in which the reasoning that led to calls must come back
---@field keep? string[] fields of the model's message that must come back as they are
---@field no_strict? boolean it refuses to enforce schemas
---@field no_answer_schema? boolean it takes no schema of the answer

---@class lathe.AdapterModels
---@field url string may hold `${name}` of `env`
---@field list? string field of the answer that holds the list; default "data"
---@field id? string field of an entry that holds the name; default "id"
---@field prefix? string what names begin with and requests do not

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

-- The library ---------------------------------------------------------------------------------------------------------

---A list of offered tools, held by the library.
---@class lathe.ToolSet : userdata

---What is saved of a chat besides its messages.
---@class (exact) lathe.ChatMeta
---@field chat integer
---@field cwd string
---@field adapter string?
---@field model string?
---@field tools string[]
---@field groups string[]

---A chat that was read from a file.
---@class (exact) lathe.LoadedChat
---@field id string
---@field cwd string
---@field adapter string?
---@field model string?
---@field tools string[]
---@field groups string[]
---@field copied "busy"|"read_only"|"elsewhere"|nil why it goes on in a copy
---@field loaded userdata for `restore_chat`

---A command cmd to run.
---@class lathe.CommandCmd
---@field chat integer
---@field call integer
---@field cmd integer from 1
---@field text string shell text with `${name}` placeholders
---@field env table<string, string|string[]|{ raw: string }>
---@field shell string
---@field cwd string
---@field without string[] variables that it does not get
---@field keep string[] variables that it gets though their value is that of a key
---@field background boolean whether what it leaves running goes on
---@field max_lines integer
---@field max_bytes integer
---@field encoding string?

---@class (exact) lathe.ChatSettings
---@field auto_submit_success boolean
---@field auto_submit_errors boolean
---@field max_parallel integer
---@field max_lines integer of the result of a call
---@field max_bytes integer
---@field project string? folder of the project that approvals are remembered for

---@class lathe.OfferedTool
---@field name string
---@field description string?
---@field schema string? JSON text
---@field strict boolean?
---@field numeric_strings boolean
---@field fills_defaults boolean? what a call leaves out gets the schema's default
---@field parallel boolean
---@field handlers_once boolean?
---@field server string? the native server
---@field tool string? its name there
---@field routes boolean? its arguments name another tool, which is called instead
---@field by_provider boolean? the provider knows it: it is not described in the request

---What `require("lathe_core")` gives. Every function only queues: none calls back into Lua before it returns.
---@class lathe.Core
---@field version string
---@field start fun(performers: lathe.Performers)
---@field open_chat fun(o: lathe.ChatSettings): integer
---@field submit fun(o: { chat: integer })
---@field retry fun(o: { chat: integer })
---@field take_last_message fun(o: { chat: integer })
---@field stop fun(o: { chat: integer })
---@field skip fun(o: { chat: integer })
---@field clear fun(o: { chat: integer })
---@field close_chat fun(o: { chat: integer })
---@field add_message fun(o: { chat: integer, role: string, content: string, visible: boolean?, attachments: table[]? })
---@field tool_set fun(o: { base: lathe.ToolSet?, tools: lathe.OfferedTool[] }): lathe.ToolSet base: one that it goes on
---@field request_calls fun(o: { chat: integer, calls: table[], tools: lathe.ToolSet, submit: boolean })
---@field start_request fun(o: table) chat, request, tools, system, wire, and what the wire needs (`lathe.adapters.request`)
---@field fetch fun(o: table): integer a JSON document, by GET: number of the reply
---@field fail_request fun(o: { chat: integer, request: integer, message: string })
---@field set_auto fun(o: { chat: integer, auto: boolean })
---@field keep_approvals fun(o: { folder: string }) where those of projects are kept
---@field approvals fun(): table[] with a field `message` when some are missing
---@field forget_approval fun(o: { chat: integer?, project: string?, tool: string, value: string?, is_pattern: boolean? })
---@field load_permissions fun(o: table): integer the number of its reply
---@field fail_permissions fun(o: { chat: integer, call: integer })
---@field why fun(o: table): integer the number of its reply
---@field is_safe fun(o: { text: string, patterns: string[] }): boolean
---@field ask_judge fun(o: table) chat, call, system, prompt, wire, and what the wire needs
---@field fail_judge fun(o: { chat: integer, call: integer, message: string })
---@field command_text fun(o: { text: string, env: table }): string? the text with its values put in
---@field answer fun(o: { chat: integer, call: integer, answer: string, reason: string?, pattern: string? })
---@field run_command fun(o: lathe.CommandCmd): string? why nothing was run
---@field add_secrets fun(o: { values: string[], url: string, headers: table<string, string> }) commands do not see them
---@field run_key_command fun(o: table): integer number of the reply: the key
---@field last_line fun(call: integer): string? what its command printed last
---@field finish_cmd fun(chat: integer, call: integer, cmd: integer, succeeded: boolean)
---@field add_output fun(chat: integer, call: integer, content: string)
---@field drain fun()
---@field keep_media fun(o: { folder: string }) where pictures and files of tools go; removes there what is old
---@field add_media fun(chat: integer, call: integer, o: lathe.Media)
---@field native_media fun(o: lathe.Media): { data: string, mime: string } as base64
---@field native_match fun(o: { uri: string, templates: string[] }): { index: integer, params: table<string, string> }?
---@field native_names fun(o: { prefix: string, servers: string[] }): lathe.native.Names[] NUL between the names
---@field keep_outputs fun(o: { folder: string }) where the whole of what is cut goes; removes there what is old
---@field keep_chats fun(o: { folder: string }) where chats are saved
---@field save_chat fun(o: lathe.ChatMeta): string? its id, the first time
---@field list_chats fun(): integer number of the reply: lathe.SavedChat[]
---@field load_chat fun(o: { chat: string }): integer number of the reply: lathe.LoadedChat
---@field restore_chat fun(o: { chat: integer, loaded: userdata, save: boolean }): string? its id
---@field shutdown fun()
---@field counts fun(): { chats: integer, events: integer, effects: integer, commands: integer, schemas: integer }
---@field panic? fun(elsewhere?: boolean) only in debug builds; elsewhere: on another thread

---A message joined the history. `wire_id`, `is_error`: of a result. `typed`: by the user, when the model reads more.
---@alias lathe.AddMessage fun(chat: integer, role: string, content: string, wire_id: string?, is_error: boolean?,
---  visible: boolean, reasoning: string?, typed: string?)

---@alias lathe.Copying "own"|"first"|"shared"
---@alias lathe.PrepareCall fun(chat: integer, call: integer, args: table, copying: lathe.Copying): boolean, ...
---@alias lathe.AskApproval fun(chat: integer, call: integer, question: lathe.Question): string?

---A call is over. Returns how it looks when the chat is saved: state, head, fact, body.
---@alias lathe.FinishCall fun(chat: integer, call: integer, status: lathe.CallStatus, content: string?,
---  duration_ms: integer): string?, string?, string?, string?

---A call of a saved chat. `state`, `head`: empty when its looks are not known.
---@alias lathe.RestoreCall fun(chat: integer, wire_id: string, name: string, arguments: string, is_error: boolean,
---  state: string, head: string, fact: string?, body: string?)

---What the library calls, on the main loop.
---@class (exact) lathe.Performers
---@field take_input fun(chat: integer): string?, string?
---@field hold_input fun(chat: integer, waiting: boolean)
---@field start_turn fun(chat: integer)
---@field send_request fun(chat: integer, request: integer)
---@field finish_request fun(chat: integer, request: integer, failed: boolean, input: integer?, output: integer?)
---@field show_text fun(chat: integer, text: string)
---@field show_reasoning fun(chat: integer, text: string)
---@field show_provider_call fun(chat: integer, name: string, label: string, output: string, is_error: boolean)
---@field add_message lathe.AddMessage
---@field take_back_message fun(chat: integer) the newest one
---@field restore_message lathe.AddMessage
---@field restore_call lathe.RestoreCall
---@field reply fun(number: integer, value: any, message: string?) of a slow export
---@field cut_history fun(chat: integer, kept: integer) the first message behind it goes back into the input
---@field add_call fun(chat: integer, call: integer, wire_id: string, name: string, arguments: string, runs: string?)
---@field start_batch fun(chat: integer, calls: integer)
---@field finish_batch fun(chat: integer, failed: boolean)
---@field prepare_call lathe.PrepareCall
---@field find_fact fun(chat: integer, call: integer, fact: string): boolean|string|nil
---@field load_permissions fun(chat: integer, call: integer)
---@field find_wants fun(chat: integer, call: integer): table?
---@field ask_judge fun(chat: integer, call: integer)
---@field end_judge fun(chat: integer, call: integer, status: "safe"|"unsafe"|"error"|"stopped", reason: string)
---@field ask_approval lathe.AskApproval
---@field close_question fun(chat: integer, call: integer)
---@field run_cmd fun(chat: integer, call: integer, cmd: integer): boolean?
---@field store_text fun(chat: integer, call: integer, cmd: integer, succeeded: boolean, text: string)
---@field kill_jobs fun(chat: integer, call: integer)
---@field run_output fun(chat: integer, call: integer, kind: string, cmd: integer?, text: string?): string|false|nil
---@field run_exit fun(chat: integer, call: integer, shared: boolean)
---@field finish_call lathe.FinishCall
---@field notify fun(chat: integer, kind: string, text: string?, attempt: integer?, of: integer?, wait_ms: integer?)
---@field tell fun(text: string)
---@field finish_turn fun(chat: integer, how: "done"|"stopped"|"cancelled"|"failed"|"held")
---@field clear_chat fun(chat: integer)
---@field close_chat fun(chat: integer)
---@field log fun(level: "debug"|"warn"|"error", text: string)
