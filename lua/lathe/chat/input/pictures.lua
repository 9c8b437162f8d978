-- Pictures that a message brings along: read, checked, and as the library takes them.
local M = {}

-- What providers take at most.
local MAX_BYTES = 5 * 1024 * 1024

-- First bytes of the formats that models see.
local signs = {
  { "^\137PNG\r\n\26\n", "image/png" },
  { "^\255\216\255", "image/jpeg" },
  { "^GIF8[79]a", "image/gif" },
  { "^RIFF....WEBP", "image/webp" },
}

---@param bytes string
---@return string? mime
local function sniff(bytes)
  for _, sign in ipairs(signs) do
    if bytes:find(sign[1]) then
      return sign[2]
    end
  end
end

---@param path string
---@return string? bytes
---@return string? message
local function read(path)
  local file, message = io.open(vim.fs.normalize(path), "rb")
  if not file then
    return nil, message
  end
  local bytes = file:read(MAX_BYTES + 1)
  file:close()
  return bytes or "", nil
end

---Reads the pictures of a message.
---@param images (string|{ path: string?, data: string?, mime: string? })[] a path, or bytes
---@return { mime: string, data: string }[] pictures base64
---@return string[] problems one line for each that is left out
function M.read(images)
  local pictures, problems = {}, {}
  for i, image in ipairs(images) do
    local given = type(image) == "string" and { path = image } or type(image) == "table" and image or {}
    local name = given.path or ("image %d"):format(i)
    local bytes, message = given.data, nil
    if type(bytes) ~= "string" and type(given.path) == "string" then
      bytes, message = read(given.path)
    end
    local mime = bytes and (given.mime or sniff(bytes))
    if not bytes then
      problems[#problems + 1] = ("%s: %s"):format(name, message or "expected a path, or { data = bytes, mime = … }")
    elseif #bytes > MAX_BYTES then
      problems[#problems + 1] = ("%s: larger than 5 MB"):format(name)
    elseif type(mime) ~= "string" or not vim.startswith(mime, "image/") then
      problems[#problems + 1] = ("%s: no PNG, JPEG, GIF or WebP"):format(name)
    else
      pictures[#pictures + 1] = { mime = mime, data = vim.base64.encode(bytes) }
    end
  end
  return pictures, problems
end

return M
