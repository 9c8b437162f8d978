-- `setup` with servers written in Lua.
return function()
  require("mcphub").setup({
    port = 37373,
    config = vim.fn.expand("~/.config/mcphub/servers.json"),
    auto_approve = true,
    global_env = { "HOME", TOKEN = "secret" },
    log = { level = vim.log.levels.WARN },
    ui = { window = { width = 0.8 } },
    native_servers = {
      weather = {
        name = "weather",
        displayName = "Weather",
        capabilities = {
          tools = {
            {
              name = "get_weather",
              description = "Get the weather of a city",
              inputSchema = {
                type = "object",
                properties = { city = { type = "string", description = "The city" } },
                required = { "city" },
              },
              handler = function(req, res)
                local temperatures = { London = 15, Tokyo = 22 }
                local temperature = temperatures[req.params.city]
                if not temperature then
                  return res:error("Unknown city: " .. req.params.city)
                end
                return res:text(("%s: %d°C"):format(req.params.city, temperature)):send()
              end,
            },
          },
        },
      },
    },
    on_ready = function(hub)
      ready_hub = hub
    end,
    on_error = function(err)
      hub_error = err
    end,
  })
end
