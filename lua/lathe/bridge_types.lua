---@meta
-- Types for lua_ls: what crosses to the library and back. The tables of performers are made and read by field names, which
-- `src/bridge/shapes.rs` and `given.rs` know as well; a test compares both. Never loaded.
error("lathe.bridge_types is for the language server only")

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

---@class lathe.FileLock : userdata
---@field release fun(self: lathe.FileLock)

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
---@field keeps_arguments boolean? for a cmd that is run outside of Lua
---@field server string? the native server
---@field tool string? its name there
---@field routes boolean? its arguments name another tool, which is called instead
---@field by_provider boolean? the provider knows it: it is not described in the request

---What `require("lathe_core")` gives. Every function only queues: none calls back into Lua before it returns.
---@class lathe.Core
---@field version string
---@field interface string what it was built from, as `lathe.interface` says
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
---@field fail_request fun(o: { chat: integer, request: integer, message: string, names_provider: boolean? })
---@field set_auto fun(o: { chat: integer, auto: boolean })
---@field keep_approvals fun(o: { folder: string }) where those of projects are kept
---@field approvals fun(): table[] with a field `message` when some are missing
---@field approve fun(o: { chat: integer, tool: string, value: string? }) lets a tool, or one command, run in a chat
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
---@field lock_file fun(o: { path: string }): lathe.FileLock|string why there is none
---@field last_line fun(call: integer): string? what its command printed last
---@field finish_cmd fun(chat: integer, call: integer, cmd: integer, succeeded: boolean)
---@field add_output fun(chat: integer, call: integer, content: string)
---@field add_change fun(chat: integer, call: integer, o: lathe.Change) what its tool has done to a file
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

-- Performers ----------------------------------------------------------------------------------------------------------

---@alias lathe.Copying "own"|"first"|"shared"

---What was in the input.
---@class (exact) lathe.TakenInput
---@field text string what the model reads
---@field typed string? what the user typed, when the model reads more

---A message that joined the history.
---@class (exact) lathe.NewMessage
---@field role "system"|"user"|"llm"|"tool"
---@field content string
---@field visible boolean
---@field typed string? by the user, when the model reads more
---@field reasoning string? of the model
---@field call_id string? of a result
---@field is_error boolean? of a result

---A call of a saved chat.
---@class (exact) lathe.RestoredCall
---@field wire_id string
---@field name string
---@field arguments string JSON text
---@field is_error boolean
---@field state string empty: its looks are not known
---@field head string empty: its looks are not known
---@field fact string?
---@field files string[]? that hold the whole of what was cut
---@field body string?

---@class (exact) lathe.Usage tokens
---@field input integer
---@field output integer

---What the library must know of a call, or why it cannot run.
---@class (exact) lathe.Preparation
---@field message string? for the model: why it cannot run; the two fields behind it go with it, all others without
---@field on_exit boolean? there is an `on_exit` to run
---@field is_denied boolean? the user's own settings forbid it
---@field cmds lathe.CmdRunner[]?
---@field success boolean? which output functions there are
---@field error boolean?
---@field rejected boolean?
---@field cancelled boolean?
---@field approval "run"|"ask"|"function"|nil the tool's own setting
---@field protect boolean? auto mode asks
---@field by_command boolean? approvals are for one command each
---@field is_safe boolean? there is `gates.is_safe`
---@field judge boolean? the judge may be asked
---@field declares boolean? the definition says what a call wants
---@field timeout_ms integer?
---@field changes lathe.Change[]? what it would do to files

---Who runs an entry of `cmds`.
---@class (exact) lathe.CmdRunner
---@field runner "lua"|"command"|"built_in"|"remote"
---@field name string? of a built-in or a program

---What a call does to a file.
---@class (exact) lathe.Change
---@field path string
---@field before string? nil: it did not exist
---@field after string? nil: it is gone

---Why the user is asked, and what the answer can mean.
---@class (exact) lathe.AskedQuestion
---@field cause lathe.Cause
---@field rest integer how many calls *Cancel* would end besides this one
---@field remember lathe.Remember? what *Always accept* remembers; nil: it is not offered
---@field wants lathe.Want[]? what a rule asks about, of all that the call wants
---@field suggestion string? a pattern that may be remembered in place of the one value
---@field changes lathe.Change[]? what it would do to files

---@class (exact) lathe.Cause
---@field kind "no_rules"|"unknown"|"doom_loop"|"protected"|"auto_mode"|"rule"|"own_approval"|"own_approval_failed"
---@field by_rule lathe.RuleReason? of `rule`
---@field doubt "unproven"|"is_safe_failed"|"judge_context_failed"|"judged"|"judge_failed"|nil of `auto_mode`
---@field reason string? the judge's

---Why the permission rules ask.
---@class (exact) lathe.RuleReason
---@field rule lathe.RuleText? nil: what it would run cannot be told before it runs
---@field basis "match"|"may_match"|"word"|"unknown" what it rests on
---@field word string? of `word`: what stands in an argument; of `unknown`: what is not known
---@field about string? of `unknown`: what that is about

---@class (exact) lathe.RuleText
---@field key string
---@field pattern string
---@field source string where it stands

---A list of what is remembered.
---@class lathe.Remember
---@field scope "chat"|"project"
---@field [integer] lathe.Remembered

---@class (exact) lathe.Remembered
---@field tool string or key of a rule
---@field value string?

---@class (exact) lathe.Want
---@field key string
---@field value string

