---@meta
-- Types for lua_ls: what authors of tools and of native servers write and hold. Never loaded.
error("lathe.author_types is for the language server only")

-- Tools ---------------------------------------------------------------------------------------------------------------

---@alias lathe.CallStatus "success"|"error"|"rejected"|"cancelled"|"stopped"|"skipped"|"timeout"|"denied"

---What a cmd returns or gives to `output_cb`.
---@class lathe.CmdResult
---@field status "success"|"error"
---@field data any

---@class lathe.CmdOpts
---@field input { status: "success", data: any }? result of the cmd before
---@field output_cb fun(result: lathe.CmdResult) a result that comes later; the first counts; fine in fast events
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
---@field is_safe? fun(self: lathe.Tool, meta: lathe.Meta): boolean? true: it may run without a question in auto mode
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
---@field project_root string
---@field ctx lathe.PromptContext? the same, for `tools.opts.system_prompt.prompt`

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
---@field input table? result of the cmd before
---@field pending any data not yet in stdout or stderr
---@field result table? what a cmd gave, with that data
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
