"""Limits of the routes to OSMO's API that Envoy's own configuration in the chart has no values for.

The chart's list of HTTP filters is fixed: it has no filter for local rate limits, and its filter for global ones
needs a service whose Redis client takes no password (NVIDIA/OSMO deployments/charts/service,
_gateway-envoy-config.tpl, commit 0ee0da7). A route may give other code to a filter of the kind Lua (Envoy docs,
LuaPerRoute), which here takes the place of the chart's list of blocked addresses, the first filter. So what is refused
here costs no check of a token.

Each of Envoy's worker threads has a Lua environment of its own, and each route another one (Envoy docs, Lua filter), so
requests are counted by thread and route. A connection remains on one thread.
"""

from __future__ import annotations

from typing import Any

from physical_ai.settings.models.osmo_access import GatewayLimits

FIRST_FILTER = "block-spam-ips"
"""Name of the chart's first filter, which is of the kind Lua."""
LUA = "type.googleapis.com/envoy.extensions.filters.http.lua.v3.LuaPerRoute"
CALLERS = 10_000
"""Callers that a thread counts at a time. A full table begins anew, so that made-up tokens fill no memory."""

_CODE = """\
local per_minute, body_bytes, most_callers = {per_minute}, {body_bytes}, {callers}
local minute, requests, callers = 0, {{}}, 0

local function caller(request)
  local headers = request:headers()
  local bearer = string.match(headers:get("authorization") or "", "^Bearer (.+)$")
  local session = string.match(headers:get("cookie") or "", "_osmo_session[^=]*=([^;]+)")
  local login = headers:get("x-osmo-auth") or bearer or session
  if login ~= nil then
    return string.sub(login, -64)
  end
  -- Not the address of x-forwarded-for, which a caller can make up.
  return (string.gsub(request:streamInfo():downstreamDirectRemoteAddress(), ":%d+$", ""))
end

local function is_too_many(request)
  local now = math.floor(os.time() / 60)
  if now ~= minute or callers >= most_callers then
    minute, requests, callers = now, {{}}, 0
  end
  local key = caller(request)
  if requests[key] == nil then
    requests[key], callers = 0, callers + 1
  end
  requests[key] = requests[key] + 1
  return requests[key] > per_minute
end

function envoy_on_request(request)
  local length = request:headers():get("content-length")
  local method = request:headers():get(":method")
  if per_minute > 0 and is_too_many(request) then
    request:respond({{[":status"] = "429", ["retry-after"] = "60"}}, "More than " .. per_minute .. " requests a minute")
  elseif length == nil and (method == "POST" or method == "PUT" or method == "PATCH") then
    request:respond({{[":status"] = "411"}}, "Send the length of the body")
  elseif length ~= nil and (tonumber(length) or math.huge) > body_bytes then
    request:respond({{[":status"] = "413"}}, "The body is larger than " .. body_bytes .. " bytes")
  end
end
"""


def limits_code(limits: GatewayLimits) -> str:
    """The Lua code. A caller is a token or a session, by its last 64 characters, or without a login an address."""
    return _CODE.format(per_minute=limits.requests_per_minute, body_bytes=limits.body_mebibytes << 20, callers=CALLERS)


def limited(limits: GatewayLimits) -> dict[str, Any]:
    """`typed_per_filter_config` of a route with these limits."""
    return {FIRST_FILTER: {"@type": LUA, "source_code": {"inline_string": limits_code(limits)}}}