---@class lathe.OutputToRun
---@field kind "success"|"error"|"rejected"|"cancelled"
---@field cmd integer? from 1
---@field message string? of `error`: one of the engine's own
---@field reason string? of `rejected`

---What came of an output function that did not just run.
---@class (exact) lathe.OutputRun
---@field is_undefined boolean? the tool does not define it
---@field error string? it threw this

---What came of a call.
---@class (exact) lathe.Outcome
---@field status lathe.CallStatus
---@field duration_ms integer
---@field default_text string? what is said where the tool says nothing
---@field is_unexplained boolean a cmd failed, and nothing else is said of it
---@field message string? what went wrong: with the arguments, in a function of the tool, by the user's settings
---@field denial lathe.Denial? what the permission rules say
---@field report string? how its commands ended, where no output function has passed it on
---@field printed string? what a command had printed that was ended
---@field media_notes string? a line for each picture, sound and file
---@field files string[]? that hold the whole of what was cut
---@field changes lathe.Change[]? what it has done to files

---@class (exact) lathe.Denial
---@field key string
---@field value string
---@field rule lathe.RuleText?

---How a call looks that is over, to be saved.
---@class (exact) lathe.CallLook
---@field state string
---@field head string
---@field fact string?
---@field files string[]? that hold the whole of what was cut
---@field body string?

---Something the user should know.
---@class (exact) lathe.Notice
---@field kind string
---@field message string? of `request`, `retrying`, `content_filter`, `refused`, `ended_for`: the provider's words
---@field failure lathe.Failure? of `request_failed`
---@field attempt integer? of `retrying`
---@field of integer?
---@field wait_ms integer?
---@field interruption lathe.Interruption? of `restored`
---@field saving lathe.Saving? of `saving`
---@field tool string? of `repeated_call`

---@class (exact) lathe.Failure
---@field message string
---@field status integer? of the answer
---@field names_provider boolean? the message says by itself whose fault it is

---@class (exact) lathe.Interruption
---@field unknown string[] tools whose calls had started
---@field not_run string[] tools whose calls were not run
---@field incomplete boolean the last answer is incomplete
---@field skipped integer lines of the file that could not be read

---@class (exact) lathe.Saving
---@field kind "no_thread"|"failed"|"works"|"too_long"
---@field reason string?
---@field path string? of the chat; too_long: what holds the whole message, nil: nothing does
---@field remedy "make_room"|"make_writable"|"begin_new"|"look"|nil
---@field lost integer? entries
---@field bytes integer? of the message

---What the library calls, on the main loop: with the address of an effect, and a table where there is more to say.
---@class (exact) lathe.Performers
---@field take_input fun(chat: integer): lathe.TakenInput?
---@field hold_input fun(chat: integer, o: { waiting: boolean })
---@field start_turn fun(chat: integer)
---@field send_request fun(chat: integer, o: { request: integer })
---@field finish_request fun(chat: integer, o: { request: integer, failed: boolean, usage: lathe.Usage? })
---@field show_text fun(chat: integer, o: { text: string })
---@field show_reasoning fun(chat: integer, o: { text: string })
---@field show_provider_call fun(chat: integer, o: { name: string, label: string, output: string, is_error: boolean })
---@field add_message fun(chat: integer, o: lathe.NewMessage)
---@field take_back_message fun(chat: integer) the newest one
---@field truncate_history fun(chat: integer, o: { kept: integer }) the first message behind it goes back into the input
---@field restore_message fun(chat: integer, o: lathe.NewMessage)
---@field restore_call fun(chat: integer, o: lathe.RestoredCall)
---@field start_batch fun(chat: integer, o: { calls: integer })
---@field finish_batch fun(chat: integer, o: { failed: boolean })
---@field notify fun(chat: integer, o: lathe.Notice)
---@field finish_turn fun(chat: integer, o: { how: "done"|"stopped"|"cancelled"|"failed"|"held" })
---@field clear_chat fun(chat: integer)
---@field close_chat fun(chat: integer)
---@field add_call fun(chat: integer, call: integer, o: { wire_id: string, name: string, arguments: string, runs: string? })
---@field prepare_call fun(chat: integer, call: integer, o: { arguments: table, copying: lathe.Copying }): lathe.Preparation
---@field find_fact fun(chat: integer, call: integer, o: { fact: string }): boolean|string|nil
---@field load_permissions fun(chat: integer, call: integer)
---@field find_wants fun(chat: integer, call: integer): table?
---@field ask_judge fun(chat: integer, call: integer)
---@field end_judge fun(chat: integer, call: integer, o: { status: string, reason: string })
---@field ask_approval fun(chat: integer, call: integer, o: lathe.AskedQuestion): string? why it is rejected at once
---@field close_question fun(chat: integer, call: integer)
---@field begin_cmd fun(chat: integer, call: integer, o: { cmd: integer }) that is run outside of Lua; from 1
---@field run_cmd fun(chat: integer, call: integer, o: { cmd: integer }): boolean? succeeded; nil: it still runs
---@field store_text fun(chat: integer, call: integer, o: { cmd: integer, succeeded: boolean, text: string })
---@field kill_jobs fun(chat: integer, call: integer)
---@field run_output fun(chat: integer, call: integer, o: lathe.OutputToRun): lathe.OutputRun?
---@field run_exit fun(chat: integer, call: integer, o: { shared: boolean })
---@field finish_call fun(chat: integer, call: integer, o: lathe.Outcome): lathe.CallLook?
---@field reply fun(number: integer, value: any, message: string?) of a slow export
---@field tell fun(text: string)
---@field log fun(level: "debug"|"warn"|"error", text: string)
